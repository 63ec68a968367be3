"""Sentences on the fabric that leads by a measure, its figure, and its lead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lightloom.units import quantities

from ..factors import Factor, between, factor_text, farthest, nearest, percent_less, percent_more
from ..ranking import NAMED, Ranking, Score, longer, names, together
from . import each_flow
from .criteria import EVERY, LAST, SHORT, Criterion


def leading(deciding: Criterion, ranking: Ranking) -> str:
    """The fabric that leads by the deciding measure."""
    if not ranking.level:
        return f"No fabric is known to be ahead in {deciding.name}"
    if ranking.untold:
        short = "The run is too short" if longer(ranking.leaders) else "Too few flows"
        return f"{short} to tell which fabric is ahead in {deciding.name}"
    if ranking.level == 1 and not ranking.unknown:
        return f"{names(ranking.leaders)} {deciding.wins[0]}"
    if ranking.level == 1:
        return f"{names(ranking.leaders)} {deciding.wins[0]} of those that can be ranked"
    if ranking.rest or ranking.unknown:
        return f"{together(ranking.leaders)} {deciding.wins[1]} (level)"
    return f"{together(ranking.leaders)} are level in {deciding.name}"


def by_how_much(deciding: Criterion, ranking: Ranking) -> str:
    """The best figure, and the factor by which each other fabric is behind."""
    if not ranking.level:
        each = [f"{s.fabric.label} {deciding.shown(s)}" for s in ranking.unknown]
        late = any(s.least for s in ranking.unknown)
        why = "Flows were under way at the end" if late else "Without narrow intervals"
        return f"{why}: {quantities.listed(each)}." if each else ""
    best = ranking.leaders[0]
    value = deciding.says(best)
    if ranking.level == 1:
        lead = f"{best.fabric.label}: {value}"
    else:
        shown = [deciding.shown(s) for s in ranking.leaders]
        each = [f"{s.fabric.label} {t}" for s, t in zip(ranking.leaders, shown, strict=True)]
        how = too_few(deciding, ranking) if ranking.untold else f"Level in {deciding.name}"
        lead = f"{how}: {quantities.listed(each)}"
    return f"{lead}{behind_by(deciding, ranking.leaders, ranking.rest)}."


def in_each(deciding: Criterion, ranking: Ranking) -> str:
    """A note that the leader is ahead in each flow, if fabrics are compared flow by flow."""
    if deciding not in (LAST, EVERY) or ranking.level != 1:
        return ""
    return each_flow.said(ranking.leaders[0].fabric, [s.fabric for s in ranking.rest])


def too_few(deciding: Criterion, ranking: Ranking) -> str:
    """A statement in place of the leader, if none is known: the number of flows of each figure."""
    short = deciding is SHORT
    flows = min(s.fabric.short_count if short else int(s.fabric.fct.size) for s in ranking.leaders)
    counted = quantities.counted(flows, "short flow" if short else "flow")
    # The number of flows does not help if they arrive in less than the relaxation time of the
    # queues.
    why = "too few" if longer(ranking.leaders) is None else "in too short a time"
    return f"{counted}, {why} for intervals"


def behind_by(deciding: Criterion, leaders: Sequence[Score], behind: Sequence[Score]) -> str:
    """The lead over the other fabrics; over the nearest and the last, if there are many."""
    if not behind:
        return ""
    if len(behind) > NAMED:
        (near, least), (far, most) = (
            (s.fabric.label, factor(deciding, leaders, s, end))
            for s, end in ((behind[0], nearest), (behind[-1], farthest))
        )
        return f"; from {least} than {near} to {most} than {far}"
    each = [f"{factor(deciding, leaders, s)} than {s.fabric.label}" for s in behind]
    shown = (as_held_back(deciding, s, leaders[0]) for s in behind)
    return "; " + quantities.listed(
        f"{text} ({value})" for text, value in zip(each, shown, strict=True)
    )


def as_held_back(deciding: Criterion, found: Score, best: Score) -> str:
    """A figure, and the setting of the fabric that causes it, unless the best fabric has the same
    setting."""
    why = "" if found.fabric.held_back == best.fabric.held_back else found.fabric.held_back
    why = why.partition(" (")[0]
    if found.fabric.is_doubtful:
        return f"{deciding.shown(found)}, not known to carry the load"
    return f"{deciding.shown(found)}, held back by {why}" if why else deciding.shown(found)


def factor(
    measure: Criterion,
    leaders: Sequence[Score],
    other: Score,
    part: Callable[[Factor], Factor] = lambda found: found,
) -> str:
    """By how much one fabric is better than another: `1.7× faster`, `2 to 6 % less`; `part` selects
    a part of the range that the intervals permit. With several level leaders, the range from the
    factor of the nearest to that of the farthest."""
    lower = measure.better == "lower"
    word = "faster" if measure.quantity == "time" else "less" if lower else "more"
    pairs = [(other, one) if lower else (one, other) for one in leaders]
    known = [found for larger, smaller in pairs if (found := between(larger, smaller)) is not None]
    if len(known) < len(pairs):
        return f"infinitely {word}" if pairs[0][0].value > 0 else "as much"
    least = min(known, key=lambda one: one.low)
    found = part(replace(least, high=max(one.high for one in known)))
    if found.low <= 0.0 or other.fabric.is_doubtful:
        # The fabric is ahead in each seed, but the interval over the seeds leaves the factor open;
        # or its rival may not carry the load, so that times may grow with the run.
        return word
    return f"{factor_text(found, percent_less if lower else percent_more)[0]} {word}"
