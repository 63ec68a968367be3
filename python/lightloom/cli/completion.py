"""The table of `compare` if no window is measured: load delivered, completion times, traffic over
circuits, and fabrics that left flows unfinished which others finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from lightloom.analysis.doubts import LEGEND_BOUNDS, finished, unranked
from lightloom.cli import console
from lightloom.config import fabrics, loads
from lightloom.results import repeats
from lightloom.results.summaries import Summary, pick
from lightloom.units import bounds, formats
from lightloom.units.formats import number, size

ROOM = 14
"""Width [columns] of a label with which two-line headings fit into 80 columns."""
Show = Callable[[Sequence[Summary], str], str]
Column = tuple[str, str, Show]


def plainly(show: Callable[[Any], str]) -> Show:
    """Returns a function that formats the value at a path of summaries; of several, the mean."""

    def shown(summaries: Sequence[Summary], path: str) -> str:
        values = [v for v in (pick(s, path) for s in summaries) if v is not None]
        return show(sum(values) / len(values) if len(values) > 1 else next(iter(values), None))

    return shown


def least(summaries: Sequence[Summary], path: str) -> str:
    """Formats a time of flows at a path of summaries, or its bound."""
    return formats.time_bound(bounds.mean([bounds.bound(s, path) for s in summaries]))


#: Heading, path of the figure in a summary, and its format.
LOAD: Column = ("load\ndelivered", "load_delivered", plainly(number))
GOODPUT: Column = ("goodput\nof R", "goodput_normalized", plainly(number))
TIMES: Sequence[Column] = (
    ("FCT short\np50", "fct.short.p50_us", least),
    ("FCT short\np99", "fct.short.p99_us", least),
    ("FCT long\np99", "fct.long.p99_us", least),
)
PEAKS: Sequence[Column] = (
    ("queue\npeak", "queue_peak_bytes", plainly(size)),
    ("reorder\npeak", "reorder_peak_bytes", plainly(size)),
)
HOPS: Column = ("hops\nmean", "hops_mean", plainly(lambda v: number(v, 2)))
CIRCUITS: Column = ("by\ncircuit", "circuit_share", plainly(formats.percent))

LEGEND_TIMES = "FCT: flow completion time; short: under 100 KB."
LEGEND_CIRCUITS = "By circuit: share of the delivered bytes that crossed circuits that change."
LEGEND_NO_CIRCUITS = "{} has none: {}."


def table(
    summaries: Mapping[str, Summary],
    of_seeds: Mapping[str, Sequence[Summary]] | None = None,
    beside: Mapping[str, Mapping[str, str]] | None = None,
) -> Table:
    """A row for each fabric, at most 80 columns wide for usual labels, 100 with the columns
    `beside` (heading → label → text). If a fabric did not finish flows that others finished, the
    number of finished flows of each precedes its times. If there are several seeds, half of the
    interval of each figure is below it."""
    lit, lagging = _has(summaries, CIRCUITS), bool(unranked(summaries))
    # Hybrid fabrics have no queues, so that there is usually space for their column.
    peaks = [c for c in PEAKS if not lit or _has(summaries, c)]
    columns = [load_column(summaries), *TIMES, *peaks, HOPS, *([CIRCUITS] if lit else [])]
    cut = bounds.any_open(summaries, tuple(path for _, path, _ in TIMES))
    long = any(len(label) > ROOM for label in summaries)
    crowded = bool(peaks) and (lit or lagging or cut or long)
    made = console.plain_table(gap=1 if crowded else 2)
    full = bool(peaks) and lagging and cut
    made.add_column("fabric", overflow="fold", max_width=13 if full else 16)
    headings = [heading for heading, _, _ in columns]
    if lagging:
        headings.insert(1, "flows\ndone")
    if crowded:
        headings = [heading.replace("FCT ", "FCT\n") for heading in headings]
    beside = beside or {}
    for heading in (*headings, *beside):
        made.add_column(heading, justify="right", no_wrap=True)
    for label, summary in summaries.items():
        seeds = of_seeds[label] if of_seeds else [summary]
        cells = [_cell(seeds, column) for column in columns]
        if lagging:
            cells.insert(1, formats.percent(finished(summary)))
        made.add_row(escape(label), *cells, *(column[label] for column in beside.values()))
    return made


def _cell(seeds: Sequence[Summary], column: Column) -> str:
    """Formats a figure; of several seeds the mean with half of its interval."""
    _, path, show = column
    text = show(seeds, path)
    if len(seeds) < 2:
        return text
    of = bounds.interval if bounds.is_of_flows(path) else repeats.interval
    half = getattr(of(seeds, path), "half_width", None)
    if half is None:
        return text
    found = bounds.mean([bounds.bound(s, path) for s in seeds]) if show is least else None
    if found is not None and found.exact and half > 0:
        both, unit = formats.plus_minus(found.low, half).rsplit(" ", 1)
        mean, _, half_shown = both.partition(" ± ")
        return f"{mean} {unit}\n± {half_shown} {unit}"
    return f"{text}\n± {show([_at(path, half)], path)}"


def _at(path: str, value: float) -> Summary:
    """Returns a summary with this value at a dotted path."""
    made: Any = value
    for part in reversed(path.split(".")):
        made = {part: made}
    return dict(made)


def load_column(summaries: Mapping[str, Summary]) -> Column:
    """The column of the load delivered, or of the goodput if no load is defined."""
    return LOAD if _has(summaries, LOAD) else GOODPUT


def legend(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """Explains the headings, one line each."""
    yield from legend_of_times(summaries)
    yield from legend_of_circuits(summaries)


def legend_of_times(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """Explains loads and times."""
    yield loads.LEGEND if _has(summaries, LOAD) else loads.GOODPUT
    yield LEGEND_TIMES
    if bounds.any_open(summaries, tuple(path for _, path, _ in TIMES)):
        yield LEGEND_BOUNDS


def legend_of_circuits(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """Explains the traffic over circuits."""
    if _has(summaries, CIRCUITS):
        yield LEGEND_CIRCUITS
        for kind in dict.fromkeys(summary.get("fabric") for summary in summaries.values()):
            if why := fabrics.of(kind).get("no_circuits"):
                yield LEGEND_NO_CIRCUITS.format(fabrics.of(kind)["name"], why)


def _has(summaries: Mapping[str, Summary], column: Column) -> bool:
    """Whether any fabric has this figure."""
    return any(pick(summary, column[1]) is not None for summary in summaries.values())
