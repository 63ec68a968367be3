"""The step of times, which is the duration of each record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

US = 1_000_000
"""Microseconds in a second [count]."""


class NoStepError(ValueError):
    """Times on no common grid; contains two distances between adjacent times as evidence."""

    def __init__(self, times: Sequence[int]) -> None:
        gaps = [b - a for a, b in pairwise(times)]
        usual = commonest(gaps)
        other = next((gap for gap in gaps if gap % usual), min(gaps))
        self.usual, self.other = usual, other
        shown = f"{usual / US:g} s and {other / US:g} s"
        super().__init__(f"times of no common step: {shown} between neighbours")


def step_of(times: Sequence[int]) -> int | None:
    """Returns the step of increasing times [µs]: their smallest distance, if it divides all others
    and is at least half of the most frequent distance. A few missing records therefore do not make
    the step longer, and a few irregular times do not make it shorter. None for a single time.

    Raises:
        NoStepError: if the times have no common step.

    >>> step_of([0, 300, 900, 1200]), step_of([0, 600, 1200, 1500])
    (300, 300)
    """
    gaps = [b - a for a, b in pairwise(times)]
    if not gaps:
        return None
    step = math.gcd(*gaps)
    if step < min(gaps) or 2 * step < commonest(gaps):
        raise NoStepError(times)
    return step


def commonest(gaps: Sequence[int]) -> int:
    """Returns the most frequent distance; of several equally frequent ones the middle one, or the
    longer of two.

    >>> commonest([3600, 3600, 60]), commonest([300, 305])
    (3600, 305)
    """
    found = Counter(gaps)
    most = max(found.values())
    often = sorted(gap for gap, count in found.items() if count == most)
    return often[len(often) // 2]
