"""Files for a paper: the figures of a report as SVG, PNG and PDF.

Papers place panels where there is space; therefore each row of panels is a file of its own, with
its legend: one panel in a column, two across a page. Small multiples stay together, because they
share axes. The same comparison gives the same bytes: no file contains a date or an author.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG

from lightloom.analysis import reading
from lightloom.plotting import draw
from lightloom.plotting.backend_matplotlib import UNDATED, drawing, laid_out, settings, tidy
from lightloom.plotting.figures import OVERVIEW, draw_all
from lightloom.plotting.sheet import Sheet
from lightloom.plotting.spec import Figure, Panel
from lightloom.storage.staging import Staging

from .styles import find

if TYPE_CHECKING:
    from lightloom.results.result import Comparison

Drawn = Callable[[int, int], object]
KINDS = ("svg", "png", "pdf")
UNSIGNED = {"CreationDate": None, "Creator": None, "Producer": None}


def write(
    comparisons: Sequence[Comparison],
    folder: Path,
    style: str,
    drawn: Drawn | None = None,
    staging: Staging | None = None,
) -> list[Path]:
    """Writes all figures of some comparisons in a style; returns the files.

    They are `folder/STYLE/NAME.svg`, `.png` and `.pdf`, with the names of the report's figures; if
    a figure has several rows, with the name of the first panel. `drawn` is called after each file
    with the number of files done and their total. The files get their names together with those of
    `staging`, if it is given.

    Raises:
        ConfigError: There is no style of that name; nothing was written.
    """
    sheet = find(style)
    workloads = reading.read(comparisons)
    parts = [
        (prefix + part.key, part)
        for workload, prefix in zip(workloads, draw.prefixes(workloads), strict=True)
        for figure in draw_all(workload)
        if figure.key != OVERVIEW  # its panels are also in other figures
        for part in parts_of(figure, sheet.columns)
    ]
    target = Path(folder) / style
    written = []
    with nullcontext(staging) if staging is not None else Staging(target) as files:
        for done, (name, part) in enumerate(parts, start=1):
            for kind, content in render(part, name, sheet).items():
                path = target / f"{name}.{kind}"
                files.content(path, content)
                written.append(path)
            if drawn is not None:
                drawn(done, len(parts))
        files.amend(Path(folder).parent)
    return written


def parts_of(figure: Figure, across: int) -> Iterator[Figure]:
    """Yields a figure for each row of `across` panels; small multiples remain one figure."""
    if figure.shared or len(figure.panels) <= across:
        yield replace(figure, panels=titled(figure.panels))
        return
    rows = list(batched(figure.panels, across))
    names = [slug(row[0].title) for row in rows]
    for number, (name, row) in enumerate(zip(names, rows, strict=True), start=1):
        ending = name if names.count(name) == 1 else f"{name}-{number}"
        title = f"{figure.title}: {row[0].title}"
        yield replace(figure, key=f"{figure.key}-{ending}", title=title, panels=titled(row))


def titled(row: Sequence[Panel]) -> tuple[Panel, ...]:
    """Panels with complete titles, because a file has no heading that states the missing words."""
    return tuple(replace(panel, title=panel.alone or panel.title) for panel in row)


def batched(panels: Sequence[Panel], size: int) -> Iterator[tuple[Panel, ...]]:
    """Divides panels into rows."""
    for start in range(0, len(panels), size):
        yield tuple(panels[start : start + size])


def slug(title: str) -> str:
    """The title of a panel as part of a file name."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "panel"


def render(figure: Figure, salt: str, sheet: Sheet) -> dict[str, bytes]:
    """Returns the figure in each file format."""
    svg, png, pdf = io.BytesIO(), io.BytesIO(), io.BytesIO()
    told: Any = settings(sheet) | {"svg.hashsalt": salt}
    with drawing(told):
        canvas = laid_out(figure, png, sheet)
        vector: Any = FigureCanvasSVG(canvas)
        vector.print_svg(svg, metadata=UNDATED)
        paper: Any = FigureCanvasPdf(canvas)
        paper.print_pdf(pdf, metadata=UNSIGNED)
    text = tidy(svg.getvalue().decode(), figure.title, salt)
    return dict(zip(KINDS, (text.encode(), png.getvalue(), pdf.getvalue()), strict=True))
