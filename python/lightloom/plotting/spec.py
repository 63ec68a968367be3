"""A figure as data, which both back ends draw.

A figure has a caption and panels, side by side if there is space. Values are in base units
(seconds, bytes, fractions), so that ticks can choose their unit: `10 µs`, `1 MB`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lightloom.units import quantities

Floats = NDArray[np.float64]
Scale = Literal["linear", "log"]
Drawn = Literal["line", "dots", "bars", "nights", "rule", "band"]
STAR = "★"
NIGHT = "night (all circuits dark)"
LABEL = 9  # characters of a tick's label, of which five fit
STRETCH_TICKS = (4.5, 2.5)


@dataclass(frozen=True)
class Stretch:
    """A range of time. The page can show any part from 0 to `kept`; the run lasted until `end`
    [s]."""

    kept: float
    end: float

    def part(self, low: float, high: float) -> str:
        """States which part is shown: `time, 100 to 842 µs of 20.6 ms`."""
        if (low, high) == (0.0, self.end):
            return "time"
        name, size = quantities.step_for(high - low, "time")
        places = max(0, 2 - math.floor(math.log10((high - low) / size)))
        first = f"{low / size:,.{places}f}" if low else "0"
        shown = f"{first} to {high / size:,.{places}f}{quantities.GLUE}{name}"
        return f"time, {shown} of {quantities.show(self.end, 'time')}"


@dataclass(frozen=True)
class Axis:
    """One axis: title, quantity, limits and ticks."""

    title: str
    quantity: quantities.Quantity
    scale: Scale
    limits: tuple[float, float]
    names: tuple[str, ...] = ()  # labels of an axis of things, at 0, 1, 2, …
    stretch: Stretch | None = None  # for an axis of time whose limits are only the initial view

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and labels of ticks, with units."""
        if self.names:
            return [(float(i), name) for i, name in enumerate(self.names)]
        if self.stretch:
            return stretch_ticks(*self.limits)
        places = (
            log_ticks(*self.limits)
            if self.scale == "log"
            else linear_ticks(*self.limits, self.quantity)
        )
        return [(p, quantities.tick_label(p, self.quantity)) for p in places]


@dataclass(frozen=True)
class Series:
    """One curve. Without a `slot` it is a reference, not a fabric.

    Bars lie along x and are separated by NaN. Nights are intervals of x in the same form, at all y.
    A rule is a vertical line beside the curve of its slot; a band is an area whose points go around
    it.
    """

    label: str
    x: Floats
    y: Floats
    slot: int | None = None
    points: bool = False  # every point is a measurement and gets a marker
    hollow: tuple[bool, ...] = ()  # points that are not certain, drawn hollow
    starred: bool = False  # whether a star is drawn above each point, to the right
    drawn: Drawn = "line"
    arrow: Literal["", "up", "right"] = ""  # the direction in which the figures of dots lie
    error: Floats | None = None  # half widths of intervals of y; NaN without one

    @property
    def spans(self) -> tuple[Floats, Floats, Floats]:
        """The start, the end and the y of each bar or night."""
        return self.x[0::3], self.x[1::3], self.y[0::3]


def spans(start: Floats, end: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Returns the x and y of bars or nights."""
    gaps = np.full(start.size, np.nan)
    x = np.column_stack([start, end, gaps]).ravel()
    return x, np.column_stack([y, y, gaps]).ravel()


@dataclass(frozen=True)
class Panel:
    """One pair of axes with its curves."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    alone: str = ""  # its title without the figure's title above it, if different

    @property
    def nights(self) -> bool:
        """Whether the panel has nights."""
        return any(s.drawn == "nights" for s in self.series)


@dataclass(frozen=True)
class Figure:
    """A figure of the report."""

    key: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    columns: int = 2  # largest number of panels side by side
    shared: bool = False  # whether all panels have the same axes (small multiples)

    @property
    def across(self) -> int:
        """The number of panels side by side, if there is space."""
        return min(self.columns, len(self.panels))

    @property
    def rows(self) -> int:
        """The number of rows of panels, if there is space."""
        return -(-len(self.panels) // self.across)

    @property
    def labels(self) -> list[tuple[int, str]]:
        """Slots and labels of the fabrics drawn, for the legend."""
        return sorted(
            {(s.slot, s.label) for p in self.panels for s in p.series if s.slot is not None}
        )

    @property
    def references(self) -> list[str]:
        """The names of the reference curves."""
        return sorted({s.label for p in self.panels for s in p.series if s.slot is None})

    @property
    def stretches(self) -> bool:
        """Whether a reader can zoom beyond the initial view of its panels."""
        return any(p.x.stretch for p in self.panels)

    @property
    def nights(self) -> bool:
        """Whether the legend explains nights."""
        return any(p.nights for p in self.panels)


def figure(key: str, title: str, caption: str, panels: Sequence[Panel | None]) -> Figure | None:
    """Returns a figure of the panels that are not None; None if there are none."""
    shown = tuple(p for p in panels if p is not None)
    return Figure(key, title, caption, shown) if shown else None


def extent(series: Iterable[Series], axis: Literal["x", "y"], scale: Scale) -> tuple[float, float]:
    """Returns limits that include all series: from zero if linear, with a margin if logarithmic."""
    values = [np.asarray(getattr(s, axis), dtype=np.float64) for s in series]
    flat = np.concatenate(values) if values else np.empty(0)
    flat = flat[np.isfinite(flat)]
    if scale == "linear":
        top = float(flat.max()) if flat.size else 0.0
        return (0.0, top * 1.06 if top > 0 else 1.0)
    flat = flat[flat > 0]
    if not flat.size:
        return (0.1, 10.0)
    low, high = float(flat.min()), float(flat.max())
    margin = max((high / low) ** 0.04, 1.15 if high > low * 1.5 else 2.0)
    return (low / margin, high * margin)


def axis(
    title: str,
    quantity: quantities.Quantity,
    scale: Scale,
    series: Sequence[Series],
    which: Literal["x", "y"],
    limits: tuple[float, float] | None = None,
) -> Axis:
    """Returns an axis that includes the given series, or has the given limits."""
    return Axis(title, quantity, scale, limits or extent(series, which, scale))


def things(title: str, names: Sequence[str]) -> Axis:
    """Returns a vertical axis of things, the first at the top."""
    return Axis(title, "number", "linear", (len(names) - 0.4, -0.6), tuple(names))


def log_ticks(low: float, high: float) -> list[float]:
    """Returns decades, thinned if there are many; with 1-2-5 or 1-3 between them if there are
    few."""
    if high < 5 * low:
        return linear_ticks(low, high, "number")
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    span = math.log10(high / low)
    digits = (1, 2, 5) if span < 1.6 else (1, 3) if span < 2.4 else (1,)
    stride = max(1, math.ceil(span / 8))
    places = [d * 10.0**e for e in range(first, last + 1, stride) for d in digits]
    return [p for p in places if low <= p <= high]


def linear_ticks(low: float, high: float, quantity: quantities.Quantity) -> list[float]:
    """Returns about five round positions. Bytes and times are round in their own unit."""
    unit = quantities.step_for(high, quantity)[1]
    stride = round_stride((high - low) / unit) * unit
    return [i * stride for i in range(*steps_within(low, high, stride))]


def stretch_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Returns round positions in a range of time, in the unit of their distance: about five, or
    three if they need many digits."""
    unit = quantities.step_for(high - low, "time")[1]
    ticks: list[tuple[float, str]] = []
    for count in STRETCH_TICKS:
        stride = round_stride((high - low) / unit, count) * unit
        name, size = quantities.step_for(stride, "time")
        ticks = [
            (i * stride, f"{i * stride / size:,.12g}{quantities.GLUE}{name}" if i else "0")
            for i in range(*steps_within(low, high, stride))
        ]
        if all(len(label) <= LABEL for _, label in ticks):
            break
    return ticks


def round_stride(length: float, count: float = 4.5) -> float:
    """Returns a round number that divides a length into about `count` parts."""
    rough = length / count
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return power * next(n for n in (1, 2, 2.5, 5, 10) if n * power >= rough * 0.75)


def steps_within(low: float, high: float, stride: float) -> tuple[int, int]:
    """Returns the multiples of a stride from `low` to `high`, as a range."""
    return math.ceil(low / stride - 1e-9), math.floor(high / stride + 1e-9) + 1
