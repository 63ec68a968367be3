"""A plan as a table for people, with aligned columns."""

from __future__ import annotations

from collections.abc import Iterator

from lightloom.control.ports.lights import Row
from lightloom.control.wiring.sheet import Sheet

GAP = "  "
NUMBERS = ("slot", "plane", "bytes")
"""Columns that are right-aligned."""


def text(sheet: Sheet) -> str:
    """Formats a header line, then a line for each direction of light."""
    names = list(_names(sheet))
    rows = [list(_cells(sheet, row)) for row in sheet.rows]
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = []
    for row in (names, *rows):
        cells = zip(names, row, widths, strict=True)
        set_ = (c.rjust(w) if name in NUMBERS else c.ljust(w) for name, c, w in cells)
        lines.append(GAP.join(set_).rstrip() + "\n")
    return "".join(lines)


def _names(sheet: Sheet) -> Iterator[str]:
    if sheet.changes:
        yield "action"
    if sheet.times:
        yield "slot"
    yield "plane"
    if sheet.wired:
        yield from ("A port", "B port")
    yield from ("bytes", "from", "to")


def _cells(sheet: Sheet, row: Row) -> Iterator[str]:
    light = row.light
    if sheet.changes:
        yield row.action or ""
    if sheet.times:
        yield str(light.slot)
    yield str(light.plane)
    if light.ports is not None:
        yield from (sheet.a_name(light.ports[0]), sheet.b_name(light.ports[1]))
    yield from (str(light.bytes), light.source, light.destination)
