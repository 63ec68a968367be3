"""The last decision before a replay differs from its log.

The circuits of the replay are not known to this module, only the demand that they connect.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Table = dict[str, Any]


def span_ps(lines: Sequence[str]) -> int:
    """Returns the time of the last line of a log that has a time [ps].

    >>> span_ps(['{"format": "…"}', '{"at_ps": 0, "input": "tick"}', '{"end": 1}'])
    0
    """
    times = (json.loads(line).get("at_ps") for line in reversed(lines))
    return int(next((time for time in times if time is not None), 0))


def decision(lines: Sequence[str], replay: Mapping[str, Any]) -> Table | None:
    """Returns the last decision before two controllers differ; None if they never differ, or differ
    before any decision.

    `at_ps`; `demand_bytes`; for `recorded` and `replayed`, `joined_bytes`, the part of the demand
    between racks that the controller connected; for `recorded`, `dark` and `light`, the circuits
    that it then broke and lit, as rows of two racks and a plane.
    """
    parted = replay["parted"]
    if parted is None:
        return None
    found = [_last(replay[side]["decisions"], parted["at_ps"]) for side in ("recorded", "replayed")]
    recorded, replayed = found
    if recorded is None or replayed is None:
        return None
    asked = _asked(lines, parted["line"] - 1)
    return {
        "at_ps": recorded["at_ps"],
        "demand_bytes": recorded["demand_bytes"],
        "recorded": {"joined_bytes": recorded["joined_bytes"], **_circuits(asked)},
        "replayed": {"joined_bytes": replayed["joined_bytes"]},
    }


def _last(decisions: Iterable[Table], until_ps: int) -> Table | None:
    before = [decision for decision in decisions if decision["at_ps"] <= until_ps]
    return before[-1] if before else None


def _asked(lines: Sequence[str], at: int) -> list[Table]:
    """The actions of a log from the demand before a line to the next demand."""
    entries = [json.loads(line) for line in lines]
    demands = [
        place
        for place, entry in enumerate(entries)
        if isinstance(entry.get("input"), dict) and "demand" in entry["input"]
    ]
    begin = max((place for place in demands if place <= at), default=0)
    end = min((place for place in demands if place > begin), default=len(entries))
    actions = (entry.get("action") for entry in entries[begin:end])
    return [action for action in actions if isinstance(action, dict)]


def _circuits(actions: Sequence[Table]) -> dict[str, list[list[int]]]:
    return {
        kind: [
            circuit
            for action in actions
            if kind in action
            for circuit in action[kind][1]["circuits"]
        ]
        for kind in ("dark", "light")
    }
