"""Recognises the format of a demand and selects its reader."""

from __future__ import annotations

from collections.abc import Mapping

from lightloom.control.demand.columns import Layout
from lightloom.control.demand.json_form import parse, read_json
from lightloom.control.demand.long_form import LONG
from lightloom.control.demand.long_or_matrix import names_records
from lightloom.control.demand.matrices import Matrix, read_matrix_csv, read_npy, read_parquet
from lightloom.control.demand.nfdump import NFDUMP
from lightloom.control.demand.pmacct import PMACCT
from lightloom.control.demand.prometheus import (
    check_success,
    is_prometheus,
    needs_unit,
    read_prometheus,
)
from lightloom.control.demand.records import Records
from lightloom.control.demand.sflowtool import KINDS, read_sflowtool
from lightloom.control.demand.source import Source
from lightloom.control.demand.tables import first_cells, first_rows, read_table
from lightloom.control.demand.units import unit_of
from lightloom.errors import refusal

FORMATS = (
    *("matrix", "long", "nfdump", "pmacct", "sflowtool"),
    *("json", "prometheus", "npy", "parquet"),
)
"""Values of `--format`."""
TEXT, JSON = (".csv", ".tsv", ".txt"), (".json", ".jsonl")
ENDINGS = (*TEXT, *JSON, ".npy", ".parquet")
"""Endings of files whose format is recognised."""
BLANK = b"\xef\xbb\xbf \t\r\n"
"""Bytes that may precede JSON: a byte order mark, and blanks."""
LAYOUTS = {"nfdump": NFDUMP, "pmacct": PMACCT, "long": LONG}
"""Tables whose first line names the columns."""


def recognise(source: Source, *, columns: bool = False) -> str:
    """Returns the format of a source, one of `FORMATS`: by the ending of its name; if that is
    ambiguous or missing, by its first bytes.

    Args:
        columns: whether the user names columns, which a matrix does not have.

    Raises:
        ConfigError: if the ending of `DEMAND` is unknown.
    """
    ending = source.ending
    if source.path is not None and ending not in ENDINGS:
        remedy = f"name a file that ends in {', '.join(ENDINGS)}, or give --format"
        raise refusal("DEMAND", source.path, "its extension names no known format", remedy)
    if ending in (".npy", ".parquet"):
        return ending[1:]
    if ending == "":
        for magic, name in ((b"\x93NUMPY", "npy"), (b"PAR1", "parquet")):
            if source.head.startswith(magic):
                return name
    if ending in JSON or (ending == "" and source.head.lstrip(BLANK)[:1] in (b"[", b"{")):
        return "prometheus" if is_prometheus(parse(source)) else "json"
    return _of_text(source, columns)


def _of_text(source: Source, columns: bool) -> str:
    """Recognises the format of lines of text by the first lines."""
    cells = first_cells(source)
    if cells and cells[0] in KINDS:
        return "sflowtool"
    for name in ("nfdump", "pmacct"):
        if _is_tools(LAYOUTS[name], cells):
            return name
    if columns or LONG.fits(cells) or names_records(*first_rows(source)):
        return "long"
    return "matrix"


def _is_tools(layout: Layout, cells: list[str]) -> bool:
    """Whether the column names are exactly those of a tool."""
    exact = {role: {*names} & {*cells} for role, names in layout.names.items()}
    return all(exact[role] for role in ("src", "dst", "bytes"))


def read(
    source: Source,
    asked: str | None,
    named: Mapping[str, str],
    unit: str | None,
    step_us: int | None = None,
) -> Matrix | Records:
    """Reads the content of a source.

    Args:
        asked: one of `FORMATS`; recognised by default.
        named: role → column, as the user names them.
        unit: the unit of the numbers; samples of Prometheus require one.
        step_us: the step of Prometheus samples whose times do not show it [µs].

    Raises:
        ConfigError: if the content is invalid; it names the position.
        OSError: if the source cannot be read.
    """
    if asked is not None and asked not in FORMATS:
        raise refusal("format", asked, "no such format", f"use {', '.join(FORMATS)}")
    found = asked or recognise(source, columns=bool(named))
    if named and found in ("matrix", "npy", "sflowtool"):
        told = ",".join(f"{role}={name}" for role, name in named.items())
        raise refusal("columns", told, f"{found} has no columns to name", "leave it out")
    if found in LAYOUTS:
        return read_table(source, LAYOUTS[found], named)
    if found == "prometheus":
        value = parse(source)
        if not is_prometheus(value):
            raise refusal(
                "format", found, f"{source.name} is not an answer of Prometheus", "use json"
            )
        check_success(source.name, value)
        if unit is None:
            raise needs_unit()
        return read_prometheus(source, value, named, unit_of(unit, rates=True), step_us)
    if found == "json":
        return read_json(source, parse(source), named)
    if found == "parquet":
        return read_parquet(source, named)
    if found == "sflowtool":
        return read_sflowtool(source)
    return (
        read_npy(source) if found == "npy" else read_matrix_csv(source, certain=asked is not None)
    )
