"""Matrices in CSV, NPY and Parquet files, which may also hold the long form."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from lightloom.control.arrays import LARGEST, Numbers, numbers
from lightloom.control.demand.amounts import UnreadableError, amount_from, sampled, shown
from lightloom.control.demand.columns import Columns, find
from lightloom.control.demand.csv_file import read_csv
from lightloom.control.demand.long_form import LONG
from lightloom.control.demand.long_or_matrix import check_matrix, names_records
from lightloom.control.demand.records import Record, Records
from lightloom.control.demand.source import Source
from lightloom.control.demand.times import Clock
from lightloom.control.names import agreed, only_count, printable
from lightloom.errors import ConfigError

Place = Callable[[int, int], str]


@dataclass
class Matrix:
    """A matrix as in its file."""

    title: str
    """The name of its format."""
    values: Numbers
    """The entries, in the unit of the file; row and column i are the same node."""
    names: list[str] = field(default_factory=list)
    """The names of the nodes; empty if the file has none."""
    place: Place | None = None
    """The position of an entry in the file."""


def read_matrix_csv(source: Source, *, certain: bool = False) -> Matrix:
    """Reads a matrix with a line for each source and optional names.

    Without names of rows, the table may also be records; this is an error unless `certain`.
    """
    found = read_csv(source, certain=certain)
    return Matrix("matrix in CSV", found.array(), found.names, found.place)


def read_npy(source: Source) -> Matrix:
    """Reads a matrix that `numpy.save` wrote."""
    if source.path is not None:
        source.path.open("rb").close()  # an unreadable file is another error
    try:
        file = io.BytesIO(source.content) if source.path is None else source.path
        array = np.load(file, mmap_mode=None if source.path is None else "r", allow_pickle=False)
    except Exception as problem:  # the reader checks little itself
        # NumPy treats any file that is not NPY as a pickle, and reports both with the same message.
        if source.head.startswith(b"\x93NUMPY") and "object" in str(problem).lower():
            limit = "an NPY file of Python objects, which is not read"
            remedy = "save numbers: numpy.save(path, matrix.astype(float))"
            raise ConfigError(f"{source.name}: {limit}; {remedy}") from None
        raise _not_a("NPY", source, problem, "write it with numpy.save") from None
    return Matrix("matrix in NPY", numbers("demand", array))


def read_parquet(source: Source, named: Mapping[str, str]) -> Matrix | Records:
    """Reads a matrix with a column for each destination, or the long form."""
    content = source.content
    try:
        data = pq.ParquetFile(pa.BufferReader(content))
        if not data.schema_arrow.names:  # Arrow creates the number of rows that the file states
            raise ValueError("no columns")
        table = data.read()
        table.validate(full=True)
        labels = _labels(table.schema)
    except Exception as problem:
        raise _not_a("Parquet", source, problem, "write it anew") from None
    if named or LONG.fits(table.column_names) or _names_records(table, labels):
        return _long(source, table, named)
    rows: list[str] = []
    if labels is not None:
        rows = [printable("" if name is None else str(name)) for name in table[labels].to_pylist()]
        table = table.remove_column(labels)
    names = [printable(name) for name in table.column_names]
    columns = [_column(source, name, table.column(at)) for at, name in enumerate(names)]
    values = numbers("demand", np.column_stack(columns) if columns else np.zeros((len(table), 0)))
    if labels is None:
        remedy = "also name the rows, in a first column of text"
        check_matrix(source.name, names, values, remedy)
    if not rows and only_count(names):
        return Matrix("matrix in Parquet", values)
    called, order = agreed(rows, names, lambda axis, at: f"{source.name}: {axis} {at}")
    if order is None:
        return Matrix("matrix in Parquet", values, called)
    place = lambda i, j: f", row {order[i]}, column `{names[j]}`"  # noqa: E731
    return Matrix("matrix in Parquet", values[order], called, place)


def _names_records(table: pa.Table, labels: int | None) -> bool:
    """Whether columns are those of records, by their names and by the first row."""
    if labels is None or not len(table):
        return names_records(table.column_names, [], labelled=labels is not None)
    first = str(table.column(labels)[0].as_py())
    return names_records(table.column_names, [first], labelled=True)


def _not_a(kind: str, source: Source, problem: Exception, remedy: str) -> ConfigError:
    """Returns the error for a file that its reader cannot read."""
    reason = re.split(r"[;:(\n]|\. ", str(problem))[0].strip().lower() or type(problem).__name__
    limit = f"not a readable {kind} file ({printable(reason)})"
    return ConfigError(f"{source.name}: {limit}; {remedy}")


def _labels(schema: pa.Schema) -> int | None:
    """The index of the column that names the rows: the index of pandas, or a first column of
    text."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    if len(index) == 1 and index[0] in schema.names:
        return int(schema.names.index(index[0]))
    return 0 if len(schema) > 1 and _is_text(schema.types[0]) else None


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _column(source: Source, name: str, column: pa.ChunkedArray) -> NDArray[Any]:
    kind = column.type
    if pa.types.is_decimal(kind):
        column, kind = _undecimal(column)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise ConfigError(f"{source.name}: column `{name}` holds {kind}; write numbers")
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy()))
        raise ConfigError(f"{source.name}: column `{name}` is null in row {row}; write 0")
    values: NDArray[Any] = column.to_numpy()
    return values


def _undecimal(column: pa.ChunkedArray) -> tuple[pa.ChunkedArray, pa.DataType]:
    """Converts decimals, with which databases and Spark write amounts, to integers if all are
    integers, so that none is rounded."""
    whole = all(value is None or value == int(value) for value in column.to_pylist())
    fits = whole and all(value is None or abs(value) <= LARGEST for value in column.to_pylist())
    kind = pa.int64() if fits else pa.float64()
    return column.cast(kind), kind


def _long(source: Source, table: pa.Table, named: Mapping[str, str]) -> Records:
    """Reads records from the columns of a table."""
    header = [printable(name) for name in table.column_names]
    columns = find(source.name, header, LONG, named)
    clock = Clock.of("" if columns.time is None else header[columns.time])
    records = _records(source, table, header, columns, clock)
    return Records(
        "long form in Parquet",
        source.name,
        records,
        timed=columns.time is not None,
        clock=clock,
        notes=columns.notes,
    )


def _records(
    source: Source, table: pa.Table, header: list[str], columns: Columns, clock: Clock
) -> Iterator[Record]:
    places = (columns.src, columns.dst, columns.bytes, columns.time, columns.sampling)
    lists = [None if at is None else _values(table.column(at)) for at in places]
    src, dst, amounts, times, rates = lists
    if src is None or dst is None or amounts is None:  # `find` has checked this
        return
    for row in range(len(table)):
        where, at = f"{source.name}: row {row}", columns.bytes
        try:
            amount = amount_from(amounts[row])
            if rates is not None and columns.sampling is not None:
                at = columns.sampling
                amount = sampled(amount, amount_from(rates[row]))
            at = columns.time if columns.time is not None else at
            when = None if times is None else clock.time_of(times[row])
        except UnreadableError as problem:
            value = table.column(at)[row].as_py()
            said = f"{header[at]} = {shown(str(value))}"
            raise ConfigError(f"{where}: {said}: {problem.limit}; {problem.remedy}") from None
        yield Record(where, _name(src[row]), _name(dst[row]), amount, when)


def _name(value: object) -> str:
    return "" if value is None else str(value).strip()


def _values(column: pa.ChunkedArray) -> list[Any]:
    """Converts a column to Python values; times are in microseconds."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    found: list[Any] = column.to_pylist()
    return found
