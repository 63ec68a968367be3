"""The output of `compare` about scheduled circuits: how long they are lit, the utilisation of
links, and losses in dark circuits.

It also shows cells and packets that other fabrics lost; fabrics without losses are omitted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from lightloom.cli import console
from lightloom.units import formats

if TYPE_CHECKING:
    from lightloom.results.result import Result

DUTY = "duty\ncycle"
BUSY = "links\nbusy"
LOST = "cells or\npackets lost"
LEGEND = "Duty cycle: share of the time with light. Busy: share of the links' capacity."


def table(results: Mapping[str, Result]) -> Table | None:
    """A row for each fabric; None if no circuits are scheduled and nothing was lost."""
    turns, loses = takes_turns(results), any(r.summary["drops"] for r in results.values())
    if not (turns or loses):
        return None
    made = console.plain_table()
    made.add_column("fabric", overflow="fold", max_width=16)
    headings = [*([DUTY] if turns else []), BUSY, *([LOST] if loses else [])]
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    for label, result in results.items():
        cells = {
            DUTY: formats.percent(result.summary.get("duty_cycle")),
            BUSY: formats.percent(result.utilisation),
            LOST: f"{result.summary['drops']:,}",
        }
        made.add_row(escape(label), *(cells[heading] for heading in headings))
    return made


def legend(results: Mapping[str, Result]) -> Iterator[str]:
    """Explains the headings."""
    if takes_turns(results):
        yield LEGEND


def takes_turns(results: Mapping[str, Result]) -> bool:
    """Whether any fabric has scheduled circuits."""
    return any(r.summary.get("duty_cycle") is not None for r in results.values())
