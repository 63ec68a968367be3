"""Conditions under which a window shows that the load of its run is carried, or is not.

The core calls a window *stable* if it accepted as many bytes as the flows would deliver alone in
the network. A window is too short for a statement if it has few flows, or if the window or its
warm-up is short compared with the largest flow, with the cycle of the fabric's circuits, or with
the relaxation time of the queues.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lightloom import _core
from lightloom.results import steady_state

MISSING = 0.02
"""Share of the due bytes that a window may miss, as in the core."""
ENOUGH_FLOWS = 100
"""Number of flows that a run or a window needs; the load that fewer flows deliver depends on
chance."""
TIMES_LARGEST = 3
"""Required length of a window ÷ time that the largest flow takes alone."""
BEYOND_CHANCE = 1.5
"""Factor on the backlog that queues at their limit build up by chance; its mean is 0.8 times
that."""
TIMES_CYCLE = 3
"""Cycles, or durations of the largest flow alone, after which a network has filled."""
SERVERS = 1.0
"""The highest load that the servers' links carry."""

Summary = Mapping[str, Any]
Window = Mapping[str, Any]


def judged(summary: Summary) -> Window:
    """Returns the window of a run with the figures of the run that the rules need."""
    return {
        **summary["window"],
        "tells": steady_state.tells_load(summary),
        "largest_alone_s": summary.get("largest_alone_s"),
        "way_s": way_s(summary),
        "cycle_s": summary.get("cycle_s"),
        "load": load(summary),
        "growing": summary.get("growing"),
        "excess": summary.get("excess"),
    }


def is_overloaded(seeds: Sequence[Mapping[str, Any]]) -> bool:
    """Whether in every seed a part of the traffic is offered more than its links carry, or its
    backlog grows, so that its flows wait longer the longer the run is. Takes summaries, or windows
    that are `judged`.

    >>> is_overloaded([{"growing": {"traffic": "from rack 3"}}, {}]), is_overloaded([])
    (False, False)
    """
    return bool(seeds) and all(seed.get("excess") or seed.get("growing") for seed in seeds)


def way_s(summary: Summary) -> float:
    """The propagation from rack to rack [s].

    >>> way_s({"physics": {"propagation": "60 us"}}), way_s({})
    (6e-05, 0.0)
    """
    way = (summary.get("physics") or {}).get("propagation")
    return 0.0 if way is None else _core.control_time("physics.propagation", str(way)) * 1e-12


def alone_s(window: Window) -> float:
    """Time that the largest flow takes alone [s]: at the link of its server, and on the way."""
    return float((window.get("largest_alone_s") or 0.0) + (window.get("way_s") or 0.0))


def load(summary: Summary) -> float | None:
    """The requested load; for traces and mixes, the load of the flows as drawn."""
    asked = summary.get("load_asked")
    return summary.get("load_offered") if asked is None else asked


def is_beyond_servers(found: float | None) -> bool:
    """Whether a load exceeds the capacity of the servers' links, which no fabric can carry.

    >>> is_beyond_servers(1.2), is_beyond_servers(1.0), is_beyond_servers(None)
    (True, False, False)
    """
    return found is not None and found > SERVERS


def has_enough_flows(windows: Sequence[Window]) -> bool:
    """Whether enough flows arrived in windows with the same load; True if that is unknown."""
    counts = [w.get("flows") for w in windows]
    return None in counts or sum(n for n in counts if n is not None) >= ENOUGH_FLOWS


def flows_s(windows: Sequence[Window]) -> float | None:
    """Returns the length of each window in which enough flows arrive [s], with a margin of 1.2;
    None if that is unknown, or enough arrived.

    >>> flows_s([{"flows": 10, "from_s": 0.0, "until_s": 0.01}])
    0.12
    """
    counts = [int(w.get("flows") or 0) for w in windows]
    lengths = [length_s(w) or 0.0 for w in windows]
    if has_enough_flows(windows) or not sum(counts):
        return None
    return 1.2 * max(lengths) * ENOUGH_FLOWS / sum(counts)


def is_long_enough(windows: Sequence[Window]) -> bool:
    """Whether each window lasts for several durations of the largest flow and for a cycle of the
    fabric's circuits, and its warm-up for a cycle; before that, circuits have connected only some
    of the racks."""
    return all(
        length >= max(TIMES_LARGEST * alone_s(w), w.get("cycle_s") or 0.0)
        for w in windows
        if (length := length_s(w)) is not None
    ) and all(warm_up_s(w) >= (w.get("cycle_s") or 0.0) for w in windows)


def had_time(windows: Sequence[Window]) -> bool:
    """Whether each warm-up is at least as long as the largest flow takes alone; before that, the
    network is filling."""
    return all(warm_up_s(w) >= alone_s(w) for w in windows)


def grows(window: Window, missed: float) -> bool:
    """Whether the backlog of the window is larger than that which builds up by chance in queues
    that can just serve their offered load.

    Such queues grow as a random walk. In the time T, servers with an offered load ρ of flows of
    duration at most s have a backlog of about √(s ÷ (ρT)) of their bytes if each has a queue of its
    own, and less if they share queues. A network that is still filling, for example during its
    first cycle of circuits, has more; warm-up and window must therefore each last `TIMES_CYCLE`
    cycles.

    Args:
        window: with `load`, `largest_alone_s` and `cycle_s`.
        missed: share of the due bytes that it did not accept.
    """
    length, load, alone = length_s(window), window.get("load"), window.get("largest_alone_s")
    if not length or not load or alone is None:
        return False
    filled = TIMES_CYCLE * max(alone_s(window), window.get("cycle_s") or 0.0)
    if warm_up_s(window) < filled or length < filled:
        return False
    return missed > BEYOND_CHANCE * math.sqrt(alone / (load * length))


def growing_s(window: Window, missed: float) -> float | None:
    """Returns the length at which the same missed share would exceed chance [s]; None if that is
    unknown, or if nothing was missed."""
    load, alone = window.get("load"), window.get("largest_alone_s")
    if missed <= 0.0 or not load or alone is None:
        return None
    return float(alone / load * (BEYOND_CHANCE / missed) ** 2)


def missed(window: Window) -> float | None:
    """Share of the due bytes that the window did not accept."""
    accepted, due = window.get("accepted"), window.get("paced") or window.get("offered")
    return None if not due or accepted is None else 1.0 - float(accepted) / float(due)


def warm_up_s(window: Window) -> float:
    """Start of the window [s]."""
    return float(window.get("from_s") or 0.0)


def length_s(window: Window) -> float | None:
    """Length of the window [s]; None if unknown."""
    until = window.get("until_s")
    return None if until is None else float(until) - warm_up_s(window)


def can_deny(windows: Sequence[Window]) -> bool:
    """Whether windows with one load that missed due bytes show that the load is not carried."""
    if any(is_beyond_servers(w.get("load")) or w.get("excess") for w in windows):
        return True
    return has_enough_flows(windows) and is_long_enough(windows) and had_time(windows)
