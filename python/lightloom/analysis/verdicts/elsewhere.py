"""Further measures by which another fabric is ahead of the leaders."""

from __future__ import annotations

from collections.abc import Sequence

from ..factors import NOTABLE
from ..model import Workload
from ..ranking import Ranking
from ..statement import Statement
from .criteria import Criterion, Measured
from .margins import margin

OTHERS = 2  # most further measures that are named


Ahead = tuple[Criterion, Ranking]


def elsewhere(ranking: Ranking, further: Sequence[Criterion], workload: Workload) -> list[Ahead]:
    """Measures by which one fabric is notably better than the leaders of the first measure, or than
    the others that are level with it there."""
    leaders = {s.fabric.label for s in ranking.leaders}
    made = []
    for measure in further:
        found = measure.ranking(workload.fabrics)
        against = next((s for s in found.rest if s.fabric.label in leaders), None)
        if (
            found.level != 1
            or found.unplaced
            or against is None
            or (ranking.level == 1 and found.leaders[0].fabric.label in leaders)
            or (measure.quantity == "time" and found.leaders[0].fabric.is_doubtful)
        ):
            continue
        low, high = sorted((found.best, against.value))
        if high >= NOTABLE * low:
            made.append((measure, found))
    return made[:OTHERS]


def trade(measure: Criterion, found: Ranking, ranking: Ranking) -> Statement:
    """The advantage of another fabric over the first by a measure, with its factor."""
    leaders = {s.fabric.label for s in ranking.leaders}
    best = found.leaders[0]
    against = next(s for s in found.rest if s.fabric.label in leaders)
    return Statement(
        "ahead elsewhere",
        label=best.fabric.label,
        wins=measure.wins[0],
        figure=Measured(measure, best),
        by=margin(measure, [best], against),
        against=against.fabric.label,
    )
