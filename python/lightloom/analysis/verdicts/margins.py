"""The fabric that leads by a measure, its figure, and its lead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..factors import Factor, between, factor_text, farthest, nearest, percent_less, percent_more
from ..ranking import NAMED, Ranking, Score, by_slot, labels, longer
from ..statement import Statement
from . import each_flow
from .criteria import EVERY, LAST, SHORT, Criterion, Measured

Better = Literal["faster", "less", "more"]


@dataclass(frozen=True)
class Margin:
    """By how much one fabric is better than another, as a value of a statement: `1.7× faster`,
    `2 to 6 % less`."""

    better: Better
    factor: Factor | None
    """None if it is unknown, or if one of the figures is 0."""
    zero: bool = False
    """Whether the better figure is 0."""
    equal: bool = False
    """Whether both figures are 0."""

    def __format__(self, _: str) -> str:
        if self.equal:
            return "as much"
        if self.factor is None:
            return f"infinitely {self.better}" if self.zero else self.better
        share = percent_more if self.better == "more" else percent_less
        return f"{factor_text(self.factor, share)[0]} {self.better}"


def leading(deciding: Criterion, ranking: Ranking) -> Statement:
    """The fabric that leads by the deciding measure."""
    measure = deciding.name
    if not ranking.level:
        return Statement("none known to be ahead", measure=measure)
    if ranking.untold:
        short = "run too short to lead" if longer(ranking.leaders) else "too few flows to lead"
        return Statement(short, measure=measure)
    leaders = labels(by_slot(ranking.leaders))
    if ranking.level == 1:
        kind = "ahead of those ranked" if ranking.unknown else "ahead"
        return Statement(kind, leaders=leaders, measure=measure, wins=deciding.wins[0])
    if ranking.rest or ranking.unknown:
        return Statement("ahead together", leaders=leaders, measure=measure, wins=deciding.wins[1])
    return Statement("level in measure", leaders=leaders, measure=measure)


def by_how_much(deciding: Criterion, ranking: Ranking) -> tuple[Statement, ...]:
    """The best figure, and the factor by which each other fabric is behind."""
    if not ranking.level:
        figures = figures_of(deciding, ranking.unknown)
        late = any(s.least for s in ranking.unknown)
        kind = "figures of flows under way" if late else "figures without narrow intervals"
        return (Statement(kind, figures=figures),) if figures else ()
    behind = behind_by(deciding, ranking.leaders, ranking.rest)
    if ranking.level == 1:
        best = ranking.leaders[0]
        figure = Measured(deciding, best)
        return (Statement("best figure", label=best.fabric.label, figure=figure, behind=behind),)
    figures = figures_of(deciding, ranking.leaders)
    if ranking.untold:
        return (too_few(deciding, ranking, figures, behind),)
    measure = deciding.name
    return (Statement("level figures", measure=measure, figures=figures, behind=behind),)


def figures_of(measure: Criterion, scores: Sequence[Score]) -> tuple[Statement, ...]:
    """The figure of each fabric."""
    return tuple(
        Statement("figure of", label=s.fabric.label, figure=measure.figure(s)) for s in scores
    )


def in_each(deciding: Criterion, ranking: Ranking) -> tuple[Statement, ...]:
    """A note that the leader is ahead in each flow, if fabrics are compared flow by flow."""
    if deciding not in (LAST, EVERY) or ranking.level != 1:
        return ()
    return (each_flow.sooner(ranking.leaders[0].fabric, [s.fabric for s in ranking.rest]),)


def too_few(
    deciding: Criterion,
    ranking: Ranking,
    figures: tuple[Statement, ...],
    behind: tuple[Statement, ...],
) -> Statement:
    """A statement in place of the leader, if none is known: the number of flows of each figure."""
    short = deciding is SHORT
    flows = min(s.fabric.short_count if short else int(s.fabric.fct.size) for s in ranking.leaders)
    # The number of flows does not help if they arrive in less than the relaxation time of the
    # queues.
    if longer(ranking.leaders) is None:
        kind = "too few short flows for intervals" if short else "too few flows for intervals"
    else:
        kind = "too close short flows for intervals" if short else "too close flows for intervals"
    return Statement(kind, flows=flows, figures=figures, behind=behind)


def behind_by(
    deciding: Criterion, leaders: Sequence[Score], behind: Sequence[Score]
) -> tuple[Statement, ...]:
    """The lead over the other fabrics; over the nearest and the last, if there are many."""
    if len(behind) > NAMED:
        near, far = behind[0], behind[-1]
        least = margin(deciding, leaders, near, nearest)
        most = margin(deciding, leaders, far, farthest)
        ends = (near.fabric.label, far.fabric.label)
        return (Statement("behind, ends", near=ends[0], least=least, far=ends[1], most=most),)
    return tuple(_behind(deciding, leaders, s) for s in behind)


def _behind(deciding: Criterion, leaders: Sequence[Score], found: Score) -> Statement:
    """The lead over one fabric, its figure, and the setting of the fabric that causes it, unless
    the best fabric has the same setting."""
    by, figure = margin(deciding, leaders, found), deciding.figure(found)
    own, label = found.fabric.held_back, found.fabric.label
    if found.fabric.is_doubtful:
        return Statement("behind, load unknown", by=by, label=label, figure=figure)
    setting = "" if own == leaders[0].fabric.held_back else own.partition(" (")[0]
    if setting:
        return Statement("behind, held back", by=by, label=label, figure=figure, setting=setting)
    return Statement("behind", by=by, label=label, figure=figure)


def margin(
    measure: Criterion,
    leaders: Sequence[Score],
    other: Score,
    part: Callable[[Factor], Factor] = lambda found: found,
) -> Margin:
    """By how much one fabric is better than another; `part` selects a part of the range that the
    intervals permit. With several level leaders, the range from the factor of the nearest to that
    of the farthest."""
    lower = measure.better == "lower"
    better: Better = "faster" if measure.quantity == "time" else "less" if lower else "more"
    pairs = [(other, one) if lower else (one, other) for one in leaders]
    known = [found for larger, smaller in pairs if (found := between(larger, smaller)) is not None]
    if len(known) < len(pairs):
        zero = pairs[0][0].value > 0
        return Margin(better, None, zero=zero, equal=not zero)
    least = min(known, key=lambda one: one.low)
    found = part(replace(least, high=max(one.high for one in known)))
    if found.low <= 0.0 or other.fabric.is_doubtful:
        # The fabric is ahead in each seed, but the interval over the seeds leaves the factor open;
        # or its rival may not carry the load, so that times may grow with the run.
        return Margin(better, None)
    return Margin(better, found)
