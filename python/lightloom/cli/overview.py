"""The main table of `compare`: one row for each fabric, in the same form for measured windows and
for whole runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from lightloom.cli import console, latency
from lightloom.cli.completion import least, plainly
from lightloom.config import loads
from lightloom.results import repeats
from lightloom.results.summaries import Summary, jobs_of, pick, took
from lightloom.units import bounds, formats

if TYPE_CHECKING:
    from lightloom.results.result import Comparison

Beside = Mapping[str, Mapping[str, str]]
JOBS_NAMED = 2
"""Largest number of jobs with a column each; with more, the table shows how many finished."""
NARROWEST, WIDEST = 18, 40
"""The smallest and largest width [columns] of the column of fabrics, for labels and for names of
comparisons."""
BOUND = "> lower bound: some of its flows were unfinished when the run ended."
OF_MARKS = {
    "*": "* load not carried: FCT depends on the length of the window; not ranked.",
    "?": "? window too short to show whether the load is carried; not ranked.",
    "+": "+ successive latencies are correlated: lengthen run.measure for a narrower interval.",
}


@dataclass(frozen=True)
class Paths:
    """The paths of the table's figures in summaries."""

    load: tuple[str, ...]
    mean: str
    half_width: str
    p99: str
    short: str


WINDOW = Paths(
    ("window.accepted",),
    "window.mean_us",
    "window.half_width_us",
    "window.p99_us",
    "window.short.p99_us",
)
WHOLE_RUN = Paths(
    ("load_delivered", "goodput_normalized"),
    "fct.all.mean_us",
    "",
    "fct.all.p99_us",
    "fct.short.p99_us",
)


def paths_of(comparison: Comparison) -> Paths:
    """Returns the paths of the measured window, or of the whole run without one."""
    return WINDOW if latency.is_measured(comparison) else WHOLE_RUN


def table(comparisons: Sequence[Comparison], beside: Sequence[Beside]) -> Table:
    """A row for each fabric; several comparisons are groups below their names. The columns `beside`
    (heading → label → text) follow those of performance."""
    rows = [_rows(comparison) for comparison in comparisons]
    costs = [dict.fromkeys(heading for found in beside for heading in found)][0]
    columns = list(
        dict.fromkeys(name for group in rows for cells in group.values() for name in cells)
    )
    shown = [
        c for c in columns if any(cells.get(c, "-") != "-" for g in rows for cells in g.values())
    ]
    made = console.plain_table()
    names = [heading_of(c) for c in comparisons] if len(comparisons) > 1 else []
    labels = [label for group in rows for label in group]
    widest = min(WIDEST, max(NARROWEST, *map(len, (*names, *labels))))
    made.add_column("fabric", overflow="fold", max_width=widest)
    for heading in (*shown, *costs):
        made.add_column(heading, justify="right", no_wrap=True)
    for comparison, group, found in zip(comparisons, rows, beside, strict=True):
        if len(comparisons) > 1:
            made.add_row(escape(heading_of(comparison)), style="bold")
        for label, cells in group.items():
            prices = (found.get(heading, {}).get(label, "-") for heading in costs)
            made.add_row(escape(label), *(cells.get(c, "-") for c in shown), *prices)
    return made


def heading_of(comparison: Comparison) -> str:
    """The name of a comparison and its load."""
    load = loads.named(comparison.experiment, swept=bool(comparison.loads))
    return comparison.name if load is None else f"{comparison.name}, load {load:g}"


def _rows(comparison: Comparison) -> dict[str, dict[str, str]]:
    """Label → heading → text."""
    marks = _marks(comparison)
    return {label: _cells(comparison, label, marks[label]) for label in comparison.results}


def _cells(comparison: Comparison, label: str, mark: str) -> dict[str, str]:
    paths, seeds = paths_of(comparison), comparison.of_label(label)
    share = next((p for p in paths.load if any(pick(s, p) is not None for s in seeds)), "")
    heading = "goodput" if share == "goodput_normalized" else "load\naccepted"
    load = plainly(formats.percent)(seeds, share) if share else "-"
    late = mark if mark in ("*", "?") else ""
    cells = {heading: load + late, "FCT\nmean": _mean(comparison, seeds, paths)}
    if mark == "+" and cells["FCT\nmean"] != "-":
        cells["FCT\nmean"] += mark
    cells["FCT\np99"] = least(seeds, paths.p99)
    cells["FCT short\np99"] = least(seeds, paths.short)
    found = latency.saturation_of(comparison, label)
    if found is not None:
        cells["saturation\nload"] = latency.saturation(found)
    return cells | _jobs(seeds)


def _mean(comparison: Comparison, seeds: Sequence[Summary], paths: Paths) -> str:
    """Formats the mean FCT with half of its 95 % confidence interval."""
    if paths is WINDOW:
        windows = [s["window"] for s in seeds]
        return formats.mean_latency(windows, latency.half_width(windows))
    found = bounds.mean([bounds.bound(s, paths.mean) for s in seeds])
    if found is None or not found.exact or len(seeds) < 2:
        return formats.time_bound(found)
    interval = bounds.interval(seeds, paths.mean)
    return formats.plus_minus(found.low, None if interval is None else interval.half_width)


def _jobs(seeds: Sequence[Summary]) -> dict[str, str]:
    """The durations of jobs; of many jobs, the number that finished."""
    names = jobs_of(seeds[0])
    if not names:
        return {}
    if len(names) > JOBS_NAMED:
        done = min(_finished(s) for s in seeds)
        return {"jobs\nfinished": f"{done} of {len(seeds[0].get('jobs', {}))}"}
    mean = repeats.means(seeds) if len(seeds) > 1 else seeds[0]
    return {f"job\n{name}": took(mean.get("jobs", {}).get(name, {})) for name in names}


def _finished(summary: Summary) -> int:
    return sum(found.get("seconds") is not None for found in summary.get("jobs", {}).values())


def _marks(comparison: Comparison) -> dict[str, str]:
    """Label → the mark of its figures; empty without a window."""
    if not latency.is_measured(comparison):
        return dict.fromkeys(comparison.results, "")
    return latency.marks_of(comparison)


def legend(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Explains the figures, one line each, and the marks that occur."""
    measured = {latency.is_measured(c) for c in comparisons}
    seeds = max(len(c.seeds) for c in comparisons)
    what = "FCT (flow completion time) of all flows"
    if measured == {True}:
        windows = dict.fromkeys(str(c.experiment["run"]["measure"]) for c in comparisons)
        arrived = f"flows that arrived in the window of {' or '.join(windows)}"
        what = f"FCT (flow completion time) of {arrived}"
    mean = f"; mean ± 95 % confidence over {seeds} seeds" if seeds else ""
    if not seeds and measured == {True}:
        mean = "; mean ± 95 % confidence"
    yield f"{what}{mean}; short: under 100 KB."
    if any(
        pick(s, "load_delivered") is None and pick(s, "window.accepted") is None
        for c in comparisons
        for x in c.results
        for s in c.of_label(x)
    ):
        yield loads.GOODPUT
    varied = (loads.varied(c.experiment) for c in comparisons if c.loads)
    yield from dict.fromkeys(line for line in varied if line)
    marks = {mark for c in comparisons for mark in (*_marks(c).values(), *latency.doubted(c))}
    yield from (line for mark, line in OF_MARKS.items() if mark in marks)
    summaries: dict[str, Any] = {
        f"{i} {label}": s
        for i, c in enumerate(comparisons)
        for label in c.results
        for s in c.of_label(label)
    }
    paths = tuple(
        dict.fromkeys(
            p for c in comparisons for p in (paths_of(c).mean, paths_of(c).p99, paths_of(c).short)
        )
    )
    if bounds.any_open(summaries, paths):
        yield BOUND
