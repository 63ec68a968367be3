"""The files of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from . import backend_matplotlib
from .page import Drawing
from .spec import Figure


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
