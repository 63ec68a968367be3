"""Compares fabrics flow by flow, for runs whose flows are the whole workload and not a sample. If
intervals do not separate two fabrics, one is ahead of the other if it delivers some of the same
flows sooner and none later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lightloom.results.repeats import same_flows
from lightloom.units.intervals import LEVEL

from ..model import Fabric, Workload
from ..statement import Statement
from ..unfinished import CENSORED

ENOUGH_PAIRS = 20
"""Number of flows, over all seeds, that must be sooner on one of two fabrics if they do not begin
at once. For two equally fast fabrics, so many flows are sooner on one in one of a million runs."""


def begins_at_once(workload: Workload) -> bool:
    """Whether all flows of a comparison with one seed begin at the same time, by the experiment or
    by its trace."""
    if workload.seeds > 1:
        return False
    arrivals = workload.experiment.get("workload", {}).get("arrivals")
    kind = arrivals.get("kind") if isinstance(arrivals, Mapping) else arrivals
    ages = [f.age for f in workload.fabrics if f.age is not None and f.age.size]
    together = bool(ages) and all(float(np.ptp(age)) == 0.0 for age in ages)
    return kind == "at-once" or (together and not any(f.jobs for f in workload.fabrics))


def are_enough(workload: Workload, fabrics: Sequence[Fabric]) -> bool:
    """Whether chance is excluded as the reason why each flow is sooner on one fabric: there are
    enough flows, or nothing is random, as for a trace on trees."""
    drawn = not same_flows(workload.experiment) or any(f.draws for f in fabrics)
    return not drawn or all(sum(s.fct.size for s in f.each) >= ENOUGH_PAIRS for f in fabrics)


def all_finish(fabric: Fabric) -> bool:
    """Whether a fabric has flows and delivered each of them."""
    return bool(fabric.fct.size and np.isfinite(fabric.fct).all())


def last_flow(fabric: Fabric) -> float | None:
    """The longest completion time [s]; None if a flow did not finish, or there is none."""
    return float(fabric.fct.max()) if all_finish(fabric) else None


def mean_time(fabric: Fabric) -> float | None:
    """Mean completion time of flows over all seeds [s]; None if a flow did not finish."""
    times = [float(seed.fct.mean()) if all_finish(seed) else None for seed in fabric.each]
    known = [t for t in times if t is not None]
    return sum(known) / len(times) if len(known) == len(times) else None


def soonest_in_each(fabrics: Sequence[Fabric]) -> tuple[Fabric, ...]:
    """The fabrics that deliver each flow sooner than every other one: one fabric, or several that
    deliver each equally soon; empty if there is none, or if a fabric left a flow unfinished."""
    if len(fabrics) < 2 or not all(all_finish(f) for f in fabrics):
        return ()
    best = min(fabrics, key=lambda f: float(f.fct.max()))
    level = tuple(f for f in fabrics if f is best or is_as_soon_in_each(best, f))
    others = [f for f in fabrics if f not in level]
    return level if all(is_done_sooner(one, f) for one in level for f in others) else ()


def is_done_sooner(one: Fabric, other: Fabric) -> bool:
    """Whether one fabric delivers none of the same flows later than another, and the last of them
    more than 3 % sooner."""
    last = last_flow(one), last_flow(other)
    if share_sooner(one, other) is None or last[0] is None or last[1] is None:
        return False
    return last[0] * (1 + LEVEL) < last[1]


def is_as_soon_in_each(one: Fabric, other: Fabric) -> bool:
    """Whether two fabrics deliver the same flows, each within 3 % of the other's time."""
    return {standing(one, other), standing(other, one)} == {0}


def is_sooner_in_each(one: Fabric, other: Fabric) -> bool:
    """Whether one fabric delivers no flow of any seed later than another, and all but a tenth of
    them sooner, both by more than 3 %. Flows within a rack take the same time on every fabric."""
    share = share_sooner(one, other)
    return share is not None and share >= CENSORED


def share_sooner(one: Fabric, other: Fabric) -> float | None:
    """Share of the flows of all seeds that one fabric delivers more than 3 % sooner than another;
    None if it delivers any of them later, or if the flows are not the same."""
    sooner = flows = 0
    for a, b in zip(one.each, other.each, strict=True):
        same = a.fct.size and np.array_equal(a.sizes, b.sizes)
        if not same or not (a.fct <= b.fct * (1 + LEVEL)).all():
            return None
        sooner += int((a.fct * (1 + LEVEL) < b.fct).sum())
        flows += a.fct.size
    return sooner / flows if flows else None


def sooner(ahead: Fabric, others: Sequence[Fabric]) -> Statement:
    """Number of flows that finish sooner on the fabric that is ahead of all others."""
    labels = tuple(f.label for f in others)
    least = min((share_sooner(ahead, f) or 0.0 for f in others), default=1.0)
    if least == 1.0:
        return Statement("each flow sooner", label=ahead.label, others=labels)
    return Statement("flows sooner", label=ahead.label, others=labels, share=least)


def standing_in_each(one: Fabric, other: Fabric) -> int:
    """1 if `one` is sooner in each flow (`is_sooner_in_each`), 0 if they are as soon, -1
    otherwise."""
    if is_sooner_in_each(one, other):
        return 1
    return 0 if is_as_soon_in_each(one, other) else -1


def standing(one: Fabric, other: Fabric) -> int:
    """1 if `one` is done sooner (`is_done_sooner`), 0 if no flow of `one` is over 3 % later than on
    `other`, -1 otherwise."""
    if is_done_sooner(one, other):
        return 1
    same = np.array_equal(one.sizes, other.sizes)
    return 0 if same and (one.fct <= other.fct * (1 + LEVEL)).all() else -1
