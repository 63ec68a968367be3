"""The figure of clocks: the deviation over time, and the contribution of each term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter
from numpy.typing import NDArray

from lightloom.plotting.picture import SETTINGS, Picture
from lightloom.plotting.style import LIGHT, REFERENCE_DASH

if TYPE_CHECKING:
    from lightloom.devices.clock.results import Synchronisation

#: Largest number of points of a curve; with more, the largest of each interval is drawn.
POINTS = 1_500
PS_PER = {"h": 3.6e15, "s": 1e12, "ms": 1e9, "µs": 1e6}
Floats = NDArray[np.float64]


def draw(found: Synchronisation) -> Picture:
    """Draws the day if there is one, the epochs, and the terms if they were run."""
    parts = found.summary["contributions"]
    day = found.day_samples
    panels = 1 + (day is not None) + bool(parts)
    with matplotlib.rc_context(SETTINGS):
        canvas = Picture(figsize=(3.6 * panels, 2.9), layout="constrained")
        axes = iter(np.atleast_1d(canvas.subplots(1, panels)))
        if day is not None:
            step = found.config["day"]["step"]
            draw_samples(next(axes), day, f"A day, means over {step}")
        worst = "The day's worst moment" if day is not None else "Epoch by epoch"
        draw_samples(next(axes), found.samples, worst)
        if parts:
            draw_terms(next(axes), parts)
    return canvas


def draw_samples(axes: Axes, samples: pa.Table, title: str) -> None:
    """Draws the largest deviation of any two nodes, with and without their means."""
    time = samples["time_ps"].to_numpy().astype(float)
    unit = next((name for name, ps in PS_PER.items() if time[-1] >= 2 * ps), "µs")
    curves = (("deviation_ps", "between any two nodes"), ("wander_ps", "about their means"))
    for slot, (name, label) in enumerate(curves):
        at, most = thinned(time / PS_PER[unit], samples[name].to_numpy())
        axes.plot(at, most, color=LIGHT[slot], label=label)
    axes.axhline(5.0, color="#777777", linewidth=0.9, dashes=REFERENCE_DASH, label="5 ps (Sirius)")
    axes.set(title=title, xlabel=f"time [{unit}]", ylabel="largest deviation [ps]")
    axes.set_xlim(left=0.0)
    axes.set_ylim(bottom=0.0)
    axes.grid(True)
    axes.legend(frameon=False)


def thinned(at: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Reduces a curve to `POINTS` points: the end of each interval, and the largest value in it."""
    stride = -(-len(values) // POINTS)
    if stride <= 1:
        return at, values
    starts = np.arange(0, len(values), stride)
    ends = np.minimum(starts + stride, len(values)) - 1
    return at[ends], np.maximum.reduceat(values, starts)


def draw_terms(axes: Axes, parts: list[dict[str, Any]]) -> None:
    """Draws the contribution of each term alone, the largest at the top."""
    shown = sorted(parts, key=lambda part: max(part["alone_ps"], part["day_alone_ps"] or 0.0))
    names = [part["term"].replace("-", " ") for part in shown]
    rows = np.arange(len(shown))
    day = any(part["day_alone_ps"] is not None for part in shown)
    height = 0.38 if day else 0.7
    axes.barh(rows, [p["alone_ps"] for p in shown], height, color=LIGHT[0], label="epoch by epoch")
    if day:
        of_day = [part["day_alone_ps"] or 0.0 for part in shown]
        axes.barh(rows - height, of_day, height, color=LIGHT[1], label="means of a day")
        axes.legend(frameon=False)
    axes.set_yticks(rows, names)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set(title="Each term alone", xlabel="largest deviation [ps]")
    axes.grid(True, axis="x")
