"""A figure as data: what both back ends draw.

A figure has its panels under one caption, side by side where there is room. Values are in
base units (seconds, bytes, shares), so that a tick can say `10 µs` or `1 MB` by itself.
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
LABEL = 9  # letters of a tick's label, of which five find room
STRETCH_TICKS = (4.5, 2.5)


@dataclass(frozen=True)
class Stretch:
    """Time of which a page shows any part from 0 to `kept`; the run went on to `end` [s]."""

    kept: float
    end: float

    def part(self, low: float, high: float) -> str:
        """Which part is shown: `time, 100 to 842 µs of 20.6 ms`."""
        if (low, high) == (0.0, self.end):
            return "time"
        name, size = quantities.step_for(high - low, "time")
        places = max(0, 2 - math.floor(math.log10((high - low) / size)))
        first = f"{low / size:,.{places}f}" if low else "0"
        shown = f"{first} to {high / size:,.{places}f}{quantities.GLUE}{name}"
        return f"time, {shown} of {quantities.show(self.end, 'time')}"


@dataclass(frozen=True)
class Axis:
    """One axis: its meaning, its extent and where its ticks stand."""

    title: str
    quantity: quantities.Quantity
    scale: Scale
    limits: tuple[float, float]
    names: tuple[str, ...] = ()  # of an axis of things: they stand at 0, 1, 2, …
    stretch: Stretch | None = None  # of an axis of time whose limits are where a page opens

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Positions and labels, units included."""
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

    Bars lie along x; NaN parts one from the next. Nights are stretches of x in the same
    way, at all y. A rule is a vertical line beside the curve of its slot, a band an area
    with its points around it.
    """

    label: str
    x: Floats
    y: Floats
    slot: int | None = None
    points: bool = False  # every point is a measurement that deserves a marker
    hollow: tuple[bool, ...] = ()  # points to be taken with care, drawn hollow
    starred: bool = False  # whether a star stands above each point, to the right
    drawn: Drawn = "line"
    arrow: Literal["", "up", "right"] = ""  # of dots: where the figure lies, beyond them
    error: Floats | None = None  # half widths of intervals of y; NaN where there is none

    @property
    def spans(self) -> tuple[Floats, Floats, Floats]:
        """Of bars and nights: from where, to where, at which y."""
        return self.x[0::3], self.x[1::3], self.y[0::3]


def spans(start: Floats, end: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The x and y of bars or nights."""
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
    alone: str = ""  # its title where the figure's is not above it, if another

    @property
    def nights(self) -> bool:
        """Whether it has any."""
        return any(s.drawn == "nights" for s in self.series)


@dataclass(frozen=True)
class Figure:
    """A figure of the report."""

    key: str
    title: str
    caption: str
    panels: tuple[Panel, ...]
    columns: int = 2  # panels side by side, at most
    shared: bool = False  # whether all panels have the same axes: small multiples

    @property
    def across(self) -> int:
        """Panels side by side where there is room."""
        return min(self.columns, len(self.panels))

    @property
    def rows(self) -> int:
        """Rows of panels where there is room."""
        return -(-len(self.panels) // self.across)

    @property
    def labels(self) -> list[tuple[int, str]]:
        """Slots and labels of the fabrics drawn, for the legend."""
        return sorted(
            {(s.slot, s.label) for p in self.panels for s in p.series if s.slot is not None}
        )

    @property
    def references(self) -> list[str]:
        """Names of the reference curves."""
        return sorted({s.label for p in self.panels for s in p.series if s.slot is None})

    @property
    def stretches(self) -> bool:
        """Whether its panels can be zoomed over more than they open on."""
        return any(p.x.stretch for p in self.panels)

    @property
    def nights(self) -> bool:
        """Whether the legend explains nights."""
        return any(p.nights for p in self.panels)


def figure(key: str, title: str, caption: str, panels: Sequence[Panel | None]) -> Figure | None:
    """A figure of the panels that have something to show."""
    shown = tuple(p for p in panels if p is not None)
    return Figure(key, title, caption, shown) if shown else None


def extent(series: Iterable[Series], axis: Literal["x", "y"], scale: Scale) -> tuple[float, float]:
    """Limits that hold all series: from zero if linear, with a margin if logarithmic."""
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
    """An axis around the given series, or of the given limits."""
    return Axis(title, quantity, scale, limits or extent(series, which, scale))


def things(title: str, names: Sequence[str]) -> Axis:
    """A vertical axis of things, the first on top."""
    return Axis(title, "number", "linear", (len(names) - 0.4, -0.6), tuple(names))


def log_ticks(low: float, high: float) -> list[float]:
    """Decades, thinned if many; 1-2-5 or 1-3 between them if few."""
    if high < 5 * low:
        return linear_ticks(low, high, "number")
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    span = math.log10(high / low)
    digits = (1, 2, 5) if span < 1.6 else (1, 3) if span < 2.4 else (1,)
    stride = max(1, math.ceil(span / 8))
    places = [d * 10.0**e for e in range(first, last + 1, stride) for d in digits]
    return [p for p in places if low <= p <= high]


def linear_ticks(low: float, high: float, quantity: quantities.Quantity) -> list[float]:
    """About five round places. Bytes and times are round in their own unit."""
    unit = quantities.step_for(high, quantity)[1]
    stride = round_stride((high - low) / unit) * unit
    return [i * stride for i in range(*steps_within(low, high, stride))]


def stretch_ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round places in a stretch of time, in one unit, that of their distance: about five, or
    three where they need many digits."""
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
    """A round number that goes into a length about `count` times."""
    rough = length / count
    power = 10.0 ** math.floor(math.log10(rough)) if rough > 0 else 1.0
    return power * next(n for n in (1, 2, 2.5, 5, 10) if n * power >= rough * 0.75)


def steps_within(low: float, high: float, stride: float) -> tuple[int, int]:
    """The multiples of a stride from low to high, as a range."""
    return math.ceil(low / stride - 1e-9), math.floor(high / stride + 1e-9) + 1
