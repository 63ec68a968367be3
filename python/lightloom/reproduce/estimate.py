"""What was measured with how sure it is: a value and half of its 95 % confidence
interval.

Simulations are finite: a figure near saturation scatters from seed to seed. Errors of
different runs are taken as independent, and add in quadrature. Runs on the same
traffic scatter together, so that the interval of their ratio is too wide rather than
too narrow.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot, inf

from lightloom.intervals import over_runs


@dataclass(frozen=True)
class Estimate:
    """A value between `value - half_width` and `value + half_width`, most likely."""

    value: float
    half_width: float = 0.0

    def times(self, factor: float) -> Estimate:
        """In another unit."""
        return Estimate(self.value * factor, self.half_width * abs(factor))

    def minus(self, other: float) -> Estimate:
        """Less an exact value."""
        return Estimate(self.value - other, self.half_width)

    def over(self, other: Estimate) -> Estimate:
        """Relative to another."""
        if not other.value:
            return Estimate(inf if self.value else 1.0)
        ratio = self.value / other.value
        return Estimate(ratio, hypot(self.half_width, ratio * other.half_width) / abs(other.value))

    def off(self, exact: float) -> Estimate:
        """How far off an exact value, relative to it."""
        return Estimate(abs(self.value / exact - 1), self.half_width / abs(exact))

    def apart(self, other: Estimate) -> Estimate:
        """How far apart from another, relative to that."""
        ratio = self.over(other)
        return Estimate(abs(ratio.value - 1), ratio.half_width)


def most(estimates: Iterable[Estimate]) -> Estimate:
    """The largest, with its interval."""
    return max(estimates, key=lambda e: e.value)


def least(estimates: Iterable[Estimate]) -> Estimate:
    """The smallest, with its interval."""
    return min(estimates, key=lambda e: e.value)


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of independent runs that each have an interval."""
    n = len(estimates)
    width = hypot(*(e.half_width for e in estimates)) / n
    return Estimate(statistics.fmean(e.value for e in estimates), width)


def across(values: Sequence[float]) -> Estimate:
    """The mean of independent runs, with Student's interval from their scatter.

    >>> across([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    Estimate(value=3.5, half_width=1.96...)
    """
    found = over_runs(values)
    if found is None:
        raise ValueError("values = []: a mean needs at least one; give those of a run")
    return Estimate(found.mean, inf if found.half_width is None else found.half_width)
