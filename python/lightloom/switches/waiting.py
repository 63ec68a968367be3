"""Waits for new cross-connects; all drivers use it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence

from lightloom.switches.ports import Pair, Port, ends_of, name_of
from lightloom.switches.protocol import NO_STATUS, CircuitSwitch, Outcome, Reading, SwitchError
from lightloom.switches.states import Status

FIRST_POLL_S = 0.005
"""The first interval between readings [s]; each later one is twice as long as the one before."""
LONGEST_POLL_S = 1.0
"""The longest interval between readings [s]."""
STATUS_S = 2.0
"""The longest wait for the first status of a new cross-connect [s]: SONiC reports it only after it
has processed the configuration."""
LIT_DBM = -40.0
"""A port with more power than this has light [dBm]."""
STEADY_DB = 0.1
"""Light is steady if two readings differ by less than this [dB]."""
LIGHT_POLL_S = 0.01
"""The shortest interval between readings of light [s]."""
DARK_S = 2.0
"""An existing cross-connect is dark if it has no light for this time [s]; a settling path has some
light long before it is tuned."""
DARK_POLL_S = 0.1
"""Interval between these readings [s]."""


def wait_until_settled(
    read: Callable[[], Reading],
    done: Outcome,
    started: float,
    wait_s: float,
) -> Outcome:
    """Reads the switch until all added cross-connects are CONNECTED, if it reports states.

    Args:
        read: reads the switch.
        done: the result of the change.
        started: start of the change, by `time.monotonic`.
        wait_s: the longest wait [s].

    Raises:
        SwitchError: if a cross-connect failed, or had not settled in time.
    """
    interval = FIRST_POLL_S
    while True:
        reading = read()
        seconds = time.monotonic() - started
        waiting = _unsettled(reading, done.added, done, seconds < min(STATUS_S, wait_s))
        if not waiting:
            known = reading.by_pair()
            settled = None if any(known[pair].status is None for pair in done.added) else True
            return Outcome(done.removed, done.added, done.kept, settled, seconds)
        if seconds >= wait_s:
            names = ", ".join(map(name_of, waiting[:3]))
            message = f"{names} had not settled after {wait_s:g} s; look at its ports"
            raise SwitchError(message, Outcome(done.removed, done.added, done.kept, False, seconds))
        time.sleep(interval)
        interval = min(2 * interval, LONGEST_POLL_S)


def wait_for_light(
    power: Callable[[], Mapping[Port, float] | None],
    done: Outcome,
    started: float,
    wait_s: float,
) -> Outcome:
    """Reads monitors until the light of all added cross-connects is steady; for switches that
    report no states.

    Cross-connects without monitors, or into which no light enters, are not checked. Readings are a
    quarter of the elapsed time apart, so that readings of changing light differ even if the switch
    settles slowly.

    Args:
        power: reads the monitors.
        done: the result of the change.
        started: start of the change, by `time.monotonic`.
        wait_s: the longest wait [s].

    Raises:
        SwitchError: if light is not steady in time.
    """
    last: dict[Port, float] = {}
    while True:
        found = power() or {}
        judged = [Port("B", b) for a, b in done.added if found.get(Port("A", a), -1e3) > LIT_DBM]
        judged = [port for port in judged if port in found]
        dark = [port for port in judged if found[port] <= LIT_DBM]
        moving = [port for port in judged if abs(found[port] - last.get(port, 1e3)) > STEADY_DB]
        seconds = time.monotonic() - started
        if not dark and not moving:
            settled = True if len(judged) == len(done.added) else None
            return Outcome(done.removed, done.added, done.kept, settled, seconds)
        if seconds > wait_s:
            names = ", ".join(map(str, (dark or moving)[:3]))
            message = f"no steady light at {names} after {wait_s:.3g} s; check that port"
            raise SwitchError(message, Outcome(done.removed, done.added, done.kept, False, seconds))
        last = dict(found)
        time.sleep(max(LIGHT_POLL_S, seconds / 4))


def find_dark(switch: CircuitSwitch, reading: Reading, pairs: Collection[Pair]) -> dict[Pair, str]:
    """Returns the cross-connects of a reading that carry no light, with the reason.

    They are FAILED or, if the interface reports no states, dark by their monitors. Cross-connects
    without monitors, or into which no light enters, are not checked.

    Raises:
        SwitchError: if the switch does not answer.
    """
    listed = [one for one in reading.cross_connects if one.pair in pairs]
    failed = {
        one.pair: f"failed{f': {one.reason}' if one.reason else ''}"
        for one in listed
        if one.status is Status.FAILED
    }
    unknown = [one.pair for one in listed if one.status is None]
    return failed | (_dark_by_light(switch, unknown) if unknown else {})


def _dark_by_light(switch: CircuitSwitch, pairs: Sequence[Pair]) -> dict[Pair, str]:
    """Returns the cross-connects whose monitors show no light for `DARK_S`."""
    until, dark = time.monotonic() + DARK_S, [*pairs]
    while True:
        power = switch.power() or {}
        ends = {pair: [power.get(port) for port in ends_of(pair)] for pair in dark}
        found = {
            pair: f"dark: {into:.2f} dBm enters, {out:.2f} dBm leaves"
            for pair, (into, out) in ends.items()
            if into is not None and out is not None and out <= LIT_DBM < into
        }
        if not found or time.monotonic() > until:
            return found
        dark = [*found]
        time.sleep(DARK_POLL_S)


def _unsettled(
    reading: Reading, pairs: Sequence[Pair], done: Outcome, is_early: bool
) -> list[Pair]:
    """Returns the cross-connects that have not settled; early on, also those without a status.

    Raises:
        SwitchError: if one has failed, is invalid or is missing.
    """
    listed = reading.by_pair()
    waiting = []
    for pair in pairs:
        one = listed.get(pair)
        if one is None or one.status is Status.PENDING_DELETION:
            raise SwitchError(f"{name_of(pair)} was added and is not there; read the switch", done)
        if is_early and one.reason == NO_STATUS:
            waiting.append(pair)
            continue
        if one.status in (Status.FAILED, Status.INVALID):
            state = one.status.value.lower()
            reason = f": {one.reason}" if one.reason else ""
            raise SwitchError(f"{name_of(pair)} is {state}{reason}; look at its ports", done)
        if one.status is Status.PENDING_CONNECTION:
            waiting.append(pair)
    return waiting
