"""Curves over several seeds: the mean as a line, and at each point the band of its 95 % confidence
interval (Student's t over the seeds)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Literal, Protocol, Self, TypeVar

import numpy as np

from lightloom.analysis.model import Fabric, LoadPoint
from lightloom.units.intervals import student
from lightloom.units.quantities import Quantity

from .spec import Axis, Figure, Floats, Scale, Series, axis

BINS_PER_DECADE = 2
DEEPEST = 10.0
"""On a logarithmic axis, an interval that includes zero is drawn down to the mean divided by
this."""
Curve = tuple[Floats, Floats]
How = Literal["share", "points", "time"]
#: The caption of figures over several seeds.
TOLD = (
    " Of {seeds} seeds: lines are means, bands their 95 % confidence intervals (Student's t over "
    "the seeds)."
)
TOLD_OF_LOGARITHMS = (
    " A logarithmic axis has no zero: where an interval reaches below a tenth of its mean, its "
    "band ends there, or at the edge."
)
TOLD_OF_FIRST = " Of {seeds} seeds this is the first."
TOLD_OF_MARKS = (
    " Of {seeds} seeds: marks are means, dotted lines their 95 % confidence intervals (Student's "
    "t over the seeds)."
)


class Curved(Protocol):
    """An object with a curve, such as a fabric or columns of its flows; with one for each seed if
    it is repeated."""

    @property
    def label(self) -> str:
        """The label in the legend."""

    @property
    def slot(self) -> int:
        """The index in the palette."""

    @property
    def seeds(self) -> Sequence[Self]:
        """The object of each seed; empty if the run is not repeated."""


C = TypeVar("C", bound=Curved)


def spread(fabric: C, of: Callable[[C], Curve], how: How) -> Iterator[Series]:
    """Yields the curve of a fabric; of several seeds their mean and, where at least two of them
    have a point, its band.

    `how` states how the curves of seeds are combined: a `share` grows from 0 to its final value,
    `points` belong to the same bin of sizes, and a curve over `time` counts until it ends.
    """
    if not fabric.seeds:
        x, y = of(fabric)
        yield Series(fabric.label, x, y, fabric.slot, how == "points")
        return
    curves = [c for seed in fabric.seeds if (c := of(seed))[0].size]
    if not curves:
        return
    x, values = {"share": _shares, "points": _binned, "time": _over_time}[how](curves)
    mean, half = over_rows(values)
    yield Series(fabric.label, x, mean, fabric.slot, how == "points")
    known = np.isfinite(half)
    yield band(fabric, x[known], (mean - half)[known], (mean + half)[known])


def over_rows(values: Floats) -> tuple[Floats, Floats]:
    """Returns the mean of each column over the seeds (rows; NaN if a seed has no value), and half
    of its 95 % interval (NaN if only one seed has a value)."""
    known = np.isfinite(values)
    n = known.sum(axis=0)
    filled = np.where(known, values, 0.0)
    mean = filled.sum(axis=0) / np.maximum(n, 1)
    squares = (np.where(known, values - mean, 0.0) ** 2).sum(axis=0)
    deviation = np.sqrt(squares / np.maximum(n - 1, 1))
    factor = np.array([student(int(k) - 1) / np.sqrt(k) if k > 1 else np.nan for k in n])
    return np.where(n > 0, mean, np.nan), factor * deviation


def band(fabric: Curved, x: Floats, low: Floats, high: Floats) -> Series:
    """Returns the area between two curves over the same x."""
    around = np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])
    return Series(fabric.label, *around, fabric.slot, drawn="band")


def load_bands(
    fabric: Fabric,
    of: Callable[[LoadPoint], float | None],
    known: Callable[[LoadPoint], bool] = lambda _: True,
) -> Iterator[Series]:
    """Yields the bands of a figure over loads, one for each range of loads in which it is known;
    none if nothing is repeated."""
    points = sorted(fabric.sweep, key=lambda p: p.load)
    for is_known, stretch in groupby(points, known):
        over = ((p.load, p.over_seeds(of)) for p in stretch if p.seeds and is_known)
        found = [(load, i) for load, i in over if i is not None and i.half_width is not None]
        if found:
            low, high = ([getattr(i, end) for _, i in found] for end in ("low", "high"))
            x = np.array([load for load, _ in found])
            yield band(fabric, x, np.array(low), np.array(high))


def split(series: Iterable[Series]) -> tuple[list[Series], list[Series]]:
    """Separates lines and bands."""
    every = list(series)
    return [s for s in every if s.drawn != "band"], [s for s in every if s.drawn == "band"]


def drawable(bands: Sequence[Series], scale: Scale) -> list[Series]:
    """Returns the part of the bands that an axis of y can show: values are not negative, and a
    logarithmic axis has no zero."""
    if scale == "linear":
        return [replace(b, y=np.maximum(b.y, 0.0)) for b in bands]
    return [piece for b in bands for piece in above_zero(b)]


def above_zero(around: Series) -> Iterator[Series]:
    """Yields a band down to a tenth of its mean, in a piece for each range in which the mean is
    positive."""
    x, _ = np.split(around.x, 2)
    high, back = np.split(around.y, 2)
    mean = (high + back[::-1]) / 2
    low = np.maximum(back[::-1], mean / DEEPEST)
    positive = mean > 0
    for piece in np.split(np.arange(x.size), np.flatnonzero(np.diff(positive)) + 1):
        if piece.size and positive[piece[0]]:
            yield replace(
                around,
                x=np.concatenate([x[piece], x[piece][::-1]]),
                y=np.concatenate([high[piece], low[piece][::-1]]),
            )


def ends(series: Sequence[Series]) -> list[Series]:
    """Returns the ends of error bars, which an axis must include."""
    made = []
    for s in series:
        if s.error is not None:
            half = np.nan_to_num(s.error)
            made.append(replace(s, y=s.y + half))
            made.append(replace(s, y=np.maximum(s.y - half, s.y / DEEPEST)))
    return made


def around(
    title: str, quantity: Quantity, scale: Scale, lines: Sequence[Series], bands: Sequence[Series]
) -> Axis:
    """Returns an axis of y that includes lines, their error bars and their bands."""
    return axis(title, quantity, scale, [*lines, *ends(lines), *drawable(bands, scale)], "y")


def within(bands: Sequence[Series], x: Axis, y: Axis) -> tuple[Series, ...]:
    """Returns the part of the bands within both axes."""
    return tuple(
        replace(b, x=np.clip(b.x, *x.limits), y=np.clip(b.y, *y.limits))
        for b in drawable(bands, y.scale)
        if b.x.size
    )


def caption_seeds(figure: Figure, seeds: int) -> Figure:
    """Adds the meaning of bands to the caption of a figure."""
    if seeds == 1:
        return figure
    drawn = {s.drawn for panel in figure.panels for s in panel.series if not s.arrow}
    told = TOLD_OF_FIRST if "bars" in drawn else TOLD_OF_MARKS if "dots" in drawn else TOLD
    told += TOLD_OF_LOGARITHMS * any(
        panel.y.scale == "log" and "band" in {s.drawn for s in panel.series}
        for panel in figure.panels
    )
    return replace(figure, caption=figure.caption + told.format(seeds=seeds))


def _shares(curves: Sequence[Curve]) -> tuple[Floats, Floats]:
    every = np.unique(np.concatenate([x for x, _ in curves]))
    most = max(x.size for x, _ in curves)
    kept = np.unique(np.rint(np.linspace(0, every.size - 1, most)).astype(np.int64))
    grid = every[kept]
    return grid, np.array([np.interp(grid, x, y, left=0.0) for x, y in curves])


def _binned(curves: Sequence[Curve]) -> tuple[Floats, Floats]:
    bins = [np.floor(np.log10(x) * BINS_PER_DECADE + 1e-9) for x, _ in curves]
    every = np.unique(np.concatenate(bins))
    sizes = np.full((len(curves), every.size), np.nan)
    values = sizes.copy()
    for row, ((x, y), of) in enumerate(zip(curves, bins, strict=True)):
        place = np.searchsorted(every, of)
        sizes[row, place], values[row, place] = np.log(x), y
    return np.exp(np.nanmean(sizes, axis=0)), values


def _over_time(curves: Sequence[Curve]) -> tuple[Floats, Floats]:
    grid = max((x for x, _ in curves), key=lambda x: float(x[-1]))
    return grid, np.array([np.interp(grid, x, y, right=np.nan) for x, y in curves])
