"""Waiting for new cross-connects, the same for every driver."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from lightloom.switches.ports import Pair, name_of
from lightloom.switches.protocol import Outcome, Reading, SwitchError
from lightloom.switches.states import Status

FIRST_POLL_S = 0.005
"""The first interval between readings [s]; each next one is twice as long."""
LONGEST_POLL_S = 1.0
"""The longest interval between readings [s]."""


def wait_until_settled(
    read: Callable[[], Reading],
    done: Outcome,
    started: float,
    wait_s: float,
) -> Outcome:
    """Reads until all that was added is CONNECTED.

    Args:
        read: reads the switch.
        done: what was done.
        started: when the change began, by `time.monotonic`.
        wait_s: the longest wait [s].

    Raises:
        SwitchError: if a cross-connect failed, or had not settled in time.
    """
    interval = FIRST_POLL_S
    while True:
        waiting = _unsettled(read(), done.added, done)
        seconds = time.monotonic() - started
        if not waiting:
            return Outcome(done.removed, done.added, done.kept, True, seconds)
        if seconds >= wait_s:
            names = ", ".join(map(name_of, waiting[:3]))
            message = f"{names} had not settled after {wait_s:g} s; look at its ports"
            raise SwitchError(message, Outcome(done.removed, done.added, done.kept, False, seconds))
        time.sleep(interval)
        interval = min(2 * interval, LONGEST_POLL_S)


def _unsettled(reading: Reading, pairs: Sequence[Pair], done: Outcome) -> list[Pair]:
    """The cross-connects that have not settled yet.

    Raises:
        SwitchError: of one that failed, is invalid or is not there.
    """
    listed = {one.pair: one for one in reading.cross_connects}
    waiting = []
    for pair in pairs:
        one = listed.get(pair)
        if one is None:
            raise SwitchError(f"{name_of(pair)} was added and is not there; read the switch", done)
        if one.status in (Status.FAILED, Status.INVALID):
            state = one.status.value.lower()
            reason = f": {one.reason}" if one.reason else ""
            raise SwitchError(f"{name_of(pair)} is {state}{reason}; look at its ports", done)
        if one.status is Status.PENDING_CONNECTION:
            waiting.append(pair)
    return waiting
