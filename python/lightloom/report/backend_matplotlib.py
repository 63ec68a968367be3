"""Figures for papers: SVG and PNG by matplotlib, on white.

The same data give the same bytes: identifiers are seeded by the figure's name
and no date is written.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from . import style
from .spec import NIGHT, Axis, Figure, Panel, Series, spans

PNG_DPI = 200
WIDTHS = {1: 4.2, 2: 7.2}  # inches: a column, or a page
PANEL_HEIGHT = 2.7
LEGEND_ROW = 0.19
INK, FAINT = "#22262b", "#d9dde2"
MAX_LABEL = 40
FONT = "DejaVu Sans"  # comes with matplotlib: the same layout everywhere
FONTS = f"'{FONT}', Verdana, Arial, sans-serif"  # what a viewer without it may use; none is wider

ARROWS = {"up": "$\\uparrow$", "right": "$\\rightarrow$"}

SETTINGS = {
    "font.family": [FONT],
    "font.size": 8,
    "axes.edgecolor": "#8a9099",
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.scale_dashes": False,
    "svg.fonttype": "none",
    "path.simplify_threshold": 0.25,
}


def render(figure: Figure, salt: str) -> tuple[bytes, bytes]:
    """SVG and PNG. `salt` tells the identifiers of one SVG from another's on the same page."""
    settings: Any = {**SETTINGS, "svg.hashsalt": salt}
    svg, png = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context(settings):
        canvas = draw(figure)
        # Not by savefig, which draws every picture twice.
        raster: Any = FigureCanvasAgg(canvas)
        raster.print_png(png, metadata={"Software": None})
        canvas.set_layout_engine("none")  # the places found for the PNG hold for the SVG
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        vector: Any = FigureCanvasSVG(canvas)
        vector.print_svg(svg, metadata=nothing)
    return tidy(svg.getvalue().decode(), figure.title, salt).encode(), png.getvalue()


def draw(figure: Figure) -> Canvas:
    """The whole figure with its legend above the panels."""
    references = figure.references
    nights = [NIGHT] if figure.nights else []
    names = [*(label for _, label in figure.labels), *references, *nights]
    width = WIDTHS[len(figure.panels)]
    columns = legend_columns(names, width)
    rows = -(-len(names) // columns)
    height = PANEL_HEIGHT + rows * LEGEND_ROW
    canvas = Canvas(figsize=(width, height), dpi=PNG_DPI, layout="constrained")
    for axes, panel in zip(
        canvas.subplots(1, len(figure.panels), squeeze=False)[0], figure.panels, strict=True
    ):
        draw_panel(axes, panel)
    handles: list[Artist] = [handle(slot) for slot, _ in figure.labels]
    handles += [
        Line2D([], [], color=INK, linewidth=1, linestyle=(0, style.REFERENCE_DASH))
        for _ in references
    ]
    handles += [Patch(color=style.NIGHT, linewidth=0) for _ in nights]
    canvas.legend(
        handles,
        [shorten(n) for n in names],
        loc="outside upper center",
        ncols=columns,
        frameon=False,
        handlelength=3.2,
        columnspacing=1.6,
    )
    return canvas


def legend_columns(names: Sequence[str], width: float) -> int:
    """As many columns as the longest label lets fit [width in inches]."""
    longest = max((min(len(n), MAX_LABEL) for n in names), default=1)
    return max(1, min(len(names), int(width / (0.55 + 0.055 * longest))))


def shorten(label: str) -> str:
    """A label that cannot push the panels off the page."""
    return label if len(label) <= MAX_LABEL else label[: MAX_LABEL - 1] + "…"


def draw_panel(axes: Axes, panel: Panel) -> None:
    """One pair of axes."""
    axes.set_title(panel.title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(True)
    axes.set_axisbelow(True)
    for series in panel.series:
        if series.drawn == "bars":
            draw_bars(axes, series, panel.x.limits)
        elif series.drawn == "nights":
            draw_nights(axes, series, panel.x.limits)
        else:
            draw_series(axes, series)
    for name, axis in (("x", panel.x), ("y", panel.y)):
        set_axis(axes, name, axis)


def handle(slot: int) -> Line2D:
    """A fabric's line and marker."""
    look = style.look(slot)
    colour = style.LIGHT[look.colour]
    return Line2D(
        [],
        [],
        color=colour,
        linewidth=1.4,
        linestyle=(0, look.dash),
        marker=look.marker[1],
        markersize=4,
    )


def draw_series(axes: Axes, series: Series) -> None:
    """One curve: with a marker at every measurement, or a few to tell it by."""
    if series.slot is None:
        axes.plot(series.x, series.y, color=INK, linewidth=1, linestyle=(0, style.REFERENCE_DASH))
        return
    if series.drawn in ("rule", "band"):
        draw_aside(axes, series, style.LIGHT[style.look(series.slot).colour])
        return
    line = handle(series.slot)
    line.set_data(series.x, series.y)
    if series.error is not None:
        axes.errorbar(
            series.x,
            series.y,
            yerr=np.nan_to_num(series.error),
            fmt="none",
            ecolor=line.get_color(),
            elinewidth=0.9,
            capsize=2,
        )
    if series.drawn == "dots":
        line.set_linestyle("none")
    if series.arrow:
        line.set(marker=ARROWS[series.arrow], markersize=7)
    elif not series.points and len(series.x):
        stride = max(1, len(series.x) // 7)
        line.set_markevery((min(series.slot * stride // 8, len(series.x) - 1), stride))
    axes.add_line(line)
    for x, y, hollow in zip(series.x, series.y, series.hollow, strict=bool(series.hollow)):
        if hollow:
            dot = handle(series.slot)
            dot.set(data=([x], [y]), markerfacecolor="white")
            axes.add_line(dot)


def draw_bars(axes: Axes, series: Series, limits: tuple[float, float]) -> None:
    """Bars within the limits: no file need hold the others."""
    start, end, y = series.spans
    seen = (end > limits[0]) & (start < limits[1])
    line = Line2D(*spans(start[seen], end[seen], y[seen]))
    line.set(color=style.LIGHT[style.look(series.slot or 0).colour], linewidth=style.BAR_WIDTH / 2)
    line.set_solid_capstyle("butt")
    axes.add_line(line)


def draw_nights(axes: Axes, series: Series, limits: tuple[float, float]) -> None:
    """Nights within the limits, over the whole height."""
    start, end, _ = series.spans
    seen = (end > limits[0]) & (start < limits[1])
    dark = list(zip(start[seen], (end - start)[seen], strict=True))
    axes.broken_barh(
        dark,
        (0, 1),
        transform=axes.get_xaxis_transform(),
        color=style.NIGHT,
        linewidth=0,
        snap=False,  # to the whole pixel, in which some would vanish and others be as wide
    )


def draw_aside(axes: Axes, series: Series, colour: str) -> None:
    """A rule or a band."""
    if series.drawn == "rule":
        axes.plot(series.x, series.y, color=colour, linewidth=0.9, linestyle=(0, (1, 2.5)))
    else:
        axes.fill(series.x, series.y, color=colour, alpha=0.18, linewidth=0)


def set_axis(axes: Axes, name: str, axis: Axis) -> None:
    """Scale, extent, ticks and title."""
    # Limits first: a scale looks for some of its own otherwise, and finds none for one point.
    axes.set(**{f"{name}lim": axis.limits, f"{name}scale": axis.scale, f"{name}label": axis.title})
    drawn = getattr(axes, f"{name}axis")
    drawn.set_major_locator(FixedLocator([v for v, _ in axis.ticks]))
    drawn.set_major_formatter(FixedFormatter([label for _, label in axis.ticks]))
    drawn.set_minor_locator(NullLocator())


def tidy(svg: str, title: str, salt: str) -> str:
    """A smaller SVG, with a title, that can stand beside others in one page."""
    svg = re.sub(r"<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*", "", svg, flags=re.DOTALL)
    used = set(re.findall(r"#([\w-]+)", svg))

    def tag(found: re.Match[str]) -> str:
        text = found.group(0)  # of a tag only: the words of a label are not ours to change
        text = text.replace(f"'{FONT}'", FONTS)
        text = re.sub(r' id="([\w-]+)"', lambda m: m.group(0) if m.group(1) in used else "", text)
        text = re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{salt}-", text)
        return re.sub(r' d="[^"]*"', lambda m: short_path(m.group(0)), text)

    svg = re.sub(r"<[^>]+>", tag, svg)
    name = title.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(
        r"(<svg[^>]*)>", lambda m: f'{m.group(1)} role="img"><title>{name}</title>', svg, count=1
    )


def short_path(path: str) -> str:
    """A path to a hundredth of a point."""
    return re.sub(r"\s+", " ", re.sub(r"(\.\d\d)\d+", r"\1", path))
