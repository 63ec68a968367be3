"""Remarks for a buyer beside the verdict, as data: cost and power of the other fabrics, goodput,
seeds and lower loads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs.amounts import Range
from lightloom.decision.order import leaders, ranked, share
from lightloom.decision.overturns import Overturn, all_nearest
from lightloom.decision.purchases import CAPITAL, POWER, Measure, Purchase

NOTABLE = 0.05
"""A fabric that carries the load is named if its goodput is below the best by this share."""
NARROW = Fraction(11, 10)
"""A fabric below this multiple of the lowest cost may be the cheapest at other seeds."""
NAMED = 3
"""The most rivals that are named."""


@dataclass(frozen=True)
class Multiples:
    """The fabrics with the lowest cost or power, and the others relative to the first of them."""

    measure: Measure
    leaders: tuple[str, ...]
    least: Range
    """The amount of the first leader per delivered unit."""
    others: tuple[tuple[str, Range], ...]
    """Label, and its amount ÷ that of the first leader."""


@dataclass(frozen=True)
class LessGoodput:
    """Fabrics that carry the load with a goodput notably below the best."""

    best: str
    others: tuple[tuple[str, float], ...]
    """Label, and its goodput ÷ that of the best."""


@dataclass(frozen=True)
class OtherSeeds:
    """Other seeds may give another order of the fabrics, or it is unknown whether they do."""

    number: int
    """The number of seeds that were run."""
    leaders: tuple[str, ...]
    near: tuple[tuple[str, Range], ...]
    """Label, and its cost ÷ that of the first leader, of the fabrics close to it."""


@dataclass(frozen=True)
class LowerLoad:
    """Fabrics that do not carry the load but cost less for the servers' links."""

    fabrics: tuple[tuple[str, Range], ...]
    """Label, and its cost for each Gb/s of the servers' links."""
    leader: str
    most: Range
    """The cost of the leader for each Gb/s of the servers' links."""
    currency: str


def multiples(purchases: Sequence[Purchase], measure: Measure) -> Multiples | None:
    """Finds the lowest amount and its multiples; None if fewer than two fabrics have one."""
    first, known = leaders(purchases, measure), ranked(purchases, measure)
    if len(known) < 2 or not first:
        return None
    least = measure.value(first[0])
    assert least is not None
    labels = tuple(p.label for p in first)
    return Multiples(measure, labels, least, _relative(known, first, measure))


def less_goodput(purchases: Sequence[Purchase]) -> LessGoodput | None:
    """Finds the fabrics that carry the load with notably less goodput than the best."""
    known = [(p, p.delivered.mean) for p in purchases if p.carries and p.delivered is not None]
    if not known:
        return None
    best, most = max(known, key=lambda pair: pair[1])
    less = tuple((p.label, mean / most) for p, mean in known if mean < most * (1 - NOTABLE))
    return LessGoodput(best.label, less) if less else None


def other_prices(purchases: Sequence[Purchase]) -> list[Overturn]:
    """Finds the prices at which the rivals that the verdict does not name would be the cheapest."""
    first = leaders(purchases, CAPITAL)
    if len(first) != 1:
        return []
    return all_nearest(first[0], ranked(purchases, CAPITAL)[1:])[1 : 1 + NAMED]


def less_power(purchases: Sequence[Purchase]) -> Multiples | None:
    """Finds the fabric that draws least power; None if it is among the cheapest."""
    cheapest, least = (leaders(purchases, m) for m in (CAPITAL, POWER))
    if len(least) == 1 and cheapest and least[0] not in cheapest:
        return multiples(purchases, POWER)
    return None


def other_seeds(purchases: Sequence[Purchase]) -> OtherSeeds | None:
    """Finds whether the order may differ with other seeds: the lead is narrow, or there is one seed
    only."""
    first, known = leaders(purchases, CAPITAL), ranked(purchases, CAPITAL)
    if not first or len(known) < 2:
        return None
    near = tuple((p, x) for p, x in _relative(known, first, CAPITAL) if x.low < NARROW)
    number = len(first[0].seeds) or 1
    if number > 1 and not near and len(first) < 2:
        return None
    return OtherSeeds(number, tuple(p.label for p in first), near)


def lower_load(purchases: Sequence[Purchase]) -> LowerLoad | None:
    """Finds the fabrics that do not carry the load but cost less per Gb/s of the servers' links
    than the cheapest; None for a run that ended early, which is no load."""
    first = leaders(purchases, CAPITAL)
    late = [p for p in purchases if not p.carries and not p.undone]
    if not first or not late or first[0].undone:
        return None
    most = first[0].cost.per_gbps
    assert most is not None
    fabrics = tuple(
        (p.label, found)
        for p in late
        if (found := p.cost.per_gbps) is not None and found.high < most.low
    )
    if not fabrics:
        return None
    return LowerLoad(fabrics, first[0].label, most, first[0].cost.book.currency)


def _relative(
    known: Sequence[Purchase], first: Sequence[Purchase], measure: Measure
) -> tuple[tuple[str, Range], ...]:
    """Each fabric that does not lead, and its amount ÷ that of the first leader if known."""
    return tuple(
        (p.label, found)
        for p in known
        if p not in first and (found := share(p, first[0], measure)) is not None
    )
