"""The report of a comparison: `report.html`, and every figure as SVG and PNG.

The page is one file that opens offline: its script, its styles and its data are
inside. Each figure is data (`spec`), drawn by Plotly in the page and by
matplotlib for files; the sentences (`verdicts`) and the table come from the
same numbers. Nothing here runs a simulation.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lightloom.decision import options

from . import backend_matplotlib, decisions, verdicts, winners
from .decisions import Decision
from .figures import draw_all
from .model import Workload
from .page import Drawing, Section, distinct, render
from .reading import slots, workload
from .resilience import answer, failing
from .spec import Figure

if TYPE_CHECKING:
    from lightloom.economics.book import Book
    from lightloom.results import Comparison

__all__ = ["build", "decide", "first"]

Drawn = Callable[[int, int], object]


def build(
    comparisons: Sequence[Comparison],
    out: Path,
    drawn: Drawn | None = None,
    decided: Sequence[Decision | None] | None = None,
) -> Path:
    """Writes `report.html` and `figures/` into the directory `out`; returns the page's path.
    `drawn` hears after each picture how many of how many are done. `decided` is what `decide`
    makes of the comparisons, by their own `[decision]` unless given."""
    if not comparisons:
        raise ValueError("comparisons = []: a report needs at least one comparison")
    workloads = read(comparisons)
    folder = Path(out) / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    curves = sum(len(w.fabrics) for w in workloads)
    bought = decide(comparisons) if decided is None else decided
    charts = [() if d is None or d.figure is None else (d.figure,) for d in bought]
    figures = [(*c, *draw_all(w, curves)) for c, w in zip(charts, workloads, strict=True)]
    tick = counter(sum(map(len, figures)), drawn)
    said = [under_other_physics(c, comparisons) for c in comparisons]
    dead = [c.resilience for c in comparisons]
    sections = [
        Section(w, draw(made, prefix, folder, tick), changes, decision, failing(broken, w))
        for w, made, prefix, changes, decision, broken in zip(
            workloads, figures, prefixes(workloads), said, bought, dead, strict=True
        )
    ]
    page = Path(out) / "report.html"
    part = Path(out) / ".report.html.part"
    part.write_text(render(sections), encoding="utf-8")
    part.replace(page)  # never half a page under the final name
    return page


def first(comparisons: Sequence[Comparison]) -> Mapping[str, verdicts.First | None]:
    """The verdict that stands first, of each comparison by its name; None where fabrics have
    no figure to be judged by."""
    return verdicts.all_first(read(comparisons))


def decide(
    comparisons: Sequence[Comparison], books: Sequence[Book | None] | None = None
) -> list[Decision | None]:
    """Which fabric of each comparison to buy; None of those without prices.

    Args:
        books: the prices of each; those of its own `[decision]` unless given.

    Raises:
        ConfigError: of prices that cannot be read.
    """
    own = [options.book(c.experiment) for c in comparisons] if books is None else books
    return decisions.decide(read(comparisons), own)


def broken(comparison: Comparison) -> str:
    """What is said of a comparison with one part dead; nothing where nobody asked."""
    return "" if comparison.resilience is None else answer(comparison.resilience)


def read(comparisons: Sequence[Comparison]) -> list[Workload]:
    """Comparisons as plain numbers; a fabric looks alike in all of them."""
    places = slots(comparisons)
    return [workload(c, places) for c in comparisons]


def under_other_physics(
    comparison: Comparison, comparisons: Sequence[Comparison]
) -> tuple[str, ...]:
    """Whether the winner is another under the other presets of physics that were compared."""
    groups = winners.under_presets(comparisons).values()
    return tuple(
        s
        for group in groups
        if any(c is comparison for c in group)
        for s in winners.sentences(group)
    )


def counter(total: int, drawn: Drawn | None) -> Callable[[], None]:
    """Tells of the beginning, and when it is called of one more."""
    done = itertools.count()

    def tick() -> None:
        if drawn is not None:
            drawn(next(done), total)

    tick()
    return tick


def draw(
    figures: Sequence[Figure], prefix: str, folder: Path, tick: Callable[[], None]
) -> tuple[Drawing, ...]:
    """Writes the files of a comparison's figures."""
    drawings = []
    for figure in figures:
        name = prefix + figure.key
        svg, png = backend_matplotlib.render(figure, name)
        (folder / f"{name}.svg").write_bytes(svg)
        (folder / f"{name}.png").write_bytes(png)
        drawings.append(Drawing(figure, name, svg.decode()))
        tick()
    return tuple(drawings)


def prefixes(workloads: Sequence[Workload]) -> list[str]:
    """What tells the files of several comparisons apart; nothing for one."""
    if len(workloads) == 1:
        return [""]
    return [f"{name}-" for name in distinct([w.name for w in workloads])]
