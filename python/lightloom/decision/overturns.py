"""Which price would overturn who is cheapest: where another costs as much, part by part.

The most telling part is the one that has to move least, relative to what the book says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs.amounts import NOTHING, Range
from lightloom.costs.book import Book
from lightloom.costs.equal import equal_price
from lightloom.decision.order import both
from lightloom.decision.purchases import CAPITAL, Purchase

#: A price this many times off the book's is no assumption that a buyer could have wrong.
FARTHEST = 20


@dataclass(frozen=True)
class Overturn:
    """A price at which a rival costs, for each Gb/s delivered, what another does."""

    part: str
    rival: str
    other: str
    below: bool
    """Whether the rival is cheaper below it: it has more of the part."""
    price: Range
    """For each unit of the part, over the prices of all other parts."""
    book: Range | None
    """What the book says; None where it says nothing."""
    unit: str
    factor: Fraction
    """How many times off the book the nearest such price is; 1 where it is within."""
    of: str | None = None
    """The part that the book tells this one's price by."""
    times: Range | None = None
    """The price as times that of the other part."""
    book_times: Range | None = None

    @property
    def certain(self) -> bool:
        """Whether the book has one number: where two prices are as far off, that which it is
        unsure of is the assumption."""
        return self.book is not None and self.book.certain


def nearest(leader: Purchase, rival: Purchase) -> Overturn | None:
    """The price that has to move least for the rival to be cheaper; None if no price does so by a
    factor of FARTHEST or less."""
    found = sorted(of_each_part(leader, rival), key=lambda o: (o.factor, o.certain, o.part))
    return found[0] if found and found[0].factor <= FARTHEST else None


def all_nearest(leader: Purchase, rivals: Sequence[Purchase]) -> list[Overturn]:
    """The same of several rivals, that which has to move least first."""
    found = [o for rival in rivals if (o := nearest(leader, rival)) is not None]
    return sorted(found, key=lambda o: o.factor)


def of_each_part(leader: Purchase, rival: Purchase) -> Iterator[Overturn]:
    """Where both cost the same, for each part that they have in different numbers."""
    one, other = CAPITAL.form(rival), CAPITAL.form(leader)
    if one is None or other is None:
        return
    prices = both(rival, leader, CAPITAL)
    leant_on = {_told_by(rival.cost.book, part)[0] for part in prices}
    for part, more in one.minus(other).counts.items():
        told = prices[part]
        # What a source leaves out is no assumption of the book, and what others are told by does
        # not move alone.
        if not more or told == NOTHING or part in leant_on:
            continue
        found = equal_price(one, other, part, prices)
        if found.high <= 0:
            continue
        found = Range(max(found.low, Fraction(0)), found.high)
        off = _off(told.low, found.high) if more > 0 else _off(found.low, told.high)
        if off is not None:
            yield _made(rival, leader, part, more > 0, found, told, off)


def of_unknown(leader: Purchase, rival: Purchase) -> Overturn | None:
    """Below which price of the one part without a price a rival is cheaper; None where it has
    several, or costs more without any of it."""
    missing = CAPITAL.unknown(rival)
    if len(missing) != 1 or rival.delivered is None:
        return None
    form = CAPITAL.form(leader)
    assert form is not None
    prices = both(rival, leader, CAPITAL)
    found = equal_price(CAPITAL.of_all(rival), form, missing[0], prices)
    if found.high <= 0:
        return None
    found = Range(max(found.low, Fraction(0)), found.high)
    return _made(rival, leader, missing[0], True, found, None, Fraction(1))


def between(one: Purchase, other: Purchase) -> Overturn | None:
    """Of two that are level: the price whose range does most to it, if it decides within it."""
    forms = CAPITAL.form(one), CAPITAL.form(other)
    assert forms[0] is not None
    assert forms[1] is not None
    prices = both(one, other, CAPITAL)
    widths = {
        part: abs(more) * (prices[part].high - prices[part].low)
        for part, more in forms[0].minus(forms[1]).counts.items()
        if more
    }
    part = max(widths, key=lambda p: (widths[p], p), default=None)
    if part is None or not widths[part]:
        return None
    slope = forms[0].minus(forms[1]).slope(part, prices)
    if slope.low <= 0 <= slope.high:  # by some shares of tied parts, neither way
        return None
    found = equal_price(forms[0], forms[1], part, prices)
    told = prices[part]
    if found.high < told.low or found.low > told.high or found.high <= 0:
        return None
    found = Range(max(found.low, Fraction(0)), found.high)
    return _made(one, other, part, slope.low > 0, found, told, Fraction(1))


def _off(larger: Fraction, smaller: Fraction) -> Fraction | None:
    """How many times one is the other, from 1; None of nothing."""
    return max(larger / smaller, Fraction(1)) if smaller > 0 else None


def _made(
    rival: Purchase,
    leader: Purchase,
    part: str,
    below: bool,
    price: Range,
    told: Range | None,
    factor: Fraction,
) -> Overturn:
    """In the units of the book; as times another part's price, where the book says it so."""
    book = rival.cost.book
    pieces = book.pieces(part)
    of, whole = _told_by(book, part)
    times = None if whole is None else price / whole
    book_times = None if whole is None or told is None else told / whole
    in_book = None if told is None else told / pieces
    return Overturn(
        *(part, rival.label, leader.label, below, price / pieces, in_book, book.unit(part)),
        *(factor, of, times, book_times),
    )


def _told_by(book: Book, name: str) -> tuple[str | None, Fraction | None]:
    """By which other part's price the book tells this one's, if that is certain."""
    part = book.part(name)
    if part is None or part.price is None or part.price.of is None or part.name in book.given:
        return None, None
    whole = book.price(part.price.of)
    certain = whole is not None and whole.certain and whole.low > 0
    return part.price.of, whole.low if whole is not None and certain else None
