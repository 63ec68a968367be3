"""Demand matrices in files: CSV, NPY and Parquet.

What is wrong with a matrix is said with its place: file, line and column of a
CSV file, the entry of a binary one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lightloom import _core
from lightloom.control.arrays import LARGEST, Integers, Numbers, numbers
from lightloom.control.csv_file import read_csv
from lightloom.errors import ConfigError, refusal

Place = Callable[[int, int], str]


@dataclass(frozen=True, eq=False)
class Demand:
    """How many bytes each node has for each other."""

    matrix: Integers
    """N × N: row = source, column = destination [bytes]."""
    names: list[str] = field(default_factory=list)
    """What the nodes are called; empty if the file does not say."""
    place: Place | None = None
    """Where an entry stands in its file, as `:line:column`; None if it has no lines."""


def read_demand(path: str | Path, *, unit: str = "1 B") -> Demand:
    """Reads a demand matrix from a CSV, NPY or Parquet file, told by its name.

    CSV has a line per source, its numbers separated by commas (or semicolons, or
    tabs); lines that begin with `#` are comments. A first line and a first
    column of names are allowed. Parquet has a column per destination, named
    after its node; a column of text may come first.

    Args:
        path: ends in .csv, .npy or .parquet.
        unit: what one of its numbers stands for. Fractions of a byte are
            rounded; where that would distort demand it is refused.

    Raises:
        ConfigError: naming file, line and column, or file and entry.
        OSError: if the file cannot be opened.

    >>> demand = read_demand("examples/demand-8.csv")
    >>> demand.matrix.shape, demand.names[:2]
    ((8, 8), ['gpu-0', 'gpu-1'])
    """
    path = Path(path)
    if path.suffix.lower() not in READERS:
        remedy = f"name a file that ends in {', '.join(READERS)}"
        raise refusal("DEMAND", path, "its name does not tell the format", remedy)
    size = _core.control_bytes("unit", unit)
    if size == 0:
        raise refusal("unit", unit, "less than a byte", 'say what a number stands for, like "1 MB"')
    place: Place | None = None
    try:
        values, names, place = READERS[path.suffix.lower()](path)
        shown = [_printable(name) for name in names]
        return Demand(_core.control_demand(_times(values, size)), shown, place)
    except ConfigError as problem:
        if problem.key is None:
            raise
        raise placed(path, problem, place) from None


def _printable(name: str) -> str:
    """A name that neither a terminal nor an SVG can misunderstand."""
    return "".join(character if character.isprintable() else "�" for character in name)


def _times(values: Numbers, size: int) -> Numbers:
    """The numbers in bytes."""
    if size == 1 or not values.size or values.min() < 0:
        return values  # what is negative will be refused, as it is written
    most = np.unravel_index(values.argmax(), values.shape)
    if np.isfinite(values[most]) and int(values[most]) > LARGEST // size:
        limit = f"does not fit 63 bits when multiplied by the unit, {size} B"
        key = f"demand[{most[0]}][{most[1]}]"
        raise refusal(key, values[most], limit, "choose a smaller unit")
    return values * size


def placed(path: Path, problem: ConfigError, place: Place | None) -> ConfigError:
    """The refusal of an entry with its place in the file."""
    entry = re.fullmatch(r"demand\[(\d+)\]\[(\d+)\]( \+ .*)?", problem.key or "")
    where = place(int(entry[1]), int(entry[2])) if entry and place else ""
    error = ConfigError(f"{path}{where}: {problem}")
    error.key, error.value = problem.key, problem.value
    error.limit, error.remedy = problem.limit, problem.remedy
    return error


Read = tuple[Numbers, list[str], Place | None]


def _csv(path: Path) -> Read:
    found = read_csv(path)
    return found.array(), found.names, found.place


def _not_a(kind: str, path: Path, problem: Exception, remedy: str) -> ConfigError:
    """The refusal of a file that its reader cannot read."""
    reason = re.split(r"[;:(\n]|\. ", str(problem))[0].strip().lower() or type(problem).__name__
    return ConfigError(f"{path}: not a readable {kind} file ({_printable(reason)}); {remedy}")


def _npy(path: Path) -> Read:
    path.open("rb").close()  # what cannot be opened is another matter
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as problem:  # the reader's own checks are few
        raise _not_a("NPY", path, problem, "write it with numpy.save") from None
    return numbers("demand", array), [], None


def _parquet(path: Path) -> Read:
    content = path.read_bytes()
    try:
        table = pq.read_table(pa.BufferReader(content))
        table.validate(full=True)
        names = table.column_names
    except Exception as problem:
        raise _not_a("Parquet", path, problem, "write it anew") from None
    if table.num_columns and _is_text(table.schema.types[0]):
        table, names = table.remove_column(0), names[1:]
    columns = [_column(path, name, table.column(at)) for at, name in enumerate(names)]
    values = np.column_stack(columns) if columns else np.zeros((table.num_rows, 0))
    anonymous = all(re.fullmatch(r"(column[_ ]?|[cf])?\d+", name) for name in names)
    return numbers("demand", values), [] if anonymous else names, None


def _is_text(kind: pa.DataType) -> bool:
    return any(
        test(kind)
        for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
    )


def _column(path: Path, name: str, column: pa.ChunkedArray) -> NDArray[Any]:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise ConfigError(f"{path}: column `{name}` holds {kind}; write numbers")
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise ConfigError(f"{path}: column `{name}` is null in row {row}; write 0")
    values: NDArray[Any] = column.to_numpy()
    return values


READERS: dict[str, Callable[[Path], Read]] = {".csv": _csv, ".npy": _npy, ".parquet": _parquet}
