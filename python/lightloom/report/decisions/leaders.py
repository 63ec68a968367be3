"""Which fabrics lead in performance and in power, as data: the findings beside the cost in the
headline of a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lightloom.analysis.ranking import Score
from lightloom.analysis.verdicts.criteria import Criterion
from lightloom.costs.amounts import Range
from lightloom.decision.order import leaders, ranked, share
from lightloom.decision.purchases import CAPITAL, POWER, Purchase

from .read import Read


@dataclass(frozen=True)
class Fastest:
    """One fabric is ahead of the others in the figure that judges."""

    criterion: Criterion
    best: Score
    other: Score
    """The cheapest of the other fabrics, otherwise the next one."""
    several: bool
    """Whether more than two fabrics are compared."""


@dataclass(frozen=True)
class AllLevel:
    """No fabric is ahead of another in the figure that judges."""

    criterion: Criterion
    leaders: tuple[Score, ...]


@dataclass(frozen=True)
class LeastPower:
    """Some of the fabrics draw the least power."""

    labels: tuple[str, ...]
    than: str | None = None
    """The fabric with which one is compared, if there are several others."""
    times: Range | None = None
    """Power of another ÷ that of the one fabric that draws the least; None if not known."""


@dataclass(frozen=True)
class SamePower:
    """All fabrics draw about the same power."""


def fastest(made: Read) -> Fastest | AllLevel | None:
    """The fastest of the fabrics that carry the load, or else of those that cost the least; None if
    unknown."""
    carrying = {p.label for p in ranked(made.purchases, CAPITAL)}
    cheapest = {p.label for p in leaders(made.purchases, CAPITAL)}
    every = _fastest_of(made, carrying, cheapest)
    return every or (_fastest_of(made, cheapest, cheapest) if len(cheapest) > 1 else None)


def _fastest_of(made: Read, labels: set[str], cheapest: set[str]) -> Fastest | AllLevel | None:
    criterion = made.criterion
    if criterion is None:
        return None
    ranking = criterion.ranking(tuple(f for f in made.workload.fabrics if f.label in labels))
    if ranking.unknown or not ranking.leaders or ranking.untold:
        return None
    if not ranking.rest:
        return AllLevel(criterion, tuple(ranking.leaders)) if len(ranking.leaders) > 1 else None
    if ranking.level > 1:
        return None
    other = next((s for s in ranking.rest if s.fabric.label in cheapest), ranking.rest[0])
    several = len(ranked(made.purchases, CAPITAL)) > 2
    return Fastest(criterion, ranking.leaders[0], other, several)


def least_power(purchases: Sequence[Purchase]) -> LeastPower | SamePower | None:
    """The fabrics that draw the least power; None if unknown."""
    known, least = ranked(purchases, POWER), leaders(purchases, POWER)
    if len(known) < 2 or not least:
        return None
    if len(least) == len(known):
        return SamePower()
    labels = tuple(p.label for p in least)
    if len(least) > 1:
        return LeastPower(labels)
    cheapest = {p.label for p in leaders(purchases, CAPITAL)}
    others = [p for p in known if p is not least[0]]
    other = next((p for p in others if p.label in cheapest), others[0])
    than = other.label if len(known) > 2 else None
    return LeastPower(labels, than, share(other, least[0], POWER))
