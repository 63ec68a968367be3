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
from math import hypot, inf, isfinite, sqrt

from lightloom.units.intervals import over_runs, student
from lightloom.validation.of_bounds import marked_as

#: So many more seeds are counted out; what takes more is out of reach.
OUT_OF_REACH = 1000


@dataclass(frozen=True)
class Estimate:
    """A value between `value - half_width` and `value + half_width`, most likely."""

    value: float
    half_width: float = 0.0
    """Infinite of a single run, which says nothing of its scatter."""
    runs: int = 0
    """How many runs of independent seeds it is from, the fewest where it is of several
    figures; 0 where no chance is in it."""

    def times(self, factor: float) -> Estimate:
        """In another unit."""
        return Estimate(self.value * factor, self.half_width * abs(factor), self.runs)

    def minus(self, other: float) -> Estimate:
        """Less an exact value."""
        return Estimate(self.value - other, self.half_width, self.runs)

    def less(self, other: Estimate) -> Estimate:
        """Less another."""
        width = hypot(self.half_width, other.half_width)
        return Estimate(self.value - other.value, width, self._fewer(other))

    def more_runs(self, distance: float) -> int | None:
        """How many more runs would make half of the interval as narrow as `distance`, if they
        scatter as these do; None beyond 1,000, and where the interval is not of runs. A single
        run says nothing of that: one more.

        >>> Estimate(1.0, 0.4, 4).more_runs(0.2)
        6
        """
        if not self.runs:
            return None
        if not isfinite(self.half_width):
            return 1
        have = max(self.runs, 2)
        scatter = self.half_width * sqrt(have) / student(have - 1)
        for more in range(1, OUT_OF_REACH + 1):
            if student(have + more - 1) * scatter / sqrt(have + more) <= distance:
                return more
        return None

    def _fewer(self, other: Estimate) -> int:
        """The fewer runs of two figures, of those in which there is chance."""
        return min((n for n in (self.runs, other.runs) if n), default=0)

    def over(self, other: Estimate) -> Estimate:
        """Relative to another."""
        if not other.value:
            return Estimate(inf if self.value else 1.0)
        ratio = self.value / other.value
        width = hypot(self.half_width, ratio * other.half_width) / abs(other.value)
        return Estimate(ratio, width, self._fewer(other))

    def off(self, exact: float) -> Estimate:
        """How far off an exact value, relative to it."""
        return Estimate(abs(self.value / exact - 1), self.half_width / abs(exact), self.runs)

    def apart(self, other: Estimate) -> Estimate:
        """How far apart from another, relative to that."""
        ratio = self.over(other)
        return Estimate(abs(ratio.value - 1), ratio.half_width, ratio.runs)


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
    values = [e.value for e in estimates]
    return Estimate(marked_as(values, statistics.fmean(values)), width, n)


def across(values: Sequence[float]) -> Estimate:
    """The mean of independent runs, with Student's interval from their scatter.

    >>> across([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    Estimate(value=3.5, half_width=1.96..., runs=6)
    """
    found = over_runs(values)
    if found is None:
        raise ValueError("values = []: a mean needs at least one; give those of a run")
    width = inf if found.half_width is None else found.half_width
    return Estimate(marked_as(values, found.mean), width, found.n)
