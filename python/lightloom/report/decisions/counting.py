"""Whether another fabric costs least if parts are counted differently: whole boxes, for a book that
counts by share; or a laser for each uplink, for a book with several uplinks for each laser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lightloom.costs import lanes, pricing
from lightloom.decision import sentences
from lightloom.decision.order import leaders, ranked
from lightloom.decision.purchases import CAPITAL, Purchase

from .read import Read

#: How the book counts → the alternative: its name, its short name, and its condition.
OTHERWISE = {
    "share": (
        "Whole boxes",
        "whole boxes",
        "if boxes are bought whole, not by share as if they came in every size",
    ),
    "whole": (
        "Shares of boxes",
        "shares of boxes",
        "if boxes came in every size at one price a port, so that a share of one is enough",
    ),
}


@dataclass(frozen=True)
class Otherwise:
    """Another way to count, and the fabric that costs least by it."""

    name: str
    short: str
    """The short name, such as `whole boxes`."""
    condition: str
    """The condition, such as `if boxes are bought whole, not by share`."""
    here: Sequence[Purchase]
    there: Sequence[Purchase]
    bought: Sequence[Purchase]
    """All fabrics, counted in this way."""

    @property
    def turned(self) -> bool:
        """Whether another fabric costs least."""
        return {p.label for p in self.here} != {p.label for p in self.there}


def unless(made: Read) -> str:
    """Lists the ways to count by which another fabric costs least; empty without one."""
    named = [way.short for way in _ways(made) if way.turned]
    return f" With {sentences.listed(named, 'or')} the result differs." if named else ""


def turned(made: Read) -> Iterator[str]:
    """States which other fabric costs least if parts are counted differently; a buyer needs this
    first."""
    for way in _ways(made):
        if way.turned:
            does = "costs least" if len(way.there) == 1 else "are level"
            named = sentences.labels(way.there)
            yield f"{way.name}: {way.condition}, {named} {does}, {_each(way.there)}{_rest(way)}."


def kept(made: Read) -> Iterator[str]:
    """Lists the other ways to count by which the same fabric costs least."""
    for way in _ways(made):
        if not way.turned:
            still = "still costs least" if len(way.there) == 1 else "are still level"
            named = sentences.labels(way.there)
            yield f"Not the counting: {way.condition}, {named} {still}, {_each(way.there)}."


def _ways(made: Read) -> Iterator[Otherwise]:
    """The ways to count that change a bill."""
    here = leaders(made.purchases, CAPITAL)
    counted, apart = _counted(made), [_apart(p) for p in made.purchases]
    for name, short, condition, bought in (
        (*OTHERWISE[made.costs.book.counting], counted),
        ("Lasers", "a laser for each uplink", _condition(made), apart),
    ):
        pairs = zip(made.purchases, bought, strict=True)
        changed = any(own.cost.lines != other.cost.lines for own, other in pairs)
        there = leaders(bought, CAPITAL)
        if here and there and changed:
            yield Otherwise(name, short, condition, here, there, bought)


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


def _condition(made: Read) -> str:
    each = sorted({lanes.together(p.cost) for p in made.purchases} - {1})
    number = sentences.listed((str(n) for n in each), "or") if each else ""
    return f"if each uplink has a laser of its own, not one for {number}"


def _each(there: Sequence[Purchase]) -> str:
    each = [f"{sentences.each_delivered(p, CAPITAL)}" for p in there]
    if len(there) == 1:
        return each[0]
    return sentences.listed(f"{p.label} {text}" for p, text in zip(there, each, strict=True))


def _rest(way: Otherwise) -> str:
    """States the cost of the other fabrics that carry the load, counted in this way."""
    labels = {p.label for p in way.there}
    others = [p for p in ranked(way.bought, CAPITAL) if p.label not in labels]
    each = [f"{p.label} {sentences.each_delivered(p, CAPITAL)}" for p in others]
    return f"; {sentences.listed(each)}" if each else ""
