"""The table of `compare` where no window is measured: goodput, completion times, what
goes by circuit, and who did not finish what others finished."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from lightloom import console, repeats
from lightloom.console import Summary, micros, number, pick, size
from lightloom.unfinished import ranked

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
LEGEND_CIRCUITS = "By circuit: of the bytes delivered, those over circuits that come and go."
LEGEND_SIRIUS = "Sirius has none: all that leaves a rack crosses gratings, by wavelength."


def table(
    summaries: Mapping[str, Summary], of_seeds: Mapping[str, Sequence[Summary]] | None = None
) -> Table:
    """One row per fabric, at most 80 columns wide for usual labels. Where one did not
    finish what others finished, how many flows each did stands before its times. Where
    there are several seeds, each figure has half of its interval below it."""
    lit, lagging = _has(summaries, CIRCUITS), bool(unranked(summaries))
    # Hybrid fabrics have no queues to show, so their column usually has room.
    peaks = [c for c in PEAKS if not lit or _has(summaries, c)]
    columns = [*COLUMNS, *peaks, HOPS, *([CIRCUITS] if lit else [])]
    crowded = bool(peaks) and (lit or lagging)
    made = console.plain_table(gap=1 if crowded else 2)
    made.add_column("fabric", overflow="fold", max_width=16)
    headings = [heading for heading, _, _ in columns]
    if lagging:
        headings.insert(1, "flows\ndone")
    if crowded:
        headings = [heading.replace("FCT ", "FCT\n") for heading in headings]
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    for label, summary in summaries.items():
        seeds = of_seeds[label] if of_seeds else [summary]
        cells = [_cell(summary, seeds, column) for column in columns]
        if lagging:
            cells.insert(1, console.percent(finished(summary)))
        made.add_row(escape(label), *cells)
    return made


def _cell(summary: Summary, seeds: Sequence[Summary], column: Column) -> str:
    """A figure; of several seeds the mean with half of its interval."""
    _, path, show = column
    text = show(pick(summary, path))
    if len(seeds) < 2:
        return text
    half = getattr(repeats.interval(seeds, path), "half_width", None)
    return text if half is None else f"{text}\n± {show(half)}"


def legend(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """What the headings mean, a line each."""
    yield LEGEND
    if _has(summaries, CIRCUITS):
        yield LEGEND_CIRCUITS
        if any(summary.get("fabric") == "sirius" for summary in summaries.values()):
            yield LEGEND_SIRIUS


def doubts(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """What forbids to set the figures of all fabrics beside each other."""
    lagging = unranked(summaries)
    if lagging:
        each = ", ".join(f"{x} {console.percent(finished(summaries[x]))}" for x in lagging)
        yield (
            f"far fewer flows finished than with others: {each}; these times are of the few, and "
            "not to be ranked"
        )


def finished(summary: Summary) -> float | None:
    """Share of the flows that finished."""
    offered, done = summary.get("flows_offered"), summary.get("flows_completed")
    return done / offered if offered and done is not None else None


def unranked(summaries: Mapping[str, Summary]) -> list[str]:
    """Labels of the fabrics that did not finish what others finished."""
    fair = ranked([finished(summary) for summary in summaries.values()])
    return [label for label, kept in zip(summaries, fair, strict=True) if not kept]


def _has(summaries: Mapping[str, Summary], column: Column) -> bool:
    """Whether any fabric has this figure."""
    return any(pick(summary, column[1]) is not None for summary in summaries.values())
