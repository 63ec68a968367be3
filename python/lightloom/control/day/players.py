"""The players of a replay: the policy, and the alternatives for comparison.

| player | circuits in an interval |
|---|---|
| the policy | its plan for the previous interval |
| never change | its first plan, kept |
| the day's sum | its plan for the sum of the demand of all replayed intervals |
| foresight | its plan for this interval |
| no circuits | none |

The first interval is only measured, because no decision can precede it. If an interval has no
demand, the circuits of the previous interval stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lightloom.control.day.light import DARK, Light, light_of
from lightloom.control.day.series import Day, text_of
from lightloom.control.demand.steps import US
from lightloom.control.files import Demand
from lightloom.control.planners import plan
from lightloom.policies.registry import find

WINDOW_US = US
"""Schedules are planned for the demand of this time [µs], or of a tenth of an interval if that is
shorter, and repeated."""
Decide = Callable[[int, Light], Light]
"""A function from the number of an interval (from 1) and the present circuits to the new
circuits."""


@dataclass(frozen=True)
class Player:
    """A rule that decides which circuits are lit."""

    name: str
    about: str
    """A short description of the demand that it uses."""
    decide: Decide


@dataclass(frozen=True)
class Planner:
    """Makes the plans of a policy for the demands of intervals."""

    algorithm: str
    options: Mapping[str, Any]

    def light(self, demand: Demand, length_us: int, lit: Light) -> Light:
        """Returns the circuits for a demand of that duration; `lit` are the present circuits."""
        options, policy = dict(self.options), find(self.algorithm)
        matrix = demand.matrix
        if "night" in policy.options:
            window = min(WINDOW_US, length_us // 10)
            matrix = np.rint(matrix * (window / length_us)).astype(np.int64)
        elif "period" in policy.options:
            options.setdefault("period", text_of(length_us))
        if "up" in policy.options:
            options["up"] = [] if lit.directed else lit.pairs()
        if not matrix.any():
            return lit
        return light_of(plan(Demand(matrix, demand.names), self.algorithm, **options))


def players(day: Day, algorithm: str, options: Mapping[str, Any]) -> list[Player]:
    """Returns the policy and the alternatives, in the order of the table above."""
    planner, intervals = Planner(algorithm, options), day.intervals

    def of(at: int, lit: Light) -> Light:
        return planner.light(day.demand(at), intervals[at].length_us, lit)

    def keep(at: int, lit: Light) -> Light:
        return of(at - 1, lit) if lit is DARK else lit

    def whole(at: int, lit: Light) -> Light:
        if lit is not DARK:
            return lit
        return planner.light(day.added_up(), sum(one.length_us for one in day.played), lit)

    return [
        Player(algorithm, "decides by the interval before", lambda at, lit: of(at - 1, lit)),
        Player("never change", "its first plan, kept", keep),
        Player("the day's sum", "one plan, by the demand of all intervals after the first", whole),
        Player("foresight", "decides by the interval itself", of),
        Player("no circuits", "all traffic over the packet network", lambda at, lit: lit),
    ]
