"""Distributions on axes of your own: columns in, the axes out.

Curves have the colours, dashes and markers of the report, in the order in which they are
named; letters and lines have the sizes of matplotlib's settings. Nothing here opens
a window, reads a file or keeps a state.

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
    """Draws the share of flows that took no longer, against the time.

    Args:
        axes: Where to draw; its limits, scales and ticks are set.
        times: Label → completion times [s] of its flows; NaN of one that did not arrive.
        slots: Label → place in the palette, from 0; in the order of `times` unless given.
        title: What stands above.

    Raises:
        ValueError: No flow of any label arrived.
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
    """Draws the share of flows that took at least as long, on logarithmic axes.

    Args:
        axes: Where to draw; its limits, scales and ticks are set.
        times: Label → completion times [s] of its flows; NaN of one that did not arrive.
        least: Label → what the same flows took at the least [s], for instance their age when
            the run ended: what is certain is drawn dotted. Without it a flow that did not
            arrive is taken to be slower than all others.
        slots: Label → place in the palette, from 0; in the order of `times` unless given.
        title: What stands above.

    Raises:
        ValueError: No flow of any label arrived, or `least` has another length than `times`.
    """
    return _drawn(axes, complementary, flows_of(times, least, slots), title)


def flows_of(
    times: Columns, least: Columns | None = None, slots: Mapping[str, int] | None = None
) -> list[Flows]:
    """Columns as the report has them."""
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
