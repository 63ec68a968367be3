"""Money and power as exact intervals, and what fabrics cost as sums over parts.

All numbers are fractions: cents do not drift. An interval is what a source gives as a range.
A `Form` says how many of each part something takes; where two forms share a part, its price is
the same in both, so that the interval of their ratio or difference is as narrow as it can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

Number = int | Fraction | Decimal


@dataclass(frozen=True)
class Range:
    """An interval with both ends, which are equal where a figure is certain.

    >>> Range.of(2) + Range.of(1, 3)
    Range(low=Fraction(3, 1), high=Fraction(5, 1))
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, low: Number, high: Number | None = None) -> Range:
        """The interval of these ends, or of one number.

        Raises:
            ValueError: if the ends are the wrong way round.
        """
        made = cls(Fraction(low), Fraction(low if high is None else high))
        if made.low > made.high:
            raise ValueError(f"{made.low} is above {made.high}")
        return made

    @property
    def certain(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    @property
    def middle(self) -> Fraction:
        """Half way between the ends."""
        return (self.low + self.high) / 2

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __mul__(self, factor: Number) -> Range:
        """Times a number that both ends share."""
        ends = self.low * Fraction(factor), self.high * Fraction(factor)
        return Range(min(ends), max(ends))

    def __truediv__(self, divisor: Number) -> Range:
        return self * (1 / Fraction(divisor))

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | Fraction | Decimal) and self.low <= number <= self.high


NOTHING = Range(Fraction(0), Fraction(0))
Prices = Mapping[str, Range]


@dataclass(frozen=True)
class Form:
    """How many of each part; worth Σ count × price. Parts are independent of each other."""

    counts: Mapping[str, Fraction]

    def value(self, prices: Prices) -> Range:
        """What it is worth.

        Raises:
            KeyError: of a part that has no price.
        """
        total = NOTHING
        for part, count in self.counts.items():
            if count:
                total += prices[part] * count
        return total

    def at(self, prices: Mapping[str, Fraction]) -> Fraction:
        """What it is worth where every price is one number."""
        return sum((n * prices[part] for part, n in self.counts.items() if n), Fraction(0))

    def minus(self, other: Form) -> Form:
        """The difference, part by part."""
        parts = dict.fromkeys([*self.counts, *other.counts])
        zero = Fraction(0)
        return Form({p: self.counts.get(p, zero) - other.counts.get(p, zero) for p in parts})

    def over(self, divisor: Number) -> Form:
        """Of each part a share."""
        share = 1 / Fraction(divisor)
        return Form({part: count * share for part, count in self.counts.items()})

    def without(self, part: str) -> Form:
        """The same without one part."""
        return Form({p: n for p, n in self.counts.items() if p != part})

    def unpriced(self, prices: Prices) -> list[str]:
        """The parts that it has and that have no price."""
        return [part for part, count in self.counts.items() if count and part not in prices]


def ratio(above: Form, below: Form, prices: Prices) -> Range:
    """The interval of above ÷ below, which share the price of each part.

    Exact: a linear-fractional function has its extremes at corners, and Dinkelbach's iteration
    (Management Science 13, 1967) goes from corner to better corner until none is better.

    Args:
        below: worth more than 0 at all prices.

    Raises:
        KeyError: of a part that has no price.
        ZeroDivisionError: if `below` can be worth nothing.
    """
    return Range(
        _extreme(above, below, prices, low=True), _extreme(above, below, prices, low=False)
    )


def _extreme(above: Form, below: Form, prices: Prices, *, low: bool) -> Fraction:
    """The least, or the largest, quotient."""
    parts = [
        p for p in {**above.counts, **below.counts} if above.counts.get(p) or below.counts.get(p)
    ]
    at = {part: prices[part].low for part in parts}
    while True:
        found = above.at(at) / below.at(at)
        slack = above.minus(Form({p: n * found for p, n in below.counts.items()}))
        at = {p: _corner(prices[p], slack.counts[p], at[p], low=low) for p in parts}
        if above.at(at) / below.at(at) == found:
            return found


def _corner(price: Range, slope: Fraction, now: Fraction, *, low: bool) -> Fraction:
    if not slope:
        return now
    return price.low if (slope > 0) == low else price.high
