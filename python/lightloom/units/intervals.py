"""Means over independent runs with confidence intervals.

The interval is Student's over the runs. It contains the true mean in 19 of 20 cases if the figures
of the runs are normally distributed. Each run is a complete simulation with its own seed, so that
no part of a run has to be independent of another.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

CONFIDENCE = 0.95
"""Probability that the interval contains the true mean."""
LEVEL = 0.03
"""Two figures that differ by less than this share are treated as equal."""


@dataclass(frozen=True)
class Interval:
    """The mean of a figure over runs, and half of its 95 % confidence interval.

    >>> Interval(10.0, 0.5, 5).low
    9.5
    """

    mean: float
    """The mean, in the unit of the figure."""
    half_width: float | None
    """Half of the interval, in the unit of the figure; None if only one run has the figure."""
    n: int
    """The number of runs that have the figure."""

    @property
    def low(self) -> float:
        """Lower end of the interval; the mean itself if there is no interval."""
        return self.mean - (self.half_width or 0.0)

    @property
    def high(self) -> float:
        """Upper end of the interval; the mean itself if there is no interval."""
        return self.mean + (self.half_width or 0.0)

    def overlaps(self, other: Interval) -> bool:
        """Whether both means may be equal; always true if one of them has no interval."""
        if self.half_width is None or other.half_width is None:
            return True
        return self.low <= other.high and other.low <= self.high

    def to_json(self) -> dict[str, float | int | None]:
        """Returns the form that results store."""
        return {"mean": self.mean, "half_width": self.half_width, "n": self.n}


NOISE = 1e-12
"""A smaller half of an interval, relative to its mean, is rounding."""


def over_runs(values: Iterable[float | None]) -> Interval | None:
    """Returns the mean of a figure over runs with its interval; None if no run has the figure. Runs
    without the figure (None) count neither in the mean nor in `n`.

    >>> over_runs([1.0, 2.0, 3.0, None])
    Interval(mean=2.0, half_width=2.48..., n=3)
    >>> over_runs([7.0])
    Interval(mean=7.0, half_width=None, n=1)
    """
    known = [float(v) for v in values if v is not None and math.isfinite(v)]
    n = len(known)
    if n == 0:
        return None
    mean = statistics.fmean(known)
    if n == 1:
        return Interval(mean, None, 1)
    half = student(n - 1) * statistics.stdev(known) / math.sqrt(n)
    return Interval(mean, half if half > NOISE * abs(mean) else 0.0, n)


@cache
def student(freedom: int) -> float:
    """Returns the 97.5 % quantile of Student's t distribution, by bisection.

    >>> round(student(4), 3)
    2.776
    """
    low, high = 1.9, 13.0  # the quantiles of infinitely many degrees of freedom, and of one
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if _within(middle, freedom) < CONFIDENCE:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """Returns the probability that |T| ≤ t (Abramowitz and Stegun, Handbook of Mathematical
    Functions, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(2 + odd, freedom + 1, 2):
        total += term
        term *= (k - 1) / k * cosine * cosine
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


FINEST_PLACES = 6
"""Largest number of decimals; smaller intervals are shown with an exponent."""


def plus_minus(mean: float, half: float) -> str:
    """Formats a figure and half of its interval in the same unit: the interval with two digits, the
    figure with the same number of decimals.

    >>> plus_minus(956.2, 183.0), plus_minus(9.6712, 0.638), plus_minus(1.4284, 0.0521)
    ('956 ± 180', '9.67 ± 0.64', '1.428 ± 0.052')
    >>> plus_minus(2.5, 0.1), plus_minus(12_345.6, 1_270.0), plus_minus(3.0, 4e-9)
    ('2.50 ± 0.10', '12,346 ± 1,300', '3 ± 4e-09')
    """
    rounded = float(f"{half:.2g}")
    places = max(0, 1 - math.floor(math.log10(rounded))) if rounded > 0 else 0
    if places > FINEST_PLACES:
        return f"{mean:.6g} ± {half:.2g}"
    return f"{mean:,.{places}f} ± {rounded:,.{places}f}"
