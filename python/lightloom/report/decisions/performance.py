"""How far the cheapest fabric is behind in performance, as data."""

from __future__ import annotations

from dataclasses import dataclass

from lightloom.analysis.factors import Factor, between
from lightloom.analysis.ranking import Score
from lightloom.analysis.verdicts.criteria import Criterion
from lightloom.decision.order import leaders
from lightloom.decision.purchases import CAPITAL

from .read import Read


@dataclass(frozen=True)
class Behind:
    """The cheapest fabric is behind in the figure that judges."""

    label: str
    criterion: Criterion
    best: tuple[Score, ...]
    own: Score
    ranked: bool
    """Whether every fabric can be ranked."""


@dataclass(frozen=True)
class ToldApart:
    """Of fabrics that are level in cost, one is ahead in the figure that judges."""

    criterion: Criterion
    best: Score
    others: tuple[Score, ...]


def behind_best(made: Read) -> Behind | None:
    """Finds how far the cheapest fabric is behind; None if it is not behind, or not ranked."""
    first, criterion = leaders(made.purchases, CAPITAL), made.criterion
    if len(first) != 1 or criterion is None:
        return None
    ranking = criterion.ranking(made.workload.fabrics)
    own = next((s for s in ranking.rest if s.fabric.label == first[0].label), None)
    if own is None or not ranking.leaders:
        return None
    return Behind(first[0].label, criterion, tuple(ranking.leaders), own, not ranking.unknown)


def told_apart(made: Read) -> ToldApart | None:
    """Finds which of the fabrics that are level in cost is ahead; None if none is."""
    criterion = made.criterion
    level = {p.label for p in leaders(made.purchases, CAPITAL)}
    if criterion is None or len(level) < 2:
        return None
    ranking = criterion.ranking(tuple(f for f in made.workload.fabrics if f.label in level))
    if ranking.level != 1 or ranking.unknown or not ranking.rest:
        return None
    return ToldApart(criterion, ranking.leaders[0], tuple(ranking.rest))


def apart(criterion: Criterion, best: Score, other: Score) -> Factor | None:
    """The ratio of the two figures, larger ÷ smaller; None if the smaller is zero."""
    return between(*((other, best) if criterion.better == "lower" else (best, other)))
