"""A plan as CSV: one line for each direction of light; names are quoted if necessary."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from lightloom.control.ports.lights import Row
from lightloom.control.wiring.sheet import Sheet


def text(sheet: Sheet) -> str:
    """Columns: `action` in changes; `slot`, `start_ps`, `day_ps` in schedules; `plane`, `from`,
    `to`, `demand_bytes`; and, if ports are known, `a_port`, `b_port`, `from_transceiver`,
    `to_transceiver`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_names(sheet))
    for row in sheet.rows:
        writer.writerow(_cells(sheet, row))
    return out.getvalue()


def _names(sheet: Sheet) -> list[str]:
    return [
        *(["action"] if sheet.changes else []),
        *(["slot", "start_ps", "day_ps"] if sheet.times else []),
        *("plane", "from", "to", "demand_bytes"),
        *(["a_port", "b_port", "from_transceiver", "to_transceiver"] if sheet.wired else []),
    ]


def _cells(sheet: Sheet, row: Row) -> Iterator[object]:
    light = row.light
    if sheet.changes:
        yield row.action
    if sheet.times and light.slot is not None:
        yield from (light.slot, *sheet.times[light.slot])
    yield from (light.plane, light.source, light.destination, light.bytes)
    if light.a is not None and light.b is not None:
        yield from (sheet.a_name(light.a.a), sheet.b_name(light.b.b))
        yield from (light.a.transceiver, light.b.transceiver)
