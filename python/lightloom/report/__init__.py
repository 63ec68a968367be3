"""The report of a comparison: `report.html`, and every figure as SVG and PNG.

The page is one file that works offline; it contains its script, styles and data. Each figure is
data (`lightloom.plotting.spec`), drawn by Plotly in the page and by matplotlib for files. The
sentences and the table (`lightloom.analysis`) use the same numbers. Nothing here runs a simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.analysis import verdicts, winners
from lightloom.analysis.reading import read
from lightloom.costs import of_experiment
from lightloom.plotting.draw import draw, prefixes
from lightloom.plotting.figures import draw_all
from lightloom.storage.staging import Staging

from . import decisions
from .decisions import Decision
from .page import Section, render
from .resilience import answer, failing

if TYPE_CHECKING:
    from lightloom.costs.book import Book
    from lightloom.results.result import Comparison

__all__ = ["build", "decide", "first"]

Drawn = Callable[[int, int], object]


def build(
    comparisons: Sequence[Comparison],
    out: Path,
    drawn: Drawn | None = None,
    decided: Sequence[Decision | None] | None = None,
) -> Path:
    """Writes `report.html` and `figures/` into the directory `out`; returns the path of the page.
    `drawn` is called after each picture with the number of pictures done and their total. `decided`
    is the result of `decide` for the comparisons. Default: by their own `[decision]`."""
    with Staging(out) as staging:
        return stage(comparisons, Path(out), staging, drawn, decided)


def stage(
    comparisons: Sequence[Comparison],
    out: Path,
    staging: Staging,
    drawn: Drawn | None = None,
    decided: Sequence[Decision | None] | None = None,
) -> Path:
    """Stages the report as part of a larger transaction."""
    if not comparisons:
        raise ValueError("comparisons = []: a report needs at least one comparison")
    workloads = read(comparisons)
    folder = out / "figures"
    curves = sum(len(w.fabrics) for w in workloads)
    bought = decide(comparisons) if decided is None else decided
    charts = [() if d is None or d.figure is None else (d.figure,) for d in bought]
    figures = [(*c, *draw_all(w, curves)) for c, w in zip(charts, workloads, strict=True)]
    tick = counter(sum(map(len, figures)), drawn)
    said = [under_other_physics(c, comparisons) for c in comparisons]
    dead = [c.resilience for c in comparisons]
    sections = [
        Section(w, draw(made, prefix, folder, tick, staging), changes, decision, failing(broken, w))
        for w, made, prefix, changes, decision, broken in zip(
            workloads, figures, prefixes(workloads), said, bought, dead, strict=True
        )
    ]
    page = out / "report.html"
    staging.text(page, render(sections))
    staging.amend(out)
    return page


def first(comparisons: Sequence[Comparison]) -> Mapping[str, verdicts.First | None]:
    """Returns the first verdict of each comparison by its name; None if the fabrics have no figure
    for a verdict."""
    return verdicts.all_first(read(comparisons))


def decide(
    comparisons: Sequence[Comparison], books: Sequence[Book | None] | None = None
) -> list[Decision | None]:
    """Decides which fabric of each comparison to buy; None for those without prices.

    Args:
        books: the prices of each. Default: those of its own `[decision]`.

    Raises:
        ConfigError: if prices cannot be read.
    """
    own = [of_experiment.book(c.experiment) for c in comparisons] if books is None else books
    return decisions.decide(read(comparisons), own, [c.resilience for c in comparisons])


def broken(comparison: Comparison) -> str:
    """Describes the single failures of a comparison; empty if they were not requested."""
    return "" if comparison.resilience is None else answer(comparison.resilience)


def under_other_physics(
    comparison: Comparison, comparisons: Sequence[Comparison]
) -> tuple[str, ...]:
    """States whether the winner changes under the other presets of physics that were compared."""
    groups = winners.under_presets(comparisons).values()
    return tuple(
        s
        for group in groups
        if any(c is comparison for c in group)
        for s in winners.sentences(group)
    )


def counter(total: int, drawn: Drawn | None) -> Callable[[], None]:
    """Calls `drawn` at the beginning, and whenever the returned function is called."""
    done = itertools.count()

    def tick() -> None:
        if drawn is not None:
            drawn(next(done), total)

    tick()
    return tick
