"""The table of `compare` where no window is measured: goodput, completion times
and what goes by circuit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from lightloom import console
from lightloom.console import Summary, micros, number, pick, size

Column = tuple[str, str, Callable[[Any], str]]
#: Heading, where the figure is in a summary, how it is shown.
COLUMNS: Sequence[Column] = (
    ("goodput\nof R", "goodput_normalized", number),
    ("FCT short\np50", "fct.short.p50_us", micros),
    ("FCT short\np99", "fct.short.p99_us", micros),
    ("FCT long\np99", "fct.long.p99_us", micros),
)
PEAKS: Sequence[Column] = (
    ("queue\npeak", "queue_peak_bytes", size),
    ("reorder\npeak", "reorder_peak_bytes", size),
)
HOPS: Column = ("hops\nmean", "hops_mean", lambda v: number(v, 2))
CIRCUITS: Column = ("by\ncircuit", "circuit_share", console.percent)

LEGEND = "R: what all servers can send. FCT: flow completion time; short: under 100 KB."
LEGEND_CIRCUITS = "By circuit: of the bytes delivered, those that crossed a circuit."


def table(summaries: Mapping[str, Summary]) -> Table:
    """One row per fabric, at most 80 columns wide for usual labels."""
    lit = _has(summaries, CIRCUITS)
    # Hybrid fabrics have no queues to show, so their column usually has room.
    peaks = [c for c in PEAKS if not lit or _has(summaries, c)]
    columns = [*COLUMNS, *peaks, HOPS, *([CIRCUITS] if lit else [])]
    made = console.plain_table(gap=1 if lit and peaks else 2)
    made.add_column("fabric", overflow="fold", max_width=16)
    for heading, _, _ in columns:
        made.add_column(heading, justify="right", no_wrap=True)
    for label, summary in summaries.items():
        made.add_row(escape(label), *(show(pick(summary, path)) for _, path, show in columns))
    return made


def legend(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """What the headings mean, a line each."""
    yield LEGEND
    if _has(summaries, CIRCUITS):
        yield LEGEND_CIRCUITS


def _has(summaries: Mapping[str, Summary], column: Column) -> bool:
    """Whether any fabric has this figure."""
    return any(pick(summary, column[1]) is not None for summary in summaries.values())
