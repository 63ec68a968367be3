"""What a window must have before it denies, or grants, that the load of its run is carried.

The core calls a window *stable* if it accepted as much as flows alone in the network would send. A
window is too short to tell if it holds few flows, or if it or its warm-up is short beside the
largest flow, the cycle in which the fabric's circuits come again, or the queues of the load.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lightloom.results import steady_state

ENOUGH_FLOWS = 100
"""Flows in the run or the window; the share of the load that fewer deliver is chance [count]."""
TIMES_LARGEST = 3
"""Times that the largest flow takes alone, which a window must last."""
BEYOND_CHANCE = 1.5
"""Times what queues at their limit leave behind by chance; the mean of one is 0.8 times."""
TIMES_CYCLE = 3
"""Cycles, or times of the largest flow alone, in which a network has filled."""
SERVERS = 1.0
"""The load that the servers' links carry at most."""

Summary = Mapping[str, Any]
Window = Mapping[str, Any]


def judged(summary: Summary) -> Window:
    """The window of a run with the figures of the run that it is judged by."""
    return {
        **summary["window"],
        "tells": steady_state.tells_load(summary),
        "largest_alone_s": summary.get("largest_alone_s"),
        "cycle_s": summary.get("cycle_s"),
        "load": load(summary),
    }


def load(summary: Summary) -> float | None:
    """The load that was asked for; of traces and of mixes the load that was drawn."""
    asked = summary.get("load_asked")
    return summary.get("load_offered") if asked is None else asked


def is_beyond_servers(found: float | None) -> bool:
    """Whether a load is more than the servers' links carry, whatever the fabric.

    >>> is_beyond_servers(1.2), is_beyond_servers(1.0), is_beyond_servers(None)
    (True, False, False)
    """
    return found is not None and found > SERVERS


def has_enough_flows(windows: Sequence[Window]) -> bool:
    """Whether enough flows arrived in windows with the same load, if that is known."""
    counts = [w.get("flows") for w in windows]
    return None in counts or sum(n for n in counts if n is not None) >= ENOUGH_FLOWS


def is_long_enough(windows: Sequence[Window]) -> bool:
    """Whether windows last for several of the largest flow, and they and their warm-up for the
    cycle of the fabric's circuits; until then circuits have met a part of the racks."""
    return all(
        length >= max(TIMES_LARGEST * (w.get("largest_alone_s") or 0.0), w.get("cycle_s") or 0.0)
        for w in windows
        if (length := length_s(w)) is not None
    ) and all(warm_up_s(w) >= (w.get("cycle_s") or 0.0) for w in windows)


def had_time(windows: Sequence[Window]) -> bool:
    """Whether each warm-up was as long as the largest flow takes alone; until then a network is
    filling."""
    return all(warm_up_s(w) >= (w.get("largest_alone_s") or 0.0) for w in windows)


def grows(window: Window, missed: float) -> bool:
    """Whether the bytes that a window left behind are more than chance leaves in queues that are
    just able to serve what they are offered.

    Such queues grow as a random walk does. In T, servers that offer a load ρ of flows that take at
    most s each leave about √(s ÷ (ρT)) of their bytes behind if every one has a queue of its own,
    and less if they share queues. A network that fills, as its circuits come again, leaves more:
    it has to have had `TIMES_CYCLE` cycles before.

    Args:
        window: with `load`, `largest_alone_s` and `cycle_s`.
        missed: share of the due bytes that it did not accept.
    """
    length, load, alone = length_s(window), window.get("load"), window.get("largest_alone_s")
    if not length or not load or alone is None:
        return False
    filled = TIMES_CYCLE * max(alone, window.get("cycle_s") or 0.0)
    if warm_up_s(window) < filled or length < filled:
        return False
    return missed > BEYOND_CHANCE * math.sqrt(alone / (load * length))


def growing_s(window: Window, missed: float) -> float | None:
    """The length at which the same missed share would be more than chance [s]; None where none is
    known, or nothing was missed."""
    load, alone = window.get("load"), window.get("largest_alone_s")
    if missed <= 0.0 or not load or alone is None:
        return None
    return float(alone / load * (BEYOND_CHANCE / missed) ** 2)


def missed(window: Window) -> float | None:
    """Share of the due bytes that a window did not accept."""
    accepted, due = window.get("accepted"), window.get("paced") or window.get("offered")
    return None if not due or accepted is None else 1.0 - float(accepted) / float(due)


def warm_up_s(window: Window) -> float:
    """When a window begins [s]."""
    return float(window.get("from_s") or 0.0)


def length_s(window: Window) -> float | None:
    """How long it lasts [s]; None where that is not known."""
    until = window.get("until_s")
    return None if until is None else float(until) - warm_up_s(window)


def can_deny(windows: Sequence[Window]) -> bool:
    """Whether windows that miss what was due, with one load, show that it is not carried."""
    if any(is_beyond_servers(w.get("load")) for w in windows):
        return True
    return has_enough_flows(windows) and is_long_enough(windows) and had_time(windows)
