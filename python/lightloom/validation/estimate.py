"""A measured value with half of its 95 % confidence interval.

Simulations are finite, so that a figure near saturation varies from seed to seed. Errors of
different runs are assumed to be independent and are added in quadrature. Runs with the same traffic
vary together, so that the interval of their ratio is too wide rather than too narrow.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import hypot, inf, isfinite, sqrt

from lightloom.units.intervals import over_runs, student
from lightloom.validation.of_bounds import marked_as

#: Largest number of additional seeds that is computed; a claim that needs more is out of reach.
OUT_OF_REACH = 1000


@dataclass(frozen=True)
class Estimate:
    """A value that lies between `value - half_width` and `value + half_width` with 95 %
    confidence."""

    value: float
    half_width: float = 0.0
    """Half of the interval; infinite for a single run, which shows no variation."""
    runs: int = 0
    """The number of runs with independent seeds, for a combination of figures the smallest; 0 if
    the value does not depend on chance."""

    def times(self, factor: float) -> Estimate:
        """Returns the value in another unit."""
        return Estimate(self.value * factor, self.half_width * abs(factor), self.runs)

    def minus(self, other: float) -> Estimate:
        """Subtracts an exact value."""
        return Estimate(self.value - other, self.half_width, self.runs)

    def less(self, other: Estimate) -> Estimate:
        """Subtracts another estimate."""
        width = hypot(self.half_width, other.half_width)
        return Estimate(self.value - other.value, width, self._fewer(other))

    def more_runs(self, distance: float) -> int | None:
        """Returns how many more runs would reduce half of the interval to `distance`, with the same
        variation; None if there are more than 1,000, or if the interval is not from runs. For a
        single run, whose variation is unknown, 1.

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
        """The smaller number of runs of two figures, without figures that do not depend on
        chance."""
        return min((n for n in (self.runs, other.runs) if n), default=0)

    def over(self, other: Estimate) -> Estimate:
        """Divides by another estimate."""
        if not other.value:
            return Estimate(inf if self.value else 1.0)
        ratio = self.value / other.value
        width = hypot(self.half_width, ratio * other.half_width) / abs(other.value)
        return Estimate(ratio, width, self._fewer(other))

    def off(self, exact: float) -> Estimate:
        """The relative difference from an exact value."""
        return Estimate(abs(self.value / exact - 1), self.half_width / abs(exact), self.runs)

    def apart(self, other: Estimate) -> Estimate:
        """The relative difference from another estimate."""
        ratio = self.over(other)
        return Estimate(abs(ratio.value - 1), ratio.half_width, ratio.runs)


def most(estimates: Iterable[Estimate]) -> Estimate:
    """Returns the largest estimate, with its interval."""
    return max(estimates, key=lambda e: e.value)


def least(estimates: Iterable[Estimate]) -> Estimate:
    """Returns the smallest estimate, with its interval."""
    return min(estimates, key=lambda e: e.value)


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """Returns the mean of independent runs that each have an interval."""
    n = len(estimates)
    width = hypot(*(e.half_width for e in estimates)) / n
    values = [e.value for e in estimates]
    return Estimate(marked_as(values, statistics.fmean(values)), width, n)


def across(values: Sequence[float]) -> Estimate:
    """Returns the mean of independent runs, with Student's interval.

    >>> across([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    Estimate(value=3.5, half_width=1.96..., runs=6)
    """
    found = over_runs(values)
    if found is None:
        raise ValueError("values = []: a mean needs at least one; give those of a run")
    width = inf if found.half_width is None else found.half_width
    return Estimate(marked_as(values, found.mean), width, found.n)
