"""The sensitivity of a fabric's capital to the price of each part.

A price changes together with those that the book ties to it (`share … of`); the range of such a
share has a bar of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from lightloom.costs.amounts import Amounts, Range, Tie
from lightloom.costs.pricing import FabricCost
from lightloom.errors import refusal

#: Variation of a price in both directions, if the book gives a single number.
VARIED = Fraction(1, 4)


@dataclass(frozen=True)
class Bar:
    """The capital at the lower and the upper end of one part's price; other prices are in the
    middle of their ranges, and tied ones at the middle of their share."""

    part: str
    capital: Range
    published: bool
    """Whether the ends are those of the book; otherwise the price is varied by a quarter in both
    directions."""
    tied: tuple[str, ...] = ()
    """Parts of the fabric whose prices change with the price of this part."""

    @property
    def width(self) -> Fraction:
        """The difference between both ends."""
        return self.capital.high - self.capital.low


def sensitivity(cost: FabricCost) -> list[Bar]:
    """Returns a bar for each part with a price, the widest first.

    Raises:
        ConfigError: if a part of the fabric has no price.
    """
    if cost.unpriced:
        part = cost.unpriced[0]
        raise refusal("--tornado", cost.label, f"no price of {part}", f"set it: --price {part}=…")
    amounts = cost.prices
    names = [*amounts.free, *(part for part in amounts.ties if cost.form.counts.get(part))]
    bars = [_bar(cost, part, amounts) for part in dict.fromkeys(names)]
    return sorted((bar for bar in bars if bar.width), key=lambda bar: (-bar.width, bar.part))


def _bar(cost: FabricCost, part: str, amounts: Amounts) -> Bar:
    """Returns the capital at both ends of a free price, or of the share of a tied one."""
    tie, counts = amounts.ties.get(part), cost.form.counts
    told = amounts.free[part] if tie is None else tie.share
    ends = (told.low, told.high)
    if told.certain:
        ends = (told.low * (1 - VARIED), told.high * (1 + VARIED))
    if tie is None:
        moved = [replace(amounts, free={**amounts.free, part: Range.of(end)}) for end in ends]
    else:
        shares = (Tie(tie.of, Range.of(end)) for end in ends)
        moved = [replace(amounts, ties={**amounts.ties, part: share}) for share in shares]
    low, high = (cost.form.at(at.middles()) for at in moved)
    tied = tuple(name for name in amounts.tied_to(part) if counts.get(name))
    return Bar(part, Range(low, high), not told.certain, tied)


def target(path: Path) -> Path:
    """Checks the path of the chart.

    Raises:
        ConfigError: if the name does not end in .svg.
    """
    if path.suffix.lower() != ".svg":
        raise refusal("--tornado", path, "the chart is SVG", "name a file that ends in .svg")
    return path
