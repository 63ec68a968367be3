"""Whether the pick is another where parts are counted otherwise: boxes bought whole, of a book that
counts by share; a laser for each uplink, of a book whose transceivers have one for several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lightloom.costs import lanes, pricing
from lightloom.decision import sentences
from lightloom.decision.order import leaders, ranked
from lightloom.decision.purchases import CAPITAL, Purchase

from .read import Read

#: How the book counts → the other way: what it is called, in short, and on which condition.
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
    """Another way to count, and who costs least by it."""

    name: str
    short: str
    """`whole boxes`."""
    condition: str
    """`if boxes are bought whole, not by share`."""
    here: Sequence[Purchase]
    there: Sequence[Purchase]
    bought: Sequence[Purchase]
    """All, so counted."""

    @property
    def turned(self) -> bool:
        """Whether others cost least."""
        return {p.label for p in self.here} != {p.label for p in self.there}


def unless(made: Read) -> str:
    """The other ways to count by which other fabrics cost least; empty without one."""
    named = [way.short for way in _ways(made) if way.turned]
    return f" With {sentences.listed(named, 'or')} the result differs." if named else ""


def turned(made: Read) -> Iterator[str]:
    """Who else costs least if it is counted otherwise: what a buyer should know first."""
    for way in _ways(made):
        if way.turned:
            does = "costs least" if len(way.there) == 1 else "are level"
            named = sentences.labels(way.there)
            yield f"{way.name}: {way.condition}, {named} {does}, {_each(way.there)}{_rest(way)}."


def kept(made: Read) -> Iterator[str]:
    """By which other ways to count the pick is the same."""
    for way in _ways(made):
        if not way.turned:
            still = "still costs least" if len(way.there) == 1 else "are still level"
            named = sentences.labels(way.there)
            yield f"Not the counting: {way.condition}, {named} {still}, {_each(way.there)}."


def _ways(made: Read) -> Iterator[Otherwise]:
    """The ways to count that make a difference to a bill."""
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
    """With boxes counted the other way: bought whole, or by share."""
    book = made.costs.book
    other = replace(book, counting="whole" if book.counting == "share" else "share")
    return [
        replace(p, cost=pricing.of_network(p.label, p.cost.network, other)) for p in made.purchases
    ]


def _apart(purchase: Purchase) -> Purchase:
    """With a laser for each uplink."""
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
    """What the others that carry the load cost, so counted."""
    labels = {p.label for p in way.there}
    others = [p for p in ranked(way.bought, CAPITAL) if p.label not in labels]
    each = [f"{p.label} {sentences.each_delivered(p, CAPITAL)}" for p in others]
    return f"; {sentences.listed(each)}" if each else ""
