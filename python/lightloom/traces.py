"""Flow traces: who sends how much to whom, and when.

A trace is a table with `src`, `dst` (hosts), `bytes`, `arrival_ps` and
optionally `group`; `flows.parquet` of a run is one too. Parquet is read here,
the text formats (CSV, htsim's `.cm`, `src dst bytes start_ns`) by the core.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lightloom import _core
from lightloom.errors import ConfigError, refusal

KEY = "workload.trace"
COLUMNS = {"src": "uint32", "dst": "uint32", "bytes": "uint64", "arrival_ps": "int64"}


SUFFIXES = {".csv": "csv", ".cm": "cm", ".ns": "ns", ".txt": "ns", ".flows": "ns"}


def read(path: str | Path, *, format: str | None = None) -> pa.Table:
    """Reads a trace. Its name tells the format, unless `format` does: "csv",
    "cm", "ns" or "parquet".

    Raises:
        ConfigError: naming the file and the place in it.

    >>> read("jobs.cm").num_rows  # doctest: +SKIP
    """
    if is_parquet(str(path), format):
        columns = columns_of_file(str(path))
    else:
        columns = _core.read_trace(str(path), format)
    groups = columns.get("groups", [""])
    codes = columns.get("group", np.zeros(len(columns["src"]), np.uint16))
    names = pa.DictionaryArray.from_arrays(pa.array(codes.astype(np.int32)), pa.array(groups))
    return pa.table({name: columns[name] for name in COLUMNS} | {"group": names})


def write(table: pa.Table, path: str | Path, *, format: str | None = None) -> Path:
    """Writes the flows of `table` (`Result.flows` or what `read` gives) as a trace.

    >>> write(result.flows, "jobs.cm")  # doctest: +SKIP
    """
    path = Path(path)
    if is_parquet(str(path), format):
        keep = [name for name in (*COLUMNS, "group") if name in table.column_names]
        data = pa.BufferOutputStream()
        pq.write_table(table.select(keep).replace_schema_metadata(), data)
        content = data.getvalue().to_pybytes()
    else:
        form = format or SUFFIXES.get(path.suffix.lower())
        if form is None:
            known = ", ".join([*SUFFIXES, ".parquet"])
            raise refusal("path", f'"{path}"', "its name does not tell the format", f"use {known}")
        content = _core.trace_text(columns_of(table, str(path)), form).encode()
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return path


def is_parquet(path: str, format: str | None = None) -> bool:
    """Whether a trace is in Parquet, by its format or else its name."""
    return format == "parquet" or (format is None and path.endswith(".parquet"))


def columns_of_file(path: str) -> dict[str, Any]:
    """The columns of a Parquet trace as the core takes them.

    Raises:
        ConfigError: naming the file, the column and the row.
    """
    try:
        names = [n for n in (*COLUMNS, "group") if n in pq.read_schema(path).names]
        return columns_of(pq.read_table(path, columns=names), path)
    except pa.ArrowInvalid as problem:
        raise _bad(path, f"is not a Parquet file ({problem})", "write it anew") from None
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise _bad(path, reason, "check the path") from None


def columns_of(table: pa.Table, path: str) -> dict[str, Any]:
    """The columns of a table as the core takes them."""
    for name in COLUMNS:
        if name not in table.column_names:
            raise _bad(path, f"has no column `{name}`", f"it needs {', '.join(COLUMNS)}")
    columns: dict[str, Any] = {
        name: _integers(path, name, table[name], kind) for name, kind in COLUMNS.items()
    }
    if "group" in table.column_names:
        columns["group"], columns["groups"] = _groups(path, table["group"])
    return columns


def _bad(path: str, limit: str, remedy: str) -> ConfigError:
    return refusal(KEY, f'"{path}"', limit, remedy)


def _integers(path: str, name: str, column: pa.ChunkedArray, kind: str) -> Any:
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
    """Codes and names; the unnamed group comes first."""
    try:
        text = pc.fill_null(column.cast(pa.string()), "")
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _bad(path, f"column `group` holds {column.type}", "write names") from None
    names = ["", *(n for n in pc.unique(text).to_pylist() if n)]
    if len(names) > GROUPS_MAX:
        limit = f"column `group` has {len(names)} names, more than {GROUPS_MAX}"
        raise _bad(path, limit, "merge groups")
    codes = pc.index_in(text, value_set=pa.array(names)).to_numpy()
    return codes.astype(np.uint16), names
