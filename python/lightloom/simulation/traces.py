"""Flow traces: sender, receiver, bytes and time of each flow.

A trace is a table with `src`, `dst` (hosts), `bytes`, `arrival_ps` and
optionally `group`; `flows.parquet` of a run is one too. Parquet is read here,
the text formats (CSV, htsim's `.cm`, `src dst bytes start_ns`) by the core,
which checks the rows of both.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lightloom import _core
from lightloom.config.trace_hints import KEY, hinted
from lightloom.errors import ConfigError, refusal
from lightloom.simulation.trace_formats import PLACES, Hosts, is_parquet
from lightloom.storage.staging import write_files

NO_NAMES: Mapping[str, str] = {}
COLUMNS = {"src": "uint32", "dst": "uint32", "bytes": "uint64", "arrival_ps": "int64"}


SUFFIXES = {".csv": "csv", ".cm": "cm", ".ns": "ns", ".txt": "ns", ".flows": "ns"}


def read(path: str | Path, *, format: str | None = None) -> pa.Table:
    """Reads a trace: its flows by arrival, with `src`, `dst`, `bytes`, `arrival_ps`
    and `group`.

    Args:
        path: the file.
        format: "csv", "cm", "ns" or "parquet"; by default from the ending of the name.

    Raises:
        ConfigError: if it cannot be read; it names the file and the position.

    >>> read("jobs.cm").num_rows  # doctest: +SKIP
    """
    name = str(path)
    if is_parquet(name, format):
        columns = columns_of_file(name)
        _text(columns, name, "ns")  # only to check the rows as a run does
    else:
        try:
            columns = _core.read_trace(name, format)
        except ConfigError as problem:
            raise hinted(problem) from None
    return _table(columns)


def write(table: pa.Table, path: str | Path, *, format: str | None = None) -> Path:
    """Writes the flows of `table` (`Result.flows` or what `read` gives) as a trace,
    by arrival. Only CSV and Parquet keep groups.

    Args:
        table: the flows; columns that a trace does not have are ignored.
        path: the file; an existing file is replaced.
        format: "csv", "cm", "ns" or "parquet"; by default from the ending of the name.

    Raises:
        ConfigError: if a row is not a flow (then no file is changed), or the file cannot be
            written.

    >>> write(result.flows, "jobs.cm")  # doctest: +SKIP
    """
    path = Path(path)
    content = _content(table, str(path), format)
    try:
        write_files({path: content})
    except OSError as problem:
        raise refusal("path", f'"{path}"', *_denied(problem)) from None
    return path


def _content(table: pa.Table, path: str, format: str | None) -> bytes:
    if is_parquet(path, format):
        columns = columns_of(table, path)
        _text(columns, path, "ns")  # only to check the rows
        data = pa.BufferOutputStream()
        pq.write_table(_table(columns), data)
        return bytes(data.getvalue().to_pybytes())
    form = format or SUFFIXES.get(Path(path).suffix.lower())
    if form is None:
        known = ", ".join([*SUFFIXES, ".parquet"])
        raise refusal("path", f'"{path}"', "its extension names no known format", f"use {known}")
    return _text(columns_of(table, path), path, form).encode()


def _text(columns: dict[str, Any], path: str, format: str) -> str:
    """Returns the columns as a text trace. Errors of the core name the row; this adds the file."""
    try:
        return _core.trace_text(columns, format)
    except ConfigError as problem:
        if problem.key != KEY:
            raise
        raise _bad(path, f"{problem.value}: {problem.limit}", str(problem.remedy)) from None


def _table(columns: dict[str, Any]) -> pa.Table:
    """Returns the core's columns as a table, sorted by arrival; the sort is stable."""
    import pyarrow.compute as pc

    order = np.argsort(columns["arrival_ps"], kind="stable")
    codes = pa.array(columns.get("group", np.zeros(len(order), np.uint16))[order])
    used = pc.unique(codes)
    names = pa.array(columns.get("groups", [""]), pa.string()).take(used)
    group = pa.DictionaryArray.from_arrays(pc.index_in(codes, value_set=used), names)
    return pa.table({name: columns[name][order] for name in COLUMNS} | {"group": group})


def columns_of_file(
    path: str,
    names: Mapping[str, str] = NO_NAMES,
    unit: str | None = None,
    hosts: Hosts | None = None,
) -> dict[str, Any]:
    """Returns the columns of a Parquet trace in the form that the core expects.

    Args:
        path: the file.
        names: the names of its columns, by "src", "dst", "bytes", "arrival", "group".
        unit: the unit of arrivals, if the name of their column does not end in one.
        hosts: the function from names to servers, if sources and destinations are names.

    Raises:
        ConfigError: if a value is invalid; it names the file, the column and the row.
    """
    try:
        with Path(path).open("rb") as file:
            table, called = _parquet(path, file, names, unit)
    except OSError as problem:
        raise _bad(path, *_denied(problem)) from None
    if hosts is not None:
        for at, name in enumerate(table.column_names):
            if name in ("src", "dst"):
                table = table.set_column(at, name, _numbered(path, name, table[name], hosts))
    return columns_of(table, path, called)


def _numbered(path: str, name: str, column: pa.ChunkedArray, hosts: Hosts) -> pa.ChunkedArray:
    """Converts a column of names to servers."""
    import pyarrow.compute as pc

    try:
        texts = column.cast(pa.string())
    except pa.ArrowException:
        raise _bad(path, f"column `{name}` holds {column.type}", "write names") from None
    if texts.null_count:
        return column  # refused later, like a missing number
    different = pc.unique(texts)
    numbers = hosts(different.to_pylist())
    if None in numbers:
        unknown = different[numbers.index(None)]
        row = pc.index(texts, unknown).as_py()
        limit = f"column `{name}` is `{unknown}` in row {row}, which trace_hosts does not name"
        raise _bad(path, limit, "add a line for it there, or correct it")
    places = pc.index_in(texts, value_set=different)
    return pa.chunked_array([pa.array(numbers, pa.uint32()).take(places.combine_chunks())])


def _parquet(
    path: str, file: BinaryIO, names: Mapping[str, str], unit: str | None
) -> tuple[pa.Table, dict[str, str]]:
    """Returns the columns of a trace in an open file, complete and checked, under their standard
    names, and the names that the file has for them."""
    try:
        data = pq.ParquetFile(file)
        # Before the columns are read: for an empty selection Arrow makes as many rows as the file
        # claims.
        there = data.schema_arrow.names
        _check_given(path, there, names)
        found = _named(there, names)
        for name in found.values():
            if there.count(name) > 1:
                raise _bad(path, f"has more than one column `{name}`", "keep one")
        _check_names([*found], path)
        table = data.read([*found.values()])
        table.validate(full=True)
    # For damaged files Arrow raises any of its exceptions, and some of Python's.
    except (pa.ArrowException, OSError, UnicodeError) as problem:
        reason = " ".join(str(problem).split())
        raise _bad(path, f"is not a Parquet file, or damaged ({reason})", "write it anew") from None
    table = table.select([*found.values()]).rename_columns([*found])
    column = found["arrival_ps"]
    arrivals = _in_ps(path, column, table["arrival_ps"], unit)
    at = table.column_names.index("arrival_ps")
    return table.set_column(at, "arrival_ps", arrivals), found


def _check_given(path: str, there: list[str], names: Mapping[str, str]) -> None:
    """Raises one error that lists all given names of columns that the file does not have."""
    missing = [name for name in names.values() if name not in there]
    if missing:
        limit = ", ".join(f"has no column `{name}`" for name in missing)
        remedy = f"in workload.trace_columns name some of {', '.join(there)}"
        raise _bad(path, limit, remedy)


def _named(there: list[str], names: Mapping[str, str]) -> dict[str, str]:
    """The file's column for each column of a trace, if it has one."""
    found = {}
    for key in (*COLUMNS, "group"):
        role = "arrival" if key == "arrival_ps" else key
        own = [f"arrival_{unit}" for unit in PLACES] if role == "arrival" else [key]
        wanted = [names[role]] if role in names else own
        for name in wanted:
            if name in there:
                found[key] = name
                break
    return found


def _in_ps(path: str, name: str, column: pa.ChunkedArray, unit: str | None) -> pa.ChunkedArray:
    """Converts arrivals to picoseconds, by the unit at the end of their column's name."""
    ending = name.rpartition("_")[2] if "_" in name else ""
    own = ending if ending in PLACES else unit
    if own is None:
        remedy = 'set workload.trace_unit to "ps", "ns", "us", "ms" or "s"'
        raise _bad(path, f"column `{name}` does not say its unit", remedy)
    if unit is not None and own != unit:
        limit = f"column `{name}` has another unit in its name than trace_unit"
        raise _bad(path, limit, "remove workload.trace_unit")
    size = 10 ** PLACES[own]
    if size == 1 or column.null_count:
        return column
    if pa.types.is_integer(column.type):
        values = [value * size for value in column.to_pylist()]
    elif pa.types.is_floating(column.type) or pa.types.is_decimal(column.type):
        values = [_exact(path, name, value, size) for value in column.to_pylist()]
    else:
        return column
    least, most = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    row = next((row for row, value in enumerate(values) if not least <= value <= most), None)
    if row is not None:
        limit = f"column `{name}` is beyond the clock in row {row}"
        raise _bad(path, limit, "correct it, or its unit")
    return pa.chunked_array([pa.array(values, pa.int64())])


def _exact(path: str, name: str, value: float, size: int) -> int:
    """Converts a time with decimals, as written, exactly to picoseconds."""
    if not math.isfinite(value):
        raise _bad(path, f"column `{name}` has {value}", "write numbers")
    return round(Fraction(str(value)) * size)


def columns_of(table: pa.Table, path: str, called: Mapping[str, str] = NO_NAMES) -> dict[str, Any]:
    """Returns the columns of a table for the core; `called` are their names in error messages."""
    _check_names(table.column_names, path)
    columns: dict[str, Any] = {
        name: _integers(path, called.get(name, name), table[name], kind)
        for name, kind in COLUMNS.items()
    }
    if "group" in table.column_names:
        columns["group"], columns["groups"] = _groups(path, table["group"])
    return columns


def _check_names(names: list[str], path: str) -> None:
    for name in (*COLUMNS, "group"):
        if names.count(name) > 1:
            raise _bad(path, f"has more than one column `{name}`", "keep one")
        if name in COLUMNS and name not in names:
            raise _bad(path, f"has no column `{name}`", f"it needs {', '.join(COLUMNS)}")


def _bad(path: str, limit: str, remedy: str) -> ConfigError:
    return refusal(KEY, f'"{path}"', limit, remedy)


def _denied(problem: OSError) -> tuple[str, str]:
    return (problem.strerror or str(problem)).lower(), "check the path"


def _integers(path: str, name: str, column: pa.ChunkedArray, kind: str) -> Any:
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type):
        raise _bad(path, f"column `{name}` holds {column.type}", "write integers")
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise _bad(path, f"column `{name}` is null in row {row}", "fill it or remove the row")
    try:
        return column.cast(kind).to_numpy()
    except pa.ArrowInvalid:
        limits = np.iinfo(np.dtype(kind))
        values = column.to_pylist()
        row = next(i for i, v in enumerate(values) if not limits.min <= v <= limits.max)
        raise _bad(
            path,
            f"column `{name}` is {values[row]} in row {row}",
            f"values are {limits.min} to {limits.max}",
        ) from None


GROUPS_MAX = 1 << 16


def _groups(path: str, column: pa.ChunkedArray) -> tuple[Any, list[str]]:
    """Returns the codes and the names of groups; the unnamed group is first."""
    import pyarrow.compute as pc

    try:
        text = pc.fill_null(column.cast(pa.string()), "")
    except pa.ArrowException:
        raise _bad(path, f"column `group` holds {column.type}", "write names") from None
    names = ["", *(n for n in pc.unique(text).to_pylist() if n)]
    if len(names) > GROUPS_MAX:
        limit = f"column `group` has {len(names)} names, more than {GROUPS_MAX}"
        raise _bad(path, limit, "merge groups")
    codes = pc.index_in(text, value_set=pa.array(names)).to_numpy()
    return codes.astype(np.uint16), names
