"""Whether flows arrived for long enough to reach a steady state.

A network begins empty. It fills until its large flows have come and gone several times; meanwhile
completion times grow with the number of flows. If the load is not carried, they always grow. A run
of a fixed number of flows alone shows neither; `run.warm_up` and `run.measure` exclude the
beginning."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from lightloom import _core
from lightloom.units.bounds import bound

TIMES = 10
"""Required duration of arrivals ÷ 99th percentile of completion times of long flows; of a measured
window, half of it is the warm-up."""
RELAXATIONS = _core.RELAXATIONS
"""Relaxation times of the slowest queue that a run needs for intervals [count]."""
LEAST_RELAXATIONS = 2
"""Relaxation times of the slowest queue that a window needs to show whether the load is carried. In
one relaxation time, the backlog of a network that carries the load can grow by up to all bytes that
arrive."""
REMEDY = "more flows may show longer times; run.warm_up and run.measure measure a steady state"
REMEDY_OF_WINDOW = "a longer run.warm_up and run.measure may show longer times"


def slow_s(summary: Mapping[str, Any]) -> float | None:
    """Returns the 99th percentile of completion times [s]: of long flows; of all flows in a
    measured window, or if there are no long flows. None if the workload has no load."""
    if summary.get("load_offered") is None:
        return None
    if summary.get("window") is not None:
        found = bound(summary, "window.p99_us")
    else:
        found = bound(summary, "fct.long.p99_us") or bound(summary, "fct.all.p99_us")
    return None if found is None else found.low * 1e-6


def least_s(summaries: Iterable[Mapping[str, Any]]) -> float | None:
    """Returns the shortest window that gives the latencies of all these runs an interval [s],
    rounded up to two digits; None if one of them has no theoretical relaxation time.

    >>> least_s([{"relaxation_s": 1e-3}, {"relaxation_s": 2.01e-3}])
    0.041
    >>> least_s([{"relaxation_s": None}])
    """
    known = [summary.get("relaxation_s") for summary in summaries]
    if not known or None in known:
        return None
    return rounded_up(RELAXATIONS * max(float(seconds) for seconds in known if seconds is not None))


def rounded_up(seconds: float) -> float:
    """Rounds a time up to two significant digits [s].

    >>> rounded_up(0.0123), rounded_up(0.012)
    (0.013, 0.012)
    """
    digits = 1 - math.floor(math.log10(seconds))
    return round(math.ceil(round(seconds * 10.0**digits, 9)) / 10.0**digits, digits + 2)


def is_short_for_intervals(summary: Mapping[str, Any], arrivals_s: float | None = None) -> bool:
    """Whether the window (without one, the time in which flows arrived) is too short for intervals
    of latencies.

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
    """Whether a window is long enough to show whether the load is carried: at least
    `LEAST_RELAXATIONS` relaxation times. True if the relaxation time is unknown.

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
    """Returns the window that shows whether these runs carry the load, with a margin of 2 [s]; 0 if
    no relaxation time is known.

    >>> telling_s([{"relaxation_s": 0.1}, {"relaxation_s": None}])
    0.4
    """
    return 2 * LEAST_RELAXATIONS * max((s.get("relaxation_s") or 0.0 for s in summaries), default=0)


def remedy(summary: Mapping[str, Any]) -> str:
    """The remedy for a run that is too short."""
    return REMEDY if summary.get("window") is None else REMEDY_OF_WINDOW


def slow_flows(summary: Mapping[str, Any]) -> str:
    """Names the flows that `slow_s` describes: the long flows, if there are any and no window."""
    long = summary.get("window") is None and bound(summary, "fct.long.p99_us") is not None
    return "the long ones" if long else "the flows"


def warm_up_too_short(summary: Mapping[str, Any]) -> str:
    """States that only the warm-up of a short run is too short; empty if its window is, too.

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
    """Whether the arrivals, or the warm-up and the window, are short compared with the completion
    times.

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
