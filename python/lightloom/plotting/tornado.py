"""The sensitivity of capital to prices as a figure: the capital of a fabric over the range of each
price."""

from __future__ import annotations

import io
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lightloom.costs.pricing import FabricCost
from lightloom.costs.tornado import Bar, sensitivity
from lightloom.plotting.backend_matplotlib import drawing

_BAR, _MARGIN = 0.3, 1.3
_LOW, _HIGH = "#2a78d6", "#eb6834"


def figure(costs: Sequence[FabricCost], currency: str) -> Figure:
    """Draws the bars of several fabrics as a matplotlib figure with a panel for each."""
    bars = {cost.label: sensitivity(cost) for cost in costs}
    heights = [max(1, len(found)) * _BAR + _MARGIN for found in bars.values()]
    made = Figure(figsize=(7.2, sum(heights)), layout="constrained")
    axes = made.subplots(len(bars), 1, squeeze=False, gridspec_kw={"height_ratios": heights})
    for ax, cost in zip(axes[:, 0], costs, strict=True):
        _panel(ax, cost, bars[cost.label], currency)
    return made


def _panel(axes: Axes, cost: FabricCost, bars: list[Bar], currency: str) -> None:
    base = float(cost.form.at(cost.prices.middles()))
    scale, unit = (1e6, f"million {currency}") if base >= 1e6 else (1.0, currency)
    for row, bar in enumerate(bars):
        for end, colour in ((bar.capital.low, _LOW), (bar.capital.high, _HIGH)):
            hatch = None if bar.published else "////"
            width = (float(end) - base) / scale
            axes.barh(row, width, 0.7, base / scale, color=colour, hatch=hatch, edgecolor="white")
    axes.set_yticks(range(len(bars)), [_name(bar) for bar in bars])
    axes.invert_yaxis()
    axes.axvline(base / scale, color="#333333", linewidth=0.8)
    axes.set_title(f"{cost.label}: capital at {cost.book.name}", loc="left", fontsize=10)
    axes.set_xlabel(unit)
    axes.ticklabel_format(axis="x", useOffset=False, style="plain")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _name(bar: Bar) -> str:
    """The part of a bar, and the parts whose prices change with it."""
    name = "\nwith ".join((bar.part, ", ".join(bar.tied))) if bar.tied else bar.part
    return name if bar.published else f"{name} (±25 %)"


def svg(costs: Sequence[FabricCost], currency: str) -> str:
    """Returns the figure as SVG; the same costs give the same bytes."""
    text = io.StringIO()
    with drawing({"svg.hashsalt": "tornado", "svg.fonttype": "none"}):
        figure(costs, currency).savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
