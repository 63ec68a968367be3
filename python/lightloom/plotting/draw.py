"""The files of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from lightloom.report.page import Drawing
from lightloom.storage import Staging

from . import backend_matplotlib
from .spec import Figure


def draw(
    figures: Sequence[Figure],
    prefix: str,
    folder: Path,
    tick: Callable[[], None],
    staging: Staging,
) -> tuple[Drawing, ...]:
    """Stages the files of figures."""
    drawings = []
    for figure in figures:
        name = prefix + figure.key
        svg, png = backend_matplotlib.render(figure, name)
        staging.content(folder / f"{name}.svg", svg)
        staging.content(folder / f"{name}.png", png)
        drawings.append(Drawing(figure, name, svg.decode()))
        tick()
    return tuple(drawings)
