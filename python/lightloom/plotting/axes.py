"""Distributions on given axes: columns in, axes out.

Curves have the colours, dashes and markers of the report, in the order in which they are named;
text and lines have the sizes of matplotlib's settings. No function opens a window, reads a file or
keeps a state.

    >>> from matplotlib.figure import Figure
    >>> canvas = Figure(figsize=(3.33, 2.2), layout="constrained")
    >>> axes = draw_ccdf(canvas.subplots(), {"sirius": [2e-6, 3e-6, 9e-6]})
    >>> axes.get_xscale(), axes.get_yscale()
    ('log', 'log')
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lightloom.plotting.backend_matplotlib import draw_panel, spell_out
from lightloom.plotting.distributions import Flows, complementary, cumulative
from lightloom.plotting.spec import Panel

Columns = Mapping[str, ArrayLike]


def draw_cdf(
    axes: Axes, times: Columns, *, slots: Mapping[str, int] | None = None, title: str = ""
) -> Axes:
    """Draws the share of flows that took no longer than a time, against the time.

    Args:
        axes: The axes to draw on; their limits, scales and ticks are set.
        times: Label → completion times [s] of its flows; NaN for unfinished flows.
        slots: Label → index in the palette, from 0. Default: the order of `times`.
        title: The title above the axes.

    Raises:
        ValueError: No flow of any label finished.
    """
    return _drawn(axes, cumulative, flows_of(times, None, slots), title)


def draw_ccdf(
    axes: Axes,
    times: Columns,
    *,
    least: Columns | None = None,
    slots: Mapping[str, int] | None = None,
    title: str = "",
) -> Axes:
    """Draws the share of flows that took at least a time, on logarithmic axes.

    Args:
        axes: The axes to draw on; their limits, scales and ticks are set.
        times: Label → completion times [s] of its flows; NaN for unfinished flows.
        least: Label → lower limits of the times of the same flows [s], for instance their age when
            the run ended; the share that is certain is drawn dotted. Without it, an unfinished flow
            is assumed to be slower than all others.
        slots: Label → index in the palette, from 0. Default: the order of `times`.
        title: The title above the axes.

    Raises:
        ValueError: No flow of any label finished, or `least` and `times` differ in length.
    """
    return _drawn(axes, complementary, flows_of(times, least, slots), title)


def flows_of(
    times: Columns, least: Columns | None = None, slots: Mapping[str, int] | None = None
) -> list[Flows]:
    """Converts the columns to the report's form."""
    made = []
    for place, (label, column) in enumerate(times.items()):
        took = np.asarray(column, dtype=np.float64)
        known = (least or {}).get(label)
        bound = np.nan_to_num(took) if known is None else np.asarray(known, dtype=np.float64)
        if bound.shape != took.shape:
            text = f"least of {label} has {bound.size} rows, times has {took.size}"
            raise ValueError(f"{text}: give a row for each flow")
        made.append(Flows(label, (slots or {}).get(label, place), took, bound))
    return made


def _drawn(
    axes: Axes,
    panel: Callable[[str, Sequence[Flows]], Panel | None],
    flows: Sequence[Flows],
    title: str,
) -> Axes:
    made = panel(title, flows)
    if made is None:
        named = ", ".join(f.label for f in flows) or "times = {}"
        raise ValueError(f"{named}: no flow arrived, so there is no distribution to draw")
    draw_panel(axes, made)
    spell_out(axes)
    return axes
