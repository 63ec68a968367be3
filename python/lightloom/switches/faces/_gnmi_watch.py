"""The values that a gNMI subscription has sent, and those it has to send next.

A path may have no match yet: its values are sent once they exist, and their deletion is reported
(gNMI §3.5).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pygnmi.spec.v080 import gnmi_pb2

from lightloom.switches.faces._gnmi_edits import Path
from lightloom.switches.faces._gnmi_paths import Match

SHORTEST_SAMPLE_S = 0.01
"""The shortest interval of a subscription [s]."""
ON_CHANGE_S = 0.02
"""Interval at which a subscription to changes compares values [s]."""
REST = 3.0
"""After a comparison, no other begins for this multiple of its duration, so that subscriptions
leave three quarters of the time to other clients."""
Key = tuple[tuple[str, frozenset[tuple[str, str]]], ...]
"""A path without wildcards."""


@dataclass
class Watched:
    """One subscription of a stream."""

    path: Any
    """The path, which may have wildcards."""
    interval_s: float
    """Interval between comparisons or samples [s]."""
    repeats: bool
    """Whether values are sent at each interval, even if they have not changed."""
    due_s: float = 0.0
    """Time at which the next comparison or sample is due [s]."""
    _sent: dict[Key, Match] = field(default_factory=dict)

    def news(self, values: list[Match], *, whole: bool) -> tuple[list[Match], list[Path]]:
        """Returns the values to send, and the paths of deleted values.

        Args:
            values: the present ones.
            whole: also send unchanged values.
        """
        now = {_key(steps): (steps, value) for steps, value in values}
        gone = [steps for key, (steps, _) in self._sent.items() if key not in now]
        fresh = [match for key, match in now.items() if whole or self._sent.get(key) != match]
        self._sent = now
        return fresh, gone


class Turns:
    """Makes comparisons of all subscriptions run one after the other."""

    def __init__(self) -> None:
        self._next_s = 0.0

    async def wait(self) -> None:
        """Waits until the next comparison may begin."""
        while (left := self._next_s - time.monotonic()) > 0:
            await asyncio.sleep(left)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A comparison."""
        started = time.monotonic()
        try:
            yield
        finally:
            now = time.monotonic()
            self._next_s = now + REST * (now - started)


def watched_of(subscription: Any, now_s: float) -> Watched:
    """Returns a subscription whose first values are due now."""
    is_sample = subscription.mode == gnmi_pb2.SAMPLE
    asked = subscription.sample_interval / 1e9 if is_sample else 0.0
    interval = max(asked or ON_CHANGE_S, SHORTEST_SAMPLE_S)
    repeats = is_sample and not subscription.suppress_redundant
    return Watched(subscription.path, interval, repeats, now_s + interval)


def _key(steps: Path) -> Key:
    return tuple((name, frozenset(keys.items())) for name, keys in steps)
