"""Break-even prices: the price of each part at which another fabric costs as much as the cheapest.

The part of interest is the one whose price has to change least, relative to the book.
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

#: Break-even prices further from the book price than this factor are omitted.
FARTHEST = 20


@dataclass(frozen=True)
class Overturn:
    """A price at which a rival costs as much per delivered Gb/s as another fabric."""

    part: str
    rival: str
    other: str
    below: bool
    """Whether the rival is cheaper below the price, because it has more of the part."""
    price: Range
    """The price per unit of the part, over the prices of all other parts."""
    book: Range | None
    """The price of the book; None if it has none."""
    unit: str
    currency: str
    factor: Fraction
    """Ratio of the nearest such price and the book's, at least 1; 1 if the book's range contains
    it."""
    of: str | None = None
    """The other part, if the book states the price as a multiple of another part's."""
    times: Range | None = None
    """The price as a multiple of the other part's."""
    book_times: Range | None = None

    @property
    def certain(self) -> bool:
        """Whether the book has a single number. Of two prices that are equally far from the book,
        one with a range in the book is the more likely assumption to be wrong."""
        return self.book is not None and self.book.certain


def nearest(leader: Purchase, rival: Purchase) -> Overturn | None:
    """The price that has to change least for the rival to be cheaper; None if each has to change
    by more than a factor of `FARTHEST`."""
    found = sorted(of_each_part(leader, rival), key=lambda o: (o.factor, o.certain, o.part))
    return found[0] if found and found[0].factor <= FARTHEST else None


def all_nearest(leader: Purchase, rivals: Sequence[Purchase]) -> list[Overturn]:
    """The nearest break-even price of each rival, that with the smallest change first."""
    found = [o for rival in rivals if (o := nearest(leader, rival)) is not None]
    return sorted(found, key=lambda o: o.factor)


def of_each_part(leader: Purchase, rival: Purchase) -> Iterator[Overturn]:
    """The break-even price of each part that the two have in different numbers."""
    one, other = CAPITAL.form(rival), CAPITAL.form(leader)
    if one is None or other is None:
        return
    prices = both(rival, leader, CAPITAL)
    leant_on = {_told_by(rival.cost.book, part)[0] for part in prices}
    for part, more in one.minus(other).counts.items():
        told = prices[part]
        # A part that the source omits has no price in the book. The price of a part whose multiples
        # are other prices does not change alone.
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
    """The price of a rival's only unpriced part below which the rival is cheaper; None if several
    parts have no price, or if the rival costs more even at a price of zero."""
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
    """For two level fabrics, the price whose range changes their costs most; None if no price in
    this range decides between them."""
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
    if slope.low <= 0 <= slope.high:  # the sign depends on the multiples of tied parts
        return None
    found = equal_price(forms[0], forms[1], part, prices)
    told = prices[part]
    if found.high < told.low or found.low > told.high or found.high <= 0:
        return None
    found = Range(max(found.low, Fraction(0)), found.high)
    return _made(one, other, part, slope.low > 0, found, told, Fraction(1))


def _off(larger: Fraction, smaller: Fraction) -> Fraction | None:
    """The ratio of the two, at least 1; None if the smaller is zero."""
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
    """Builds the finding in the units of the book; as a multiple of another part's price, if the
    book states it so."""
    book = rival.cost.book
    pieces = book.pieces(part)
    of, whole = _told_by(book, part)
    times = None if whole is None else price / whole
    book_times = None if whole is None or told is None else told / whole
    in_book = None if told is None else told / pieces
    return Overturn(
        *(part, rival.label, leader.label, below, price / pieces, in_book, book.unit(part)),
        *(book.currency, factor, of, times, book_times),
    )


def _told_by(book: Book, name: str) -> tuple[str | None, Fraction | None]:
    """The part of whose price the book states this part's as a multiple, and that price if it is
    certain."""
    part = book.part(name)
    if part is None or part.price is None or part.price.of is None or part.name in book.given:
        return None, None
    whole = book.price(part.price.of)
    certain = whole is not None and whole.certain and whole.low > 0
    return part.price.of, whole.low if whole is not None and certain else None
