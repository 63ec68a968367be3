"""Figures for the page: traces and axes in Plotly's form.

The page sets colours and positions of panels, because they depend on its theme and width: a trace
has the slot of its fabric in `meta`, and axes are listed for each panel. Circuits and nights are
columns of integer picoseconds; the page draws the visible part.
"""

from __future__ import annotations

import html
import math
from typing import Any

import numpy as np

from lightloom.analysis.model import PS
from lightloom.units import quantities

from . import style
from .spec import NIGHT, STAR, Axis, Figure, Floats, Series

ARROW = 11  # px
HOVER_UNITS = {"time": ":.3s}s", "bytes": ":.3s}B", "share": ":.1%}", "number": ":.3g}"}


def render(figure: Figure) -> dict[str, Any]:
    """Converts a figure to JSON values."""
    traces = [
        trace(s, number, panel.x, panel.y)
        for number, panel in enumerate(figure.panels, start=1)
        for s in panel.series
    ]
    titles = [html.escape(p.title, quote=False) for p in figure.panels]
    panels = [
        {"title": title, "x": axis(p.x), "y": axis(p.y)}
        for title, p in zip(titles, figure.panels, strict=True)
    ]
    return {
        "key": figure.key,
        "title": figure.title,
        "data": traces,
        "panels": panels,
        "columns": figure.across,
        "shared": figure.shared,
    }


def trace(series: Series, panel: int, x: Axis, y: Axis) -> dict[str, Any]:
    """Converts one curve; `panel` counts from 1."""
    number = "" if panel == 1 else str(panel)
    label = html.escape(series.label, quote=False)  # Plotly interprets some HTML in names
    if series.drawn in ("bars", "nights"):
        places = {"xaxis": f"x{number}", "yaxis": f"y{number}", "meta": {"slot": series.slot}}
        name = NIGHT if series.drawn == "nights" else label
        return {"name": name, series.drawn: columns(series), **places}
    made: dict[str, Any] = {
        "type": "scatter",
        "name": label,
        "x": numbers(series.x, 5),
        "y": numbers(series.y, 4),
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
        "hovertemplate": f"%{{x{HOVER_UNITS[x.quantity]}, %{{y{HOVER_UNITS[y.quantity]}",
        "meta": {"slot": series.slot},
    }
    if series.slot is None:
        dash = ",".join(f"{d:g}px" for d in style.REFERENCE_DASH)
        return made | {
            "mode": "lines",
            "line": {"width": 1.5, "dash": dash},
            "hoverinfo": "skip",
            "hovertemplate": None,
        }
    if y.names:
        made["text"] = [y.names[int(v)] if math.isfinite(v) else None for v in series.y]
        made["hovertemplate"] = f"%{{x{HOVER_UNITS[x.quantity]}, %{{text}}"
    look = style.look(series.slot)
    if series.drawn in ("rule", "band"):
        return made | aside(series.drawn, series.slot)
    if series.error is not None:
        made["error_y"] = {
            "type": "data",
            "array": numbers(series.error, 3),
            "thickness": 1.2,
            "width": 3,
        }
    dash = ",".join(f"{d:g}px" for d in look.dash) or "solid"
    marker: dict[str, Any] = {"symbol": look.marker[0], "size": 8}
    if any(series.hollow):
        marker["symbol"] = [look.marker[0] + "-open" * h for h in series.hollow]
        marker["line"] = {"width": style.LINE_WIDTH}
    if series.arrow:
        marker |= {"symbol": f"arrow-{series.arrow}", "size": ARROW}
    elif not series.points:
        marker["maxdisplayed"] = 7
    if series.starred:
        made |= {"text": [STAR] * series.x.size, "textposition": "top right"}
    mode = "markers" if series.drawn == "dots" else "lines+markers"
    return made | {
        "mode": f"{mode}+text" if series.starred else mode,
        "line": {"width": style.LINE_WIDTH, "dash": dash},
        "marker": marker,
    }


def columns(series: Series) -> dict[str, list[int]]:
    """Returns the columns of bars and nights in order [ps]: the distance from the start of the one
    before, the length, and for bars the row."""
    start, end, row = series.spans
    since, until = (np.rint(moments / PS).astype(np.int64) for moments in (start, end))
    made = {"after": np.diff(since, prepend=0).tolist(), "length": (until - since).tolist()}
    return made if series.drawn == "nights" else made | {"row": row.astype(int).tolist()}


def aside(drawn: str, slot: int) -> dict[str, Any]:
    """Settings of a curve that has no entry in the legend and no hover text."""
    rule = drawn == "rule"
    return {
        "mode": "lines",
        "line": {"width": 1.5 if rule else 0, "dash": "2px,3px" if rule else "solid"},
        "fill": "none" if rule else "toself",
        "hoverinfo": "skip",
        "hovertemplate": None,
        "meta": {"slot": slot, "aside": True},
    }


def axis(axis: Axis) -> dict[str, Any]:
    """Converts an axis; limits of a logarithmic axis are exponents, as Plotly requires."""
    low, high = axis.limits
    ticks = axis.ticks
    made: dict[str, Any] = {
        "title": axis.title,
        "type": axis.scale,
        "range": [math.log10(low), math.log10(high)] if axis.scale == "log" else [low, high],
        "tickvals": [float(f"{v:.6g}") for v, _ in ticks],
        "ticktext": [label for _, label in ticks],
    }
    if axis.names:
        made["named"] = True  # the page reserves space for the names
    if axis.stretch:
        made["stretch"] = [axis.stretch.kept, axis.stretch.end]
    # Formats of the ticks that Plotly chooses when the reader zooms in.
    if axis.quantity == "share":
        made["tickformat"] = ".3~%"
    elif axis.quantity != "number":
        made |= {
            "exponentformat": "SI",
            "ticksuffix": quantities.steps(axis.quantity)[-1][0].replace("ps", "s"),
        }
    return made


def numbers(values: Floats, significant: int) -> list[float | int | None]:
    """Shortens decimals; invisible digits are omitted from a page."""
    made: list[float | int | None] = []
    for value in np.asarray(values, dtype=np.float64):
        short = float(f"{value:.{significant - 1}e}")
        made.append(
            None if not math.isfinite(short) else int(short) if short.is_integer() else short
        )
    return made
