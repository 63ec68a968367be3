"""Keys of a fabric that have an effect in the simulation and none on its testbed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lightloom.testbed.setup import Setup
from lightloom.units.durations import duration_ps


def not_emulated(setup: Setup) -> list[str]:
    """Sentences, each with a key that had no effect and the behaviour of the testbed instead.

    A key whose value has no effect anyway (a delay of 0, a share of 0) is omitted.
    """
    own = setup.resolved["fabric"][setup.fabric]
    keys = _SERVERS if setup.has_server_rules else _INSTEAD[setup.plane]
    found = [
        f"{key} = {own[key]} had no effect: {instead}"
        for key, instead in keys.items()
        if _asks(key, own.get(key))
    ]
    return found + list(_of_all(setup))


_INSTEAD = {
    "kernel": {
        "retag": "all tables change at once",
        "rule": "all tables change at once",
    },
    "user": {
        "nic_delay": "frames leave as the day begins",
        "sync_jitter": "synchronisation is late only if the emulating thread was",
        "night_deviation": "every night is as long as the first",
        "late_sync_fraction": "synchronisation is late only if the emulating thread was",
        "packet_rate": "no packet switch is beside the circuits",
        "rings": "one ring carries all racks",
    },
}
"""Data plane → key of a fabric → the behaviour of the testbed instead."""
_SERVERS = {
    "rule": "rules take the time that Open vSwitch takes",
    "pushing": "the switches of all servers get their rules at the same time",
}
"""The same for the kernel plane if servers tag packets."""
_NOTHING = {"rings": 1, "pushing": "parallel"}
"""Values without an effect, in addition to no value, zero and a delay of zero."""
_WORDS = ("packet_rate", "pushing")
"""Keys whose values are not durations."""


def _asks(key: str, value: Any) -> bool:
    if value is None or value == _NOTHING.get(key):
        return False
    if key in _WORDS or not isinstance(value, str):
        return bool(value)
    return duration_ps(f"fabric.{key}", value) > 0


def _of_all(setup: Setup) -> Iterator[str]:
    faults = setup.resolved.get("fault", [])
    own = [one for one in faults if one.get("fabric") in (None, setup.label)]
    if own:
        yield f"fault: {len(own)} had no effect: no part of the testbed fails"
