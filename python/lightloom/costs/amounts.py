"""Money and power as exact intervals, and the cost of fabrics as sums over parts.

All numbers are fractions, so that sums are exact to the cent. An interval is the range that a
source gives. A `Form` states the number of each part. If two forms share a part, its price is the
same in both, so that the interval of their ratio or difference is as narrow as possible. A part may
be *tied* to another: its price is a share of the other's (`Tie`), and both change together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

Number = int | Fraction | Decimal


@dataclass(frozen=True)
class Range:
    """An interval; both ends are equal if the figure is certain.

    >>> Range.of(2) + Range.of(1, 3)
    Range(low=Fraction(3, 1), high=Fraction(5, 1))
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, low: Number, high: Number | None = None) -> Range:
        """Returns the interval between two ends, or of one number.

        Raises:
            ValueError: if the lower end is larger than the upper end.
        """
        made = cls(Fraction(low), Fraction(low if high is None else high))
        if made.low > made.high:
            raise ValueError(f"{made.low} is above {made.high}")
        return made

    @property
    def certain(self) -> bool:
        """Whether both ends are equal."""
        return self.low == self.high

    @property
    def middle(self) -> Fraction:
        """The mean of both ends."""
        return (self.low + self.high) / 2

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.high + other.high)

    def __mul__(self, factor: Number | Range) -> Range:
        """Multiplies by a number, or by an interval that is independent of this one."""
        by = factor if isinstance(factor, Range) else Range.of(factor)
        ends = [mine * its for mine in (self.low, self.high) for its in (by.low, by.high)]
        return Range(min(ends), max(ends))

    def __truediv__(self, divisor: Number) -> Range:
        return self * (1 / Fraction(divisor))

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int | Fraction | Decimal) and self.low <= number <= self.high


NOTHING = Range(Fraction(0), Fraction(0))
Prices = Mapping[str, Range]


@dataclass(frozen=True)
class Tie:
    """A price of a part that is a share of another part's price."""

    of: str
    share: Range


@dataclass(frozen=True)
class Amounts(Mapping[str, Range]):
    """Prices, or powers, of parts. Those of tied parts follow the part that they are tied to."""

    free: Mapping[str, Range]
    """Prices of the parts that are not tied."""
    ties: Mapping[str, Tie] = field(default_factory=dict)

    @classmethod
    def of(cls, prices: Prices) -> Amounts:
        """Returns the prices; a plain mapping becomes prices without ties."""
        return prices if isinstance(prices, Amounts) else cls(prices)

    def __getitem__(self, part: str) -> Range:
        tie = self.ties.get(part)
        return self.free[part] if tie is None else self.free[tie.of] * tie.share

    def __iter__(self) -> Iterator[str]:
        yield from self.free
        yield from (part for part, tie in self.ties.items() if tie.of in self.free)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def joined(self, other: Amounts) -> Amounts:
        """Returns the prices of two fabrics, which are from one book."""
        return Amounts({**self.free, **other.free}, {**self.ties, **other.ties})

    def tied_to(self, part: str) -> list[str]:
        """The parts whose price is a share of the price of `part`."""
        return [name for name, tie in self.ties.items() if tie.of == part]

    def middles(self) -> dict[str, Fraction]:
        """One price for each part: the middle of every free price and of every share."""
        found = {part: price.middle for part, price in self.free.items()}
        known = {part: tie for part, tie in self.ties.items() if tie.of in self.free}
        return found | {part: found[tie.of] * tie.share.middle for part, tie in known.items()}

    def corner(self, slopes: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Returns the permitted price of each part for which Σ slope × price is smallest.

        A share is at an end given by the sign of its part's slope, then a free price at the end
        given by the sign of its total slope. As prices are not negative, no other corner gives a
        smaller sum.
        """
        tied = {part: tie for part, tie in self.ties.items() if part in slopes}
        shares = {part: _end(tie.share, slopes[part]) for part, tie in tied.items()}
        total = {part: slope for part, slope in slopes.items() if part not in self.ties}
        for part, share in shares.items():
            base = self.ties[part].of
            total[base] = total.get(base, Fraction(0)) + share * slopes[part]
        found = {part: _end(self.free[part], slope) for part, slope in total.items()}
        return found | {part: share * found[self.ties[part].of] for part, share in shares.items()}


def _end(found: Range, slope: Fraction) -> Fraction:
    """The end at which slope × value is smallest."""
    return found.low if slope >= 0 else found.high


@dataclass(frozen=True)
class Form:
    """A number of each part; its value is Σ count × price. Free prices and shares vary
    independently."""

    counts: Mapping[str, Fraction]

    def value(self, prices: Prices) -> Range:
        """Returns the interval of its value.

        Raises:
            KeyError: if a part has no price.
        """
        amounts, used = Amounts.of(prices), {p: n for p, n in self.counts.items() if n}
        low = amounts.corner(used)
        high = amounts.corner({part: -count for part, count in used.items()})
        return Range(self.at(low), self.at(high))

    def at(self, prices: Mapping[str, Fraction]) -> Fraction:
        """Returns its value if every price is a single number."""
        return sum((n * prices[part] for part, n in self.counts.items() if n), Fraction(0))

    def slope(self, part: str, prices: Prices) -> Range:
        """Returns the derivative of the value by the price of `part`: the number of `part`, plus
        that of each part tied to it times its share."""
        found = Range.of(self.counts.get(part, Fraction(0)))
        ties = Amounts.of(prices).ties
        for name, tie in ties.items():
            if tie.of == part and self.counts.get(name):
                found += tie.share * self.counts[name]
        return found

    def minus(self, other: Form) -> Form:
        """Returns the difference, part by part."""
        parts = dict.fromkeys([*self.counts, *other.counts])
        zero = Fraction(0)
        return Form({p: self.counts.get(p, zero) - other.counts.get(p, zero) for p in parts})

    def over(self, divisor: Number) -> Form:
        """Divides all numbers."""
        share = 1 / Fraction(divisor)
        return Form({part: count * share for part, count in self.counts.items()})

    def without(self, *parts: str) -> Form:
        """Returns the form without some parts."""
        return Form({p: n for p, n in self.counts.items() if p not in parts})

    def unpriced(self, prices: Prices) -> list[str]:
        """The parts that have no price."""
        return [part for part, count in self.counts.items() if count and part not in prices]


def ratio(above: Form, below: Form, prices: Prices) -> Range:
    """Returns the interval of above ÷ below, in which each part has the same price in both.

    The interval is exact: a linear-fractional function has its extremes at corners, and
    Dinkelbach's iteration (Management Science 13, 1967) moves to a better corner until there is
    none.

    Args:
        below: a form whose value is positive at all prices.

    Raises:
        KeyError: if a part has no price.
        ZeroDivisionError: if the value of `below` can be 0.
    """
    amounts = Amounts.of(prices)
    return Range(
        _extreme(above, below, amounts.corner),
        _extreme(above, below, lambda slopes: amounts.corner({p: -n for p, n in slopes.items()})),
    )


def _extreme(
    above: Form, below: Form, corner: Callable[[Mapping[str, Fraction]], dict[str, Fraction]]
) -> Fraction:
    """The smallest or the largest quotient."""
    counts = [*above.counts.items(), *below.counts.items()]
    used = {part: Fraction(1) for part, count in counts if count}
    at = corner(used)
    while True:
        found = above.at(at) / below.at(at)
        slack = above.minus(Form({p: n * found for p, n in below.counts.items()}))
        at = corner({part: slack.counts[part] for part in used})
        if above.at(at) / below.at(at) == found:
            return found
