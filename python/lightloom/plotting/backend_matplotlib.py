"""Figures for papers: SVG and PNG by matplotlib, on white.

The same data give the same bytes: identifiers are derived from the name of the figure, and no date
is written.
"""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Canvas
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from . import style
from .sheet import REPORT, Sheet
from .spec import NIGHT, STAR, Axis, Figure, Panel, Series, spans

PNG_DPI = 200
LEGEND_ROW = 0.19  # inches, for text of 8 pt
INK, FAINT = "#22262b", "#d9dde2"
MAX_LABEL = 40
FONT = "DejaVu Sans"  # part of matplotlib, so that the layout is the same everywhere
FONTS = f"'{FONT}', Verdana, Arial, sans-serif"  # for viewers without it; none is wider

_UP = ((0, 1), (0.45, 0.3), (0.1, 0.3), (0.1, -1), (-0.1, -1), (-0.1, 0.3), (-0.45, 0.3), (0, 1))
# Outlines instead of "$\\uparrow$", which is not parsed without `text.parse_math`.
ARROWS = {"up": Path(_UP, closed=True), "right": Path([(y, x) for x, y in _UP], closed=True)}

SETTINGS: dict[str, Any] = {
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
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
    "lines.scale_dashes": False,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,  # editable text; publishers reject type 3
    "path.simplify_threshold": 0.25,
}
GROWING = (
    *("font.size", "axes.linewidth", "axes.titlesize", "grid.linewidth"),
    *("lines.linewidth", "lines.markersize"),
)
GLYPH_MISSING = r"Glyph \d+ .*missing from "
"""The beginning of matplotlib's warning about a character that a font does not have."""
UNDATED = dict.fromkeys(("Date", "Creator", "Format", "Type"))


def settings(sheet: Sheet = REPORT) -> dict[str, Any]:
    """Returns matplotlib's settings for a sheet; lines scale with the size of the text."""
    larger = sheet.points / SETTINGS["font.size"]
    return SETTINGS | {key: SETTINGS[key] * larger for key in GROWING}


@contextmanager
def drawing(told: Any) -> Iterator[None]:
    """Applies settings in the block and suppresses warnings about characters that `FONT` does not
    have. An SVG contains the character itself; PNG and PDF show a box."""
    with warnings.catch_warnings(), matplotlib.rc_context(told):
        warnings.filterwarnings("ignore", GLYPH_MISSING, UserWarning)
        yield


def with_lacking_letters(labels: Iterable[str]) -> list[str]:
    """Returns the labels with characters that `FONT` does not have."""
    known = get_font(findfont(FontProperties(family=[FONT])))
    return [label for label in labels if not all(map(known.get_char_index, map(ord, label)))]


def render(figure: Figure, salt: str, sheet: Sheet = REPORT) -> tuple[bytes, bytes]:
    """Returns SVG and PNG. `salt` distinguishes the identifiers of SVGs on the same page."""
    svg, png = io.BytesIO(), io.BytesIO()
    told: Any = settings(sheet) | {"svg.hashsalt": salt}
    with drawing(told):
        canvas = laid_out(figure, png, sheet)
        vector: Any = FigureCanvasSVG(canvas)
        vector.print_svg(svg, metadata=UNDATED)
    return tidy(svg.getvalue().decode(), figure.title, salt).encode(), png.getvalue()


def laid_out(figure: Figure, png: io.BytesIO, sheet: Sheet = REPORT) -> Canvas:
    """Lays the figure out and draws it as PNG; the layout then applies to all further formats."""
    canvas = draw(figure, sheet)
    # savefig would draw every picture twice.
    raster: Any = FigureCanvasAgg(canvas)
    raster.print_png(png, metadata={"Software": None})
    canvas.set_layout_engine("none")
    return canvas


def draw(figure: Figure, sheet: Sheet = REPORT, kind: type[Canvas] = Canvas) -> Canvas:
    """Draws the whole figure on a canvas of the given class, with its legend above the panels;
    small multiples have a single title."""
    names = [] if figure.shared else [*(label for _, label in figure.labels), *figure.references]
    names += [NIGHT] if figure.nights else []
    wide, larger = sheet.wide(figure), sheet.points / 8
    columns = legend_columns(names, wide / larger)
    high = sheet.high(figure) + -(-len(names) // columns) * LEGEND_ROW * larger
    canvas = kind(figsize=(wide, high), dpi=PNG_DPI, layout="constrained")
    draw_panels(canvas, figure, sheet)
    if names:
        canvas.legend(
            handles(figure),
            [shorten(n) for n in names],
            loc="outside upper center",
            ncols=columns,
            frameon=False,
            handlelength=3.2,
            columnspacing=1.6,
        )
    spell_out(canvas)
    return canvas


def spell_out(drawn: Artist) -> None:
    """Turns ligatures off: matplotlib's PDF writes a ligature as character 0, which readers
    ignore."""
    for text in drawn.findobj(Text):
        if hasattr(text, "set_fontfeatures"):  # versions before 3.11 have no ligatures
            text.set_fontfeatures(["-liga", "-clig"])


def draw_panels(canvas: Canvas, figure: Figure, sheet: Sheet) -> None:
    """Draws all panels, row by row. If they share axes, only the outer axes have titles."""
    across, count = sheet.across(figure), len(figure.panels)
    places = canvas.subplots(sheet.rows(figure), across, squeeze=False).flat
    for i, axes in enumerate(places):
        if i >= count:
            axes.remove()
            continue
        draw_panel(axes, figure.panels[i])
        if figure.shared and i % across:
            axes.tick_params(labelleft=False)
            axes.set_ylabel("")
        if figure.shared and i + across < count:
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")


def handles(figure: Figure) -> list[Artist]:
    """The legend's symbol of each name."""
    made: list[Artist] = [handle(slot) for slot, _ in figure.labels]
    made += [
        Line2D([], [], color=INK, linewidth=thin(), linestyle=(0, style.REFERENCE_DASH))
        for _ in figure.references
    ]
    return [*made, *([Patch(color=style.NIGHT, linewidth=0)] * figure.nights)]


def thin() -> float:
    """The width of curves that belong to no fabric [points]."""
    return 0.7 * float(matplotlib.rcParams["lines.linewidth"])


def legend_columns(names: Sequence[str], width: float) -> int:
    """The number of legend columns that the longest label allows in a width [inches]."""
    longest = max((min(len(n), MAX_LABEL) for n in names), default=1)
    return max(1, min(len(names), int(width / (0.55 + 0.055 * longest))))


def shorten(label: str, most: int = MAX_LABEL) -> str:
    """Shortens a label that would push the panels off the page."""
    return label if len(label) <= most else label[: most - 1] + "…"


def draw_panel(axes: Axes, panel: Panel) -> None:
    """Draws one pair of axes."""
    axes.set_title(shorten(panel.title, max(12, int(letters(axes) * 0.85))))
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
    """A fabric's line and marker for the legend."""
    look = style.look(slot)
    colour = style.LIGHT[look.colour]
    return Line2D(
        [],
        [],
        color=colour,
        linestyle=(0, look.dash),
        marker=look.marker[1],
    )


def draw_series(axes: Axes, series: Series) -> None:
    """Draws one curve with a marker at every measurement, or with a few markers to identify it."""
    if series.slot is None:
        dash = (0, style.REFERENCE_DASH)
        axes.plot(series.x, series.y, color=INK, linewidth=thin(), linestyle=dash)
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
            elinewidth=thin(),
            capsize=2,
        )
    if series.drawn == "dots":
        line.set_linestyle("none")
    if series.arrow:
        line.set(marker=ARROWS[series.arrow], markersize=1.75 * line.get_markersize())
    elif not series.points and len(series.x):
        stride = max(1, len(series.x) // 7)
        line.set_markevery((min(series.slot * stride // 8, len(series.x) - 1), stride))
    axes.add_line(line)
    for x, y, hollow in zip(series.x, series.y, series.hollow, strict=bool(series.hollow)):
        if hollow:
            dot = handle(series.slot)
            dot.set(data=([x], [y]), markerfacecolor="white")
            axes.add_line(dot)
    for at in zip(series.x, series.y, strict=True) if series.starred else ():
        axes.annotate(STAR, at, xytext=(4, 3), textcoords="offset points", ha="left")


def draw_bars(axes: Axes, series: Series, limits: tuple[float, float]) -> None:
    """Draws the bars within the limits; others are omitted from the file."""
    start, end, y = series.spans
    seen = (end > limits[0]) & (start < limits[1])
    line = Line2D(*spans(start[seen], end[seen], y[seen]))
    line.set(color=style.LIGHT[style.look(series.slot or 0).colour], linewidth=style.BAR_WIDTH / 2)
    line.set_solid_capstyle("butt")
    axes.add_line(line)


def draw_nights(axes: Axes, series: Series, limits: tuple[float, float]) -> None:
    """Draws the nights within the limits, over the whole height."""
    start, end, _ = series.spans
    seen = (end > limits[0]) & (start < limits[1])
    dark = list(zip(start[seen], (end - start)[seen], strict=True))
    axes.broken_barh(
        dark,
        (0, 1),
        transform=axes.get_xaxis_transform(),
        color=style.NIGHT,
        linewidth=0,
        snap=False,  # rounded to pixels, some would vanish and others would become as wide
    )


def draw_aside(axes: Axes, series: Series, colour: str) -> None:
    """Draws a rule or a band."""
    if series.drawn == "rule":
        axes.plot(series.x, series.y, color=colour, linewidth=thin(), linestyle=(0, (1, 2.5)))
    else:
        axes.fill(series.x, series.y, color=colour, alpha=0.18, linewidth=0)


def set_axis(axes: Axes, name: str, axis: Axis) -> None:
    """Sets scale, limits, ticks and title."""
    # Limits are set first; otherwise a scale computes its own, and fails for a single point.
    axes.set(**{f"{name}lim": axis.limits, f"{name}scale": axis.scale, f"{name}label": axis.title})
    drawn = getattr(axes, f"{name}axis")
    ticks = fitting(axis.ticks, letters(axes)) if name == "x" else axis.ticks
    drawn.set_major_locator(FixedLocator([v for v, _ in ticks]))
    drawn.set_major_formatter(FixedFormatter([label for _, label in ticks]))
    drawn.set_minor_locator(NullLocator())


def letters(axes: Axes) -> float:
    """The number of characters of the usual size that fit across."""
    inches = axes.get_window_extent().width / axes.figure.dpi
    return 72 * inches / (0.56 * float(matplotlib.rcParams["font.size"]))


def fitting(ticks: list[tuple[float, str]], room: float) -> list[tuple[float, str]]:
    """Returns every tick, or every second, third, …, so that labels do not overlap [characters]."""
    longest = 2 + max((len(label) for _, label in ticks), default=0)
    return ticks[:: max(1, math.ceil(len(ticks) * longest / max(room, 1)))]


def tidy(svg: str, title: str, salt: str) -> str:
    """Returns a smaller SVG with a title, whose identifiers are unique on a page."""
    svg = re.sub(r"<!--.*?-->\s*|<!DOCTYPE[^>]*>\s*", "", svg, flags=re.DOTALL)
    used = set(re.findall(r"#([\w-]+)", svg))

    def tag(found: re.Match[str]) -> str:
        text = found.group(0)  # of a tag only; the words of labels must not change
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
    """Rounds a path to a hundredth of a point."""
    return re.sub(r"\s+", " ", re.sub(r"(\.\d\d)\d+", r"\1", path))
