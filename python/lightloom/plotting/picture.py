"""A matplotlib figure in the style of the report, which a notebook can display."""

from __future__ import annotations

import io
import os
from pathlib import PurePath
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase, RendererBase
from matplotlib.figure import Figure

from lightloom.errors import refusal
from lightloom.plotting import backend_matplotlib
from lightloom.plotting.sheet import REPORT, Sheet
from lightloom.plotting.spec import Figure as Spec
from lightloom.plotting.spec import Panel

SETTINGS: Any = backend_matplotlib.settings() | {"svg.hashsalt": "lightloom"}
CSS_DPI = 96
"""Dots per inch on a page, so that a picture has the same size there as on paper."""


UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
"""Metadata of files without a date, so that the same figure gives the same bytes."""


class Paper(FigureCanvasBase):
    """A canvas that prints with the figure's settings: matplotlib writes fonts after it has drawn,
    and of another type than the text if the settings have changed by then."""

    figure: Picture

    def print_figure(self, filename: Any, *args: Any, **kwargs: Any) -> Any:
        """As matplotlib's method, with the figure's settings."""
        with backend_matplotlib.drawing(self.figure.told):
            return super().print_figure(filename, *args, **kwargs)


class Picture(Figure):
    """A `matplotlib.figure.Figure` without pyplot."""

    told: Any = SETTINGS

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        Paper(self)

    def draw(self, renderer: RendererBase) -> None:
        """Draws with the settings with which the figure was made, because matplotlib only makes
        ticks now."""
        with backend_matplotlib.drawing(self.told):
            backend_matplotlib.spell_out(self)
            super().draw(renderer)

    def savefig(self, fname: Any, **kwargs: Any) -> None:
        """As matplotlib's method, with the same settings; without a date unless `metadata` is
        given."""
        named = PurePath(fname).suffix[1:] if isinstance(fname, str | os.PathLike) else ""
        kind = str(kwargs.get("format") or named or matplotlib.rcParams["savefig.format"]).lower()
        if kind in UNDATED:
            kwargs.setdefault("metadata", UNDATED[kind])
        with backend_matplotlib.drawing(self.told):
            super().savefig(fname, **kwargs)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The PNG that a notebook displays, in the size of the figure, with twice the
        resolution."""
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=2 * CSS_DPI, metadata={"Software": None})
        width, height = self.get_size_inches() * CSS_DPI
        return out.getvalue(), {"width": round(width), "height": round(height)}


def drawn(spec: Spec, sheet: Sheet = REPORT) -> Picture:
    """Returns a figure of the report as a matplotlib figure, in the size of its sheet."""
    told: Any = SETTINGS | backend_matplotlib.settings(sheet)
    with backend_matplotlib.drawing(told):
        made: Any = backend_matplotlib.draw(spec, sheet, kind=Picture)
    made.told = told
    return made  # type: ignore[no-any-return]


def check_axes(ax: object) -> None:
    """Raises an error if `ax` is not matplotlib axes.

    Raises:
        ConfigError: if `ax` is invalid.
    """
    if ax is None or isinstance(ax, Axes):
        return
    found = f"{type(ax).__name__} of {ax.shape}" if isinstance(ax, np.ndarray) else repr(ax)
    limit, remedy = "is not one axes of matplotlib", "give one of plt.subplots(), or leave it out"
    raise refusal("ax", found, limit, remedy)


def drawn_on(ax: Axes, panel: Panel) -> Figure:
    """Draws a panel on given axes, with their sizes of lines and text."""
    spec = Spec("", panel.title, "", (panel,))
    backend_matplotlib.draw_panel(ax, panel)
    names = [*(label for _, label in spec.labels), *spec.references]
    ax.legend(
        backend_matplotlib.handles(spec),
        [backend_matplotlib.shorten(name) for name in names],
        frameon=False,
        handlelength=3.2,
    )
    backend_matplotlib.spell_out(ax)
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure
