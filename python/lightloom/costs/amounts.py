"""Money and power as exact intervals, and what fabrics cost as sums over parts.

All numbers are fractions: cents do not drift. An interval is what a source gives as a range.
A `Form` says how many of each part something takes; where two forms share a part, its price is
the same in both, so that the interval of their ratio or difference is as narrow as it can be.
A part may be *tied* to another: its price is a share of the other's (`Tie`), and both move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
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

    def __mul__(self, factor: Number | Range) -> Range:
        """Times a number that both ends share, or an interval that is independent of this."""
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
    """The price of a part as a share of another part's."""

    of: str
    share: Range


@dataclass(frozen=True)
class Amounts(Mapping[str, Range]):
    """Prices, or powers, of parts. Those of tied parts follow the part that they are tied to."""

    free: Mapping[str, Range]
    """Of the parts that are tied to none."""
    ties: Mapping[str, Tie] = field(default_factory=dict)

    @classmethod
    def of(cls, prices: Prices) -> Amounts:
        """The same, or a plain mapping without ties."""
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
        """Those of two fabrics at the prices of one book."""
        return Amounts({**self.free, **other.free}, {**self.ties, **other.ties})

    def tied_to(self, part: str) -> list[str]:
        """The parts whose price is a share of that of `part`."""
        return [name for name, tie in self.ties.items() if tie.of == part]

    def middles(self) -> dict[str, Fraction]:
        """One price of each part: every free price and every share in the middle of its range."""
        found = {part: price.middle for part, price in self.free.items()}
        known = {part: tie for part, tie in self.ties.items() if tie.of in self.free}
        return found | {part: found[tie.of] * tie.share.middle for part, tie in known.items()}

    def corner(self, slopes: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """The price of each part at which Σ slope × price is least, of those that are allowed.

        A share is at an end by the sign of its part's slope, then a free price by the sign of what
        it multiplies. Prices are not negative, so that no other corner gives less.
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
    """The end at which slope × value is least."""
    return found.low if slope >= 0 else found.high


@dataclass(frozen=True)
class Form:
    """How many of each part; worth Σ count × price. Free prices and shares are independent."""

    counts: Mapping[str, Fraction]

    def value(self, prices: Prices) -> Range:
        """What it is worth.

        Raises:
            KeyError: of a part that has no price.
        """
        amounts, used = Amounts.of(prices), {p: n for p, n in self.counts.items() if n}
        low = amounts.corner(used)
        high = amounts.corner({part: -count for part, count in used.items()})
        return Range(self.at(low), self.at(high))

    def at(self, prices: Mapping[str, Fraction]) -> Fraction:
        """What it is worth where every price is one number."""
        return sum((n * prices[part] for part, n in self.counts.items() if n), Fraction(0))

    def slope(self, part: str, prices: Prices) -> Range:
        """By how much it is worth more for each unit by which the price of `part` rises: the number
        of `part`, and of each part that is tied to it times its share."""
        found = Range.of(self.counts.get(part, Fraction(0)))
        ties = Amounts.of(prices).ties
        for name, tie in ties.items():
            if tie.of == part and self.counts.get(name):
                found += tie.share * self.counts[name]
        return found

    def minus(self, other: Form) -> Form:
        """The difference, part by part."""
        parts = dict.fromkeys([*self.counts, *other.counts])
        zero = Fraction(0)
        return Form({p: self.counts.get(p, zero) - other.counts.get(p, zero) for p in parts})

    def over(self, divisor: Number) -> Form:
        """Of each part a share."""
        share = 1 / Fraction(divisor)
        return Form({part: count * share for part, count in self.counts.items()})

    def without(self, *parts: str) -> Form:
        """The same without some parts."""
        return Form({p: n for p, n in self.counts.items() if p not in parts})

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
    amounts = Amounts.of(prices)
    return Range(
        _extreme(above, below, amounts.corner),
        _extreme(above, below, lambda slopes: amounts.corner({p: -n for p, n in slopes.items()})),
    )


def _extreme(
    above: Form, below: Form, corner: Callable[[Mapping[str, Fraction]], dict[str, Fraction]]
) -> Fraction:
    """The least, or the largest, quotient."""
    counts = [*above.counts.items(), *below.counts.items()]
    used = {part: Fraction(1) for part, count in counts if count}
    at = corner(used)
    while True:
        found = above.at(at) / below.at(at)
        slack = above.minus(Form({p: n * found for p, n in below.counts.items()}))
        at = corner({part: slack.counts[part] for part in used})
        if above.at(at) / below.at(at) == found:
            return found
