"""Flows that all begin at once in one run: all flows of it, and no sample. If they are too few for
an interval, a fabric is ahead of another if it delivers each of them sooner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lightloom.units.intervals import LEVEL

from ..model import Fabric, Workload


def begins_at_once(workload: Workload) -> bool:
    """Whether all flows of a comparison of one seed begin at time zero."""
    arrivals = workload.experiment.get("workload", {}).get("arrivals")
    kind = arrivals.get("kind") if isinstance(arrivals, Mapping) else arrivals
    return kind == "at-once" and workload.seeds < 2


def all_finish(fabric: Fabric) -> bool:
    """Whether a fabric has flows and delivered each of them."""
    return bool(fabric.fct.size and np.isfinite(fabric.fct).all())


def last_flow(fabric: Fabric) -> float | None:
    """The longest completion time [s]; None if a flow did not finish, or there is none."""
    return float(fabric.fct.max()) if all_finish(fabric) else None


def soonest_in_each(fabrics: Sequence[Fabric]) -> Fabric | None:
    """The fabric that delivers each flow sooner than every other one does; None without one, or
    where some fabric left a flow unfinished."""
    if len(fabrics) < 2 or not all(all_finish(f) for f in fabrics):
        return None
    best = min(fabrics, key=lambda f: float(f.fct.max()))
    others = (f for f in fabrics if f is not best)
    return best if all(is_sooner_in_each(best, f) for f in others) else None


def is_sooner_in_each(one: Fabric, other: Fabric) -> bool:
    """Whether one delivers each flow sooner than another does, by more than 3 %."""
    same = np.array_equal(one.sizes, other.sizes)
    return bool(same and (one.fct * (1 + LEVEL) < other.fct).all())


def standing(one: Fabric, other: Fabric) -> int:
    """1 if one delivers each flow sooner than another, 0 if none by more than 3 %, -1 if some flow
    is sooner on the other."""
    if is_sooner_in_each(one, other):
        return 1
    same = np.array_equal(one.sizes, other.sizes)
    return 0 if same and (one.fct <= other.fct * (1 + LEVEL)).all() else -1
