"""The table of `sweep`: a row for each combination of values and fabric. If every run measured a
window, the figures are those of the window, as in the table of `compare`: such a run ends with its
window, so that percentiles of all its flows would be bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from rich.markup import escape
from rich.table import Table

from lightloom.analysis import doubts
from lightloom.cli import completion, console, jobs, latency
from lightloom.results.summaries import Summary
from lightloom.units import bounds, formats

if TYPE_CHECKING:
    from lightloom import sweep as sweeps
    from lightloom.analysis.model import Carriage
    from lightloom.analysis.note import Note
    from lightloom.report.sweeps import Cell

ROWS_SHOWN = 40
ACCEPTED: completion.Column = (
    "load\naccepted",
    "window.accepted",
    completion.plainly(formats.number),
)
P99: completion.Column = ("latency\np99", "window.p99_us", completion.least)
SHORT_P99: completion.Column = ("FCT short\np99", "window.short.p99_us", completion.least)
MEAN = "latency\nmean"
LEGEND = (
    "Load accepted: delivered in the window, as a share of the rate of all servers.",
    "Latency: of the flows that arrived in the window; mean ± 95 % confidence.",
)

OF_RUNS = {
    "?": "? not known to be carried: less than nine tenths of the load was delivered while flows "
    "arrived. Where it is not carried, times grow with workload.flows; run.warm_up and run.measure "
    "judge a steady state.",
    "*": "* not carried: the times grow with workload.flows.",
}
"""The meaning of the marks of a load without a window."""


def table(outcome: sweeps.Outcome) -> Table:
    """A row for each point and fabric, with figures averaged over the seeds."""
    groups = _groups(outcome)
    lost: Counter[tuple[str, ...]] = Counter(_place(point) for point, _ in outcome.failed)
    made = console.plain_table()
    for name in (*_first(outcome).grid, "fabric"):
        made.add_column(name.replace(".", ".\n"))
    for heading in _headings(outcome):
        made.add_column(heading, justify="right", no_wrap=True)
    if lost:
        made.add_column("failed", justify="right")
    found = _carriages(outcome)
    for key, summaries in list(groups.items())[:ROWS_SHOWN]:
        cells = _cells(outcome, summaries, found.get(key))
        made.add_row(*map(escape, key), *cells, *([str(lost[key])] if lost else []))
    if len(groups) > ROWS_SHOWN:
        made.add_row(f"… {len(groups) - ROWS_SHOWN} more in {outcome.parquet.name}")
    return made


def tables_of_jobs(outcome: sweeps.Outcome, width: int) -> Iterator[Table | str]:
    """The duration of each job, in a row for each point and fabric; nothing without jobs."""
    shown = list(_groups(outcome).items())[:ROWS_SHOWN]
    corner = ", ".join([*(key.rpartition(".")[2] for key in _first(outcome).grid), "fabric"])
    return jobs.sweep_tables({", ".join(key): seeds for key, seeds in shown}, width, corner)


def _first(outcome: sweeps.Outcome) -> sweeps.Point:
    """A point, whose keys are those of all points."""
    return (outcome.points or [point for point, _ in outcome.failed])[0]


def _groups(outcome: sweeps.Outcome) -> dict[tuple[str, ...], list[Summary]]:
    """The summaries of each row, for each seed that did not fail."""
    groups: dict[tuple[str, ...], list[Summary]] = {}
    for point, summary in zip(outcome.points, outcome.summaries, strict=True):
        groups.setdefault(_place(point), []).append(summary)
    for point, _ in outcome.failed:
        groups.setdefault(_place(point), [])
    return groups


def legend(outcome: sweeps.Outcome) -> Iterator[str]:
    """Explains the headings and the marks that occur, one line each."""
    seeds = max(map(len, _groups(outcome).values()), default=0)
    if seeds > 1:
        yield f"Each row: means of {seeds} seeds; report.html has their 95 % confidence intervals."
    marks = {latency.MARKS.get(found or "") for found in _carriages(outcome).values()}
    if not is_measured(outcome):
        yield from completion.legend_of_times(_named(outcome))
        yield from (line for mark, line in OF_RUNS.items() if mark in marks)
        return
    yield from LEGEND
    if _has_short(outcome):
        yield latency.LEGEND["short"]
    yield from (line for mark, line in latency.OF_MARKS.items() if mark in marks)
    if bounds.any_open(_named(outcome), latency.SHOWN_BOUNDS):
        yield doubts.LEGEND_BOUNDS


def cut_points(outcome: sweeps.Outcome) -> list[Note]:
    """States the points with runs that ended before their flows finished."""
    from lightloom.report import sweeps as pages

    return pages.cut_points(_gathered(outcome), "report.html has all")


def traffic(found: Sequence[sweeps.Found]) -> list[str]:
    """Notes on the traffic of the points of a sweep."""
    from lightloom.analysis import swept_traffic
    from lightloom.report.sweeps import values_text
    from lightloom.sweep import Failed

    return swept_traffic.lines(
        (values_text(point.grid), summary, point.experiment.raw.get("workload", {}))
        for point, summary in found
        if not isinstance(summary, Failed)
    )


def is_measured(outcome: sweeps.Outcome) -> bool:
    """Whether every run measured a window."""
    windows = [summary.get("window") for summary in outcome.summaries]
    return bool(windows) and None not in windows


def _headings(outcome: sweeps.Outcome) -> list[str]:
    if not is_measured(outcome):
        return [heading for heading, _, _ in _of_runs(outcome)]
    short = [SHORT_P99[0]] if _has_short(outcome) else []
    return [ACCEPTED[0], MEAN, P99[0], *short]


def _cells(
    outcome: sweeps.Outcome, summaries: Sequence[Summary], carriage: Carriage | None
) -> list[str]:
    """The figures of a row; dashes if all of its seeds failed."""
    if not summaries:
        return ["-"] * len(_headings(outcome))
    mark = latency.MARKS.get(carriage or "", "")
    if not is_measured(outcome):
        load, *times = (show(summaries, path) for _, path, show in _of_runs(outcome))
        return [load + mark, *times]
    windows = [summary["window"] for summary in summaries]
    mean = formats.mean_latency(windows, latency.half_width(windows))
    columns = [P99, *([SHORT_P99] if _has_short(outcome) else [])]
    return [
        ACCEPTED[2](summaries, ACCEPTED[1]),
        mean + mark,
        *(show(summaries, path) for _, path, show in columns),
    ]


def _of_runs(outcome: sweeps.Outcome) -> list[completion.Column]:
    """The columns without a window."""
    return [completion.load_column(_named(outcome)), *completion.TIMES]


def _has_short(outcome: sweeps.Outcome) -> bool:
    """Whether both short and long flows arrived in a window."""
    return any(summary["window"].get("short") is not None for summary in outcome.summaries)


def _carriages(outcome: sweeps.Outcome) -> dict[tuple[str, ...], Carriage | None]:
    """Whether the load of each row is carried, as far as its windows show."""
    found = _gathered(outcome)
    return {_key(cell.values.values(), cell.fabric): cell.carriage for cell in found}


def _gathered(outcome: sweeps.Outcome) -> list[Cell]:
    """The points grouped over their seeds, as on the page."""
    from lightloom.report import sweeps as pages

    each = zip(outcome.points, outcome.summaries, strict=True)
    return pages.gathered([(point.grid, point.fabric, summary) for point, summary in each])


def _place(point: sweeps.Point) -> tuple[str, ...]:
    """The row of a point: its values and its fabric."""
    return _key(point.grid.values(), point.fabric)


def _key(values: Iterable[object], fabric: str) -> tuple[str, ...]:
    return (*map(str, values), fabric)


def _named(outcome: sweeps.Outcome) -> dict[str, Summary]:
    """All summaries of a sweep."""
    return {str(i): summary for i, summary in enumerate(outcome.summaries)}
