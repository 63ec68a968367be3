"""Which fabric costs least if parts are counted differently, as data: whole boxes, for a book that
counts by share; or a laser for each uplink, for a book with several uplinks for each laser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lightloom.costs import lanes, pricing
from lightloom.decision.order import leaders, ranked
from lightloom.decision.purchases import CAPITAL, Purchase

from .read import Read

Way = Literal["whole boxes", "shares of boxes", "a laser for each uplink"]


@dataclass(frozen=True)
class Otherwise:
    """Another way to count, and the fabric that costs least by it."""

    way: Way
    here: tuple[str, ...]
    """The labels of the fabrics that cost least as the book counts."""
    there: tuple[Purchase, ...]
    """The fabrics that cost least, counted in this way."""
    others: tuple[Purchase, ...]
    """The other fabrics that carry the load, counted in this way."""
    uplinks: tuple[int, ...] = ()
    """The numbers of uplinks for each laser in the book."""

    @property
    def turned(self) -> bool:
        """Whether another fabric costs least."""
        return set(self.here) != {p.label for p in self.there}


def otherwise(made: Read) -> Iterator[Otherwise]:
    """Finds the ways to count that change a bill."""
    here = tuple(p.label for p in leaders(made.purchases, CAPITAL))
    boxes: Way = "whole boxes" if made.costs.book.counting == "share" else "shares of boxes"
    uplinks = tuple(sorted({lanes.together(p.cost) for p in made.purchases} - {1}))
    counted, apart = _counted(made), [_apart(p) for p in made.purchases]
    ways: list[tuple[Way, Sequence[Purchase], tuple[int, ...]]] = [
        (boxes, counted, ()),
        ("a laser for each uplink", apart, uplinks),
    ]
    for way, bought, numbers in ways:
        pairs = zip(made.purchases, bought, strict=True)
        changed = any(own.cost.lines != other.cost.lines for own, other in pairs)
        there = tuple(leaders(bought, CAPITAL))
        if here and there and changed:
            others = tuple(p for p in ranked(bought, CAPITAL) if p not in there)
            yield Otherwise(way, here, there, others, numbers)


def _counted(made: Read) -> Sequence[Purchase]:
    """The fabrics with boxes counted differently: bought whole, or by share."""
    book = made.costs.book
    other = replace(book, counting="whole" if book.counting == "share" else "share")
    return [
        replace(p, cost=pricing.of_network(p.label, p.cost.network, other)) for p in made.purchases
    ]


def _apart(purchase: Purchase) -> Purchase:
    """A fabric with a laser for each uplink."""
    cost = lanes.apart(purchase.cost)
    return purchase if cost is purchase.cost else replace(purchase, cost=cost)
