"""Checks whether a run was within the limits in which the testbed represents the fabric."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.testbed.setup import Setup

LATE_S = 0.01
"""Limit of the 99th percentile of the lateness of actions on the kernel plane, which is its
shortest dark time."""
IN_DAY = 0.99
"""Smallest share of frames that have to pass in the day of their pair."""
MISSED = 0.02
"""Largest share of days that the user-space plane may miss."""


@dataclass(frozen=True)
class Fidelity:
    """The measurements of the testbed itself, and those that exceed its limits."""

    beyond: tuple[str, ...]
    """Sentences; empty within the limits."""
    late_ms: Mapping[str, float | None]
    """Lateness of the controller's actions: p50, p99, max; None if no action had a time."""
    load: float
    """The largest load average of a minute."""
    processors: int

    @property
    def within(self) -> bool:
        """Whether all measurements were within the limits."""
        return not self.beyond


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least a share `share` of the values does not exceed; 0 without
    values.

    >>> percentile([3, 1, 2], 0.5)
    2
    """
    ordered = sorted(values)
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, max(0, -int(-share * len(ordered) // 1) - 1))]


def judge_fidelity(
    setup: Setup, facts: Mapping[str, Any], late_s: Sequence[float], loads: Sequence[float]
) -> Fidelity:
    """Judges the testbed itself by the counts and times of a run."""
    beyond = []
    late = percentile(late_s, 0.99)
    if late > LATE_S:
        beyond.append(f"actions were {late * 1e3:.1f} ms late (99th percentile); 10 ms at most")
    if facts.get("lost_frames"):
        beyond.append(f"{facts['lost_frames']} frames were lost in the testbed itself")
    if setup.plane == "user":
        beyond += _of_days(facts)
    return Fidelity(
        beyond=tuple(beyond),
        late_ms={
            name: percentile(late_s, share) * 1e3 if late_s else None
            for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
        },
        load=max(loads, default=0.0),
        processors=os.cpu_count() or 1,
    )


def _of_days(facts: Mapping[str, Any]) -> list[str]:
    beyond = []
    share = facts["in_day"]
    if share is not None and share < IN_DAY:
        beyond.append(f"{100 * share:.2f} % of frames passed in their day; 99 % at least")
    missed = facts["missed_days"] / max(1, facts["days"] + facts["missed_days"])
    if missed > MISSED:
        remedy = "raise testbed.time_scale, or leave a processor free"
        beyond.append(f"{100 * missed:.1f} % of days passed unseen, 2 % at most: {remedy}")
    return beyond
