"""Demand matrices in files: CSV, NPY and Parquet.

What is wrong with a matrix is said with its place: file, line and column of a
CSV file, the entry of a binary one. Rows that have names are brought into the
order of the columns of these names.
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
from lightloom.control.names import agreed, only_count, printable
from lightloom.errors import ConfigError, refusal

Place = Callable[[int, int], str]


@dataclass(frozen=True, eq=False)
class Demand:
    """How many bytes each node has for each other."""

    matrix: Integers
    """N × N: row = source, column = destination [bytes]. Row i and column i are the
    same node."""
    names: list[str] = field(default_factory=list)
    """What node i is called, each once; empty if the file does not say."""
    place: Place | None = None
    """Where an entry stands in its file, as `:line:column`, or by its row and column;
    None if its file has it in the same place."""

    def __post_init__(self) -> None:
        nodes, limit = len(self.matrix), ""
        if len(self.names) not in (0, nodes):
            limit = f"there are {nodes} nodes"
        elif len({*self.names} - {""}) != len(self.names):
            limit = "a name is empty or comes twice"
        if limit:
            raise refusal("names", f"{len(self.names)} names", limit, "name every node once")


def read_demand(path: str | Path, *, unit: str = "1 B") -> Demand:
    """Reads a demand matrix from a CSV, NPY or Parquet file, told by its name.

    CSV has a line per source, its numbers separated by commas (or semicolons, or
    tabs); lines that begin with `#` are comments. A first line and a first
    column of names are allowed. Parquet has a column per destination, named
    after its node; a column of text, the names of rows, may come first.

    Nodes have the order of the columns: where rows have names, too, each goes to
    the place of the column of the same name. Names on one side are those of the
    other, in the same order.

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
        return Demand(_core.control_demand(_times(values, size)), names, place)
    except ConfigError as problem:
        if problem.key is None:
            raise
        raise placed(path, problem, place) from None


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
    return ConfigError(f"{path}: not a readable {kind} file ({printable(reason)}); {remedy}")


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
        table = pq.ParquetFile(pa.BufferReader(content)).read()
        table.validate(full=True)
        labels = _labels(table.schema)
    except Exception as problem:
        raise _not_a("Parquet", path, problem, "write it anew") from None
    rows: list[str] = []
    if labels is not None:
        rows = [printable("" if name is None else str(name)) for name in table[labels].to_pylist()]
        table = table.remove_column(labels)
    names = [printable(name) for name in table.column_names]
    columns = [_column(path, name, table.column(at)) for at, name in enumerate(names)]
    values = numbers("demand", np.column_stack(columns) if columns else np.zeros((len(table), 0)))
    if not rows and only_count(names):
        return values, [], None
    called, order = agreed(rows, names, lambda axis, at: f"{path}: {axis} {at}")
    if order is None:
        return values, called, None
    return values[order], called, lambda i, j: f", row {order[i]}, column `{names[j]}`"


def _labels(schema: pa.Schema) -> int | None:
    """Which column names the rows: pandas' index, or a first one of text."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    if len(index) == 1 and index[0] in schema.names:
        return int(schema.names.index(index[0]))
    return 0 if len(schema) > 1 and _is_text(schema.types[0]) else None


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


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
