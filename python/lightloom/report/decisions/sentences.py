"""The sentences of the findings of this folder: counting, performance, other loads and runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lightloom.analysis.factors import times_text
from lightloom.analysis.ranking import Score, names
from lightloom.analysis.verdicts.criteria import Criterion
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.decision.sentences import each_delivered, labels
from lightloom.units.counts import listed

from .counting import Otherwise, Way
from .elsewhere import Elsewhere, OpenLoads, There
from .performance import Behind, ToldApart, apart

#: Another way to count → the condition under which it holds.
IF: dict[Way, str] = {
    "whole boxes": "if boxes are bought whole, not by share as if they came in every size",
    "shares of boxes": (
        "if boxes came in every size at one price a port, so that a share of one is enough"
    ),
    "a laser for each uplink": "if each uplink has a laser of its own, not one for {uplinks}",
}
#: Another way to count → its name at the head of a sentence.
NAMES: dict[Way, str] = {
    "whole boxes": "Whole boxes",
    "shares of boxes": "Shares of boxes",
    "a laser for each uplink": "Lasers",
}


def simulated_tiers(fabrics: Sequence[str]) -> str:
    """The fabrics that are simulated with other tiers than billed, with a space after the sentence;
    empty if there are none."""
    if not fabrics:
        return ""
    is_, bill = ("is", "its bill has") if len(fabrics) == 1 else ("are", "their bills have")
    return (
        f"{listed(fabrics)} {is_} broken as simulated, with pods and a core; {bill} two "
        "tiers (fabric.tiers makes both the same). "
    )


def unless(ways: Iterable[Otherwise]) -> str:
    """Lists the ways to count by which another fabric costs least; empty without one."""
    turned = [way.way for way in ways if way.turned]
    return f" With {listed(turned, 'or')} the result differs." if turned else ""


def counted_otherwise(found: Otherwise) -> str:
    """States which fabric costs least if parts are counted differently."""
    condition = IF[found.way].format(uplinks=listed(map(str, found.uplinks), "or"))
    one, which = len(found.there) == 1, labels(found.there)
    if not found.turned:
        still = "still costs least" if one else "are still level"
        return f"Not the counting: {condition}, {which} {still}, {_each(found.there)}."
    does = "costs least" if one else "are level"
    name = (
        "Lasers"
        if found.way == "a laser for each uplink"
        else f"{found.way[0].upper()}{found.way[1:]}"
    )
    rest = f"; {_labelled(found.others)}" if found.others else ""
    return f"{name}: {condition}, {which} {does}, {_each(found.there)}{rest}."


def _each(there: Sequence[Purchase]) -> str:
    return each_delivered(there[0], CAPITAL) if len(there) == 1 else _labelled(there)


def _labelled(bought: Sequence[Purchase]) -> str:
    return listed(f"{p.label} {each_delivered(p, CAPITAL)}" for p in bought)


def given_up(found: Behind) -> str:
    """States how far the cheapest fabric is behind the best."""
    best = found.best[0]
    return (
        f"What {found.label} gives up: {best.fabric.label} {found.criterion.wins[0]}: "
        f"{found.criterion.name} {found.criterion.shown(best)} against "
        f"{_shown(found.criterion, best, found.own, label=False)}."
    )


def told_apart(found: ToldApart) -> str:
    """States which of the fabrics that are level in cost is ahead."""
    criterion, best = found.criterion, found.best
    others = listed(_shown(criterion, best, other) for other in found.others)
    return (
        f"They are level in cost, but not in performance: {best.fabric.label} {criterion.wins[0]}: "
        f"{criterion.name} {criterion.shown(best)} against {others}."
    )


def by_performance(found: Behind) -> str:
    """States which fabric performs better than the cheapest."""
    some = "" if found.ranked else " of those that can be ranked"
    wins = found.criterion.wins[len(found.best) > 1]
    return f"Performance, if that decides: {names(found.best)} {wins}{some}."


def _shown(criterion: Criterion, best: Score, other: Score, *, label: bool = True) -> str:
    """Formats a figure, and its ratio to the best."""
    factor = apart(criterion, best, other)
    times = "" if factor is None else f", {times_text(factor)} apart"
    of = f" of {other.fabric.label}" if label else ""
    return f"{criterion.shown(other)}{of}{times}"


def another_load(found: Elsewhere) -> str:
    """States the loads at which another fabric costs least; empty if there are none."""
    if not found.turned:
        return ""
    turned = (f"at {there.place} {_lead(there)}" for there in found.turned)
    return f"Another load: {'; '.join((*turned, *_beside(found)))}."


def no_other_load(found: Elsewhere) -> str:
    """States that no other fabric costs less at several loads; empty if one does."""
    if found.turned or len(found.kept) < 2:
        return ""
    lead = f"Not the load: no other fabric costs less at {_places(found.kept)}"
    return f"{'; '.join((lead, *_beside(found)))}."


def open_loads(found: OpenLoads) -> str:
    """States the loads at which it is open which fabric costs least."""
    what = "windows" if found.windowed else "runs"
    return (
        f"At load {listed(found.loads)} the {what} are too short to tell which fabric costs least."
    )


def other_runs(found: Elsewhere) -> str:
    """States the other workloads or physics under which another fabric costs least, or that there
    are none; empty without any."""
    if found.turned:
        turned = "; ".join(f"under {there.place} {_lead(there)}" for there in found.turned)
        return f"Another workload or other physics: {turned}."
    if found.kept:
        return f"Not the other runs: no other fabric costs less under {_places(found.kept)}."
    return ""


def _beside(found: Elsewhere) -> list[str]:
    """Names the fabrics that are level at another load with the cheapest ones here."""
    return [
        f"at {there.place} {listed(there.others)} {'is' if len(there.others) == 1 else 'are'} "
        f"level with {listed(there.shared)}"
        for there in found.kept
        if there.others
    ]


def _places(kept: Sequence[There]) -> str:
    return listed(there.place for there in kept)


def _lead(there: There) -> str:
    """Formats `clos costs least` or `a and b are level`."""
    does = "are level" if len(there.leaders) > 1 else "costs least"
    return f"{listed(there.leaders)} {does}"
