"""A figure of matplotlib that looks like the report's wherever it is drawn, and that a notebook
shows."""

from __future__ import annotations

import io
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.figure import Figure

from lightloom.report import backend_matplotlib
from lightloom.report.spec import Figure as Spec
from lightloom.report.spec import Panel

SETTINGS: Any = backend_matplotlib.settings()
CSS_DPI = 96
"""Dots of an inch on a page, by which a picture is as large there as on paper."""


class Picture(Figure):
    """A `matplotlib.figure.Figure` without pyplot."""

    def draw(self, renderer: RendererBase) -> None:
        """Draws with the settings that it was made with: matplotlib makes ticks as late as
        this."""
        with matplotlib.rc_context(SETTINGS):
            super().draw(renderer)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """What a notebook shows: as large as the figure, sharp on fine screens."""
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=2 * CSS_DPI, metadata={"Software": None})
        width, height = self.get_size_inches() * CSS_DPI
        return out.getvalue(), {"width": round(width), "height": round(height)}


def drawn(spec: Spec) -> Picture:
    """A figure of the report as one of matplotlib."""
    with matplotlib.rc_context(SETTINGS):
        made: Any = backend_matplotlib.draw(spec, kind=Picture)
    return made  # type: ignore[no-any-return]


def drawn_on(ax: Axes, panel: Panel) -> Figure:
    """A panel on axes that somebody has made; lines and letters are as theirs."""
    spec = Spec("", panel.title, "", (panel,))
    backend_matplotlib.draw_panel(ax, panel)
    names = [*(label for _, label in spec.labels), *spec.references]
    ax.legend(
        backend_matplotlib.handles(spec),
        [backend_matplotlib.shorten(name) for name in names],
        frameon=False,
        handlelength=3.2,
    )
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
