"""Whether flows arrived for long enough for a steady state, against what the slow ones take.

A network begins empty. Until its large flows have come and gone several times over it is filling,
and times grow with the number of flows; where the load is not carried they always do. Neither shows
in a run of a count of flows alone; `run.warm_up` and `run.measure` leave the beginning out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from lightloom import _core
from lightloom.units.bounds import bound

TIMES = 10
"""Arrivals that last so many times what 99 % of the long flows take, half of it before a window."""
RELAXATIONS = _core.RELAXATIONS
"""Relaxation times of the slowest queue that a run needs for intervals [count]."""
LEAST_RELAXATIONS = 2
"""Relaxation times of the slowest queue that a window needs to tell whether the load is carried:
in one, the backlog of a network that carries it may grow by up to all that arrives."""
REMEDY = "more flows may show longer times; run.warm_up and run.measure measure a steady state"
REMEDY_OF_WINDOW = "a longer run.warm_up and run.measure may show longer times"


def slow_s(summary: Mapping[str, Any]) -> float | None:
    """In what time 99 % of the long flows arrive, of all in a window or where none is long [s].
    None where flows have no load to be steady at."""
    if summary.get("load_offered") is None:
        return None
    if summary.get("window") is not None:
        found = bound(summary, "window.p99_us")
    else:
        found = bound(summary, "fct.long.p99_us") or bound(summary, "fct.all.p99_us")
    return None if found is None else found.low * 1e-6


def least_s(summaries: Iterable[Mapping[str, Any]]) -> float | None:
    """The least time that gives the latencies of all these runs an interval [s], rounded up to
    two digits; None where no theory gives it for one of them.

    >>> least_s([{"relaxation_s": 1e-3}, {"relaxation_s": 2.01e-3}])
    0.041
    >>> least_s([{"relaxation_s": None}])
    """
    known = [summary.get("relaxation_s") for summary in summaries]
    if not known or None in known:
        return None
    return rounded_up(RELAXATIONS * max(float(seconds) for seconds in known if seconds is not None))


def rounded_up(seconds: float) -> float:
    """The next time above in two digits [s].

    >>> rounded_up(0.0123), rounded_up(0.012)
    (0.013, 0.012)
    """
    digits = 1 - math.floor(math.log10(seconds))
    return round(math.ceil(round(seconds * 10.0**digits, 9)) / 10.0**digits, digits + 2)


def is_short_for_intervals(summary: Mapping[str, Any], arrivals_s: float | None = None) -> bool:
    """Whether the window, or without one the time in which flows arrived, is shorter than
    latencies need for an interval.

    >>> window = {"from_s": 0.01, "until_s": 0.02}
    >>> is_short_for_intervals({"relaxation_s": 1e-3, "window": window})
    True
    >>> is_short_for_intervals({"relaxation_s": 1e-3, "window": None}, 0.03)
    False
    """
    least, window = least_s([summary]), summary.get("window")
    length = arrivals_s if window is None else window["until_s"] - window["from_s"]
    return least is not None and length is not None and length < least


def tells_load(summary: Mapping[str, Any]) -> bool:
    """Whether a window is long enough to tell if the load is carried: at least `LEAST_RELAXATIONS`
    relaxation times; without a theory, as far as is known, it is.

    >>> def of(until_s, relaxation_s=0.1):
    ...     window = {"from_s": 0.0, "until_s": until_s}
    ...     return {"relaxation_s": relaxation_s, "window": window}
    >>> tells_load(of(0.1)), tells_load(of(0.3)), tells_load(of(0.1, None))
    (False, True, True)
    """
    relaxation, window = summary.get("relaxation_s"), summary.get("window")
    if relaxation is None or window is None:
        return True
    return bool(window["until_s"] - window["from_s"] >= LEAST_RELAXATIONS * relaxation)


def telling_s(summaries: Iterable[Mapping[str, Any]]) -> float:
    """The window that tells of these runs whether the load is carried, with a margin of two [s]; 0
    without a theory.

    >>> telling_s([{"relaxation_s": 0.1}, {"relaxation_s": None}])
    0.4
    """
    return 2 * LEAST_RELAXATIONS * max((s.get("relaxation_s") or 0.0 for s in summaries), default=0)


def remedy(summary: Mapping[str, Any]) -> str:
    """What would tell."""
    return REMEDY if summary.get("window") is None else REMEDY_OF_WINDOW


def slow_flows(summary: Mapping[str, Any]) -> str:
    """Of which flows `slow_s` is: of the long ones, if there are any and no window."""
    long = summary.get("window") is None and bound(summary, "fct.long.p99_us") is not None
    return "the long ones" if long else "the flows"


def warm_up_too_short(summary: Mapping[str, Any]) -> str:
    """That the warm-up alone is what makes a run too short; empty if it is not.

    >>> window = {"from_s": 2e-3, "until_s": 22e-3, "p99_us": 431.0}
    >>> warm_up_too_short({"load_offered": 0.5, "window": window})
    'run.warm_up is 2 ms, less than 5 times what flows take'
    """
    slow, window = slow_s(summary), summary.get("window")
    if slow is None or window is None or window["until_s"] < TIMES * slow:
        return ""
    shown = f"{1e3 * window['from_s']:.3g} ms"
    return f"run.warm_up is {shown}, less than {TIMES // 2} times what flows take"


def is_short(arrivals_s: float, summary: Mapping[str, Any]) -> bool:
    """Whether arrivals that last so long, or a window and what is before it, are too short for what
    they are.

    >>> def taking(us):
    ...     return {"load_offered": 0.5, "fct": {"long": {"p99_us": us}}}
    >>> is_short(8e-3, taking(1470.0)), is_short(137e-3, taking(2980.0))
    (True, False)
    """
    slow, window = slow_s(summary), summary.get("window")
    if slow is None:
        return False
    if window is None:
        return arrivals_s < TIMES * slow
    return bool(window["until_s"] < TIMES * slow or window["from_s"] < TIMES / 2 * slow)
