"""The notebook display of results and comparisons: the verdict, the main figures of each fabric,
and the tail of completion times.

Figures are those of the report's table, with the best marked if the intervals allow it, and with
bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from lightloom import report
from lightloom.analysis import cuts, doubts, notes, verdicts, workload_lines
from lightloom.analysis.model import Workload
from lightloom.analysis.table import Row, groups
from lightloom.config import loads, physics
from lightloom.errors import ConfigError
from lightloom.notebook.page import page, picture
from lightloom.plotting import RunPlots
from lightloom.plotting.compared import Runs, compared, workload_of
from lightloom.results.result import Comparison

SHOWN = {
    "Latency in the window": 4,
    "Throughput in the window": 4,
    "Jobs": 8,
    "Updates": 4,
    "Circuits": 2,
}
"""Groups of the report's table → number of their rows that are shown."""
NAMED = frozenset(
    {
        *("Short flows, median", "Short flows, 99th percentile", "Long flows, 99th percentile"),
        *("Load delivered, until the last arrival", "Goodput, over the whole run"),
        *("Flows finished", "Cells or packets lost"),
        *("Queue peak, worst node", "Reorder buffer peak, worst flow", "Hops, mean"),
    }
)
"""Rows of other groups that are shown."""


def html(runs: Runs) -> str:
    """Returns a result, repeated results or a comparison as HTML."""
    comparison = compared(runs)
    workload = workload_of(runs)
    rows = shown(workload)
    first = next(iter(report.first([comparison]).values()))
    return page(
        "runs.html.j2",
        name=comparison.name,
        workload=offered(comparison),
        first=first,
        labels=[fabric.label for fabric in workload.fabrics],
        rows=rows,
        seeds=workload.seeds > 1,
        picture=tail(runs, comparison.name),
        legend=list(legend(workload, rows)),
        notes=list(weakened(comparison)),
        physics=list(simulated(comparison)),
    )


def shown(workload: Workload) -> list[Row]:
    """The rows of the report's table that are shown."""
    return [
        row
        for name, rows in groups(workload)
        for i, row in enumerate(rows)
        if row.name in NAMED or i < SHOWN.get(name, 0)
    ]


def offered(comparison: Comparison) -> str:
    """Describes the flows, which are the same for every fabric."""
    first = next(iter(comparison.results.values()))
    summaries = comparison.of_label(first.label)
    asked = loads.whole(comparison.experiment)
    return workload_lines.of_seeds(summaries, first.flows.num_rows, asked)


def tail(runs: Runs, name: str) -> Markup | None:
    """Draws the complementary distribution of completion times of all flows; None if none
    finished."""
    try:
        figure = RunPlots(runs).fct_ccdf()
    except ConfigError:
        return None
    return picture(figure, f"{name}: how long flows take, tail")


def legend(workload: Workload, rows: Sequence[Row]) -> Iterator[str]:
    """Explains the marks that occur in the table."""
    cells = [cell for row in rows for cell in row.cells]
    if workload.seeds > 1:
        yield f"Means of {workload.seeds} seeds, below them 95 % confidence intervals."
    if any(cell.best for cell in cells):
        source = verdicts.source(workload.fabrics)
        yield f"Bold: the best of a row, whose 95 % interval ({source}) overlaps with no other's."
    if any(">" in cell.text for cell in cells):
        yield doubts.LEGEND_BOUNDS
    if any(cell.unranked for cell in cells):
        yield "Grey: of a fabric that left unfinished what others finished; not ranked."
    if any(row.name.startswith("Short flows") for row in rows):
        yield "Short flows: under 100 KB."


def weakened(comparison: Comparison) -> Iterator[str]:
    """Lists what limits the figures, with the texts of `run` and `compare`."""
    summaries = comparison.means
    first = next(iter(comparison.results.values()))
    seeds = {label: comparison.of_label(label) for label in comparison.results}
    yield from doubts.doubts(summaries, seeds)
    yield from map(str, cuts.of_loads(comparison))
    traffic = notes.of_workload(first.summary, comparison.experiment.get("workload", {}))
    yield from map(str, (*traffic, *notes.inexact_rates(summaries)))
    alone = len(comparison.results) == 1
    for label, result in comparison.results.items():
        for line in map(str, notes.notes_of_run(result)):
            yield line if alone else f"{label}: {line}"


def simulated(comparison: Comparison) -> Iterator[str]:
    """Describes the physics, and the idealisations of each fabric."""
    line = physics.line(comparison.experiment.get("physics"))
    if line is not None:
        yield f"physics: {line}"
        yield from physics.notes(comparison.experiment)
    for ideal in physics.ideal(comparison.experiment):
        yield f"idealised: {ideal}"
