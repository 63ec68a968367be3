"""Reads plans from CSV and from printed tables, as directions of light by rack."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from pathlib import Path

from lightloom.control.lit.joined import Lit, port_of, wrong

Row = tuple[int, Mapping[str, str]]
"""The line number of a row, and its cells by the names of the columns."""
NEEDED = {"plane", "from", "to"}
SCHEDULE = "a schedule, which a switch follows as a whole"


def of_csv(path: Path, text: str) -> list[Lit]:
    """Reads a plan as CSV; for a change of plans, returns the lights after the change."""
    reader = csv.DictReader(io.StringIO(text))
    rows: list[Row] = [(reader.line_num, row) for row in reader]
    return _lights(path, rows, "a_port", "b_port")


def is_csv(lines: list[tuple[int, str]]) -> bool:
    """Whether a first line has the columns of a plan as CSV."""
    return bool(lines) and {*lines[0][1].strip().split(",")} >= NEEDED


def of_table(path: Path, lines: list[tuple[int, str]]) -> list[Lit]:
    """Reads a plan from a table with aligned columns."""
    header = lines[0][1]
    to = header.rindex("to")
    source = header.rindex("from", 0, to)
    known = header[:source].replace("A port", "a_port").replace("B port", "b_port").split()
    rows: list[Row] = []
    for number, line in lines[1:]:
        cells = line[:source].split()
        if len(cells) != len(known):
            raise wrong(path, f":{number}", "no row of the table", "write it anew with -o")
        ends = {"from": line[source:to].strip(), "to": line[to:].strip()}
        rows.append((number, dict(zip(known, cells, strict=True)) | ends))
    return _lights(path, rows, "a_port", "b_port")


def is_table(lines: list[tuple[int, str]]) -> bool:
    """Whether a first line has the columns of a plan as a table."""
    words = lines[0][1].split() if lines else []
    return {*words} >= NEEDED and words[-2:] == ["from", "to"]


def _lights(path: Path, rows: list[Row], a: str, b: str) -> list[Lit]:
    return [*_each(path, rows, a, b)]


def _each(path: Path, rows: list[Row], a: str, b: str) -> Iterator[Lit]:
    for number, row in rows:
        where = f":{number}"
        if row.get("slot"):
            raise wrong(path, where, SCHEDULE, "compare plans of permanent circuits")
        if row.get("action") == "break":
            continue
        plane = row.get("plane") or ""
        if not plane.isdigit() or not row.get("from") or not row.get("to"):
            raise wrong(path, where, "no plane, or no rack", "write it anew with -o")
        ports = None
        if row.get(a) and row.get(b):
            ports = port_of(path, where, row[a], "A"), port_of(path, where, row[b], "B")
        yield Lit(int(plane), row["from"], row["to"], ports)
