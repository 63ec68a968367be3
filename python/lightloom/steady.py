"""Whether flows arrived for long enough for a steady state, against what the slow ones take.

A network begins empty. Until its large flows have come and gone several times over it is filling,
and times grow with the number of flows; where the load is not carried they always do. Neither shows
in a run of a count of flows alone; `run.warm_up` and `run.measure` leave the beginning out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightloom.bounds import bound

TIMES = 10
"""Arrivals that last so many times what 99 % of the long flows take."""
REMEDY = "more flows may show longer times; run.warm_up and run.measure measure a steady state"


def slow_s(summary: Mapping[str, Any]) -> float | None:
    """In what time 99 % of the long flows arrive, of all where none is long [s]; None where flows
    have no load to be steady at, or a window was measured."""
    if summary.get("load_offered") is None or summary.get("window") is not None:
        return None
    found = bound(summary, "fct.long.p99_us") or bound(summary, "fct.all.p99_us")
    return None if found is None else found.low * 1e-6


def is_short(arrivals_s: float, summary: Mapping[str, Any]) -> bool:
    """Whether arrivals that last so long are too short for what they are.

    >>> def taking(us):
    ...     return {"load_offered": 0.5, "fct": {"long": {"p99_us": us}}}
    >>> is_short(8e-3, taking(1470.0)), is_short(137e-3, taking(2980.0))
    (True, False)
    """
    slow = slow_s(summary)
    return slow is not None and arrivals_s < TIMES * slow
