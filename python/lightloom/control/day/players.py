"""Who decides what is lit in each interval: the policy, and what it is compared with.

| player | lights in an interval |
|---|---|
| the policy | what it plans for the interval before |
| never change | what it planned for the first interval |
| the day's sum | what it plans for the demand of the whole day |
| foresight | what it plans for this very interval |
| no circuits | nothing |

The first interval is only measured: no decision can precede it. Where there was
no demand, what is lit stays.
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
"""Schedules are planned for what comes in this time, or in a tenth of an interval if that
is shorter, and repeated [µs]."""
Decide = Callable[[int, Light], Light]
"""What is lit in an interval, by its number, from 1, and what was before."""


@dataclass(frozen=True)
class Player:
    """Someone who decides."""

    name: str
    about: str
    """What it knows, in a few words."""
    decide: Decide


@dataclass(frozen=True)
class Planner:
    """Plans of a policy for demands of intervals."""

    algorithm: str
    options: Mapping[str, Any]

    def light(self, demand: Demand, length_us: int, lit: Light) -> Light:
        """What is to be lit for the demand of so long a time, where `lit` is."""
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
    """The policy and what it is compared with, in this order."""
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
        Player("the day's sum", "one plan, by the demand of the whole day", whole),
        Player("foresight", "decides by the interval itself", of),
        Player("no circuits", "all over the packet network", lambda at, lit: lit),
    ]
