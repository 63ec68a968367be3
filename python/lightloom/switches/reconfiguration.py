"""Measures changes between plans under traffic, on any switch: switching time, dark time of each
path, light of kept cross-connects, lost packets, and the result of the user's own program.

Light is sampled on a second connection. An emulated switch also counts packets (`packets`), which
its command face reports. Behind a real switch, the user's own program runs, such as iperf3.
"""

from __future__ import annotations

import shlex
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

from lightloom.errors import refusal
from lightloom.switches.light import Samples, dark_s, sampling
from lightloom.switches.packets import Counted
from lightloom.switches.ports import Pair, Port, ends_of, name_of
from lightloom.switches.protocol import (
    CircuitSwitch,
    Reading,
    SwitchError,
    before_a_change,
    difference,
)
from lightloom.switches.verdicts import Check, FailedError, SkippedError, Verdict, judged, ms

LEAST_PLANS = 2
"""Number of plans that a change needs."""
TUNED_WITHIN_DB = 0.5
"""Light of a kept cross-connect varies by less than this [dB]."""
RETRY_S = 0.05
"""Interval between readings of a switch that is restarting [s]."""
BROKE_OFF = "the changes broke off before light was sampled during all of them"
LAST_WORDS = 80
"""Largest number of characters of a client's last line that are shown."""


class Packets(Protocol):
    """Sends packets into every A port, and counts those that arrive."""

    def begin(self) -> None:
        """Starts to send once the links of all cross-connects are up."""

    def settle(self) -> None:
        """Waits after a change until all links are up."""

    def counts(self) -> Mapping[int, Counted]:
        """Returns A port → its packets up to now."""


@dataclass(frozen=True)
class Run:
    """A sequence of changes between plans, and the measurements during them."""

    plans: Sequence[Sequence[Pair]]
    """The cross-connects of each plan; the changes go through the plans in a cycle."""
    rounds: int = 5
    """Number of changes to each plan."""
    wait_s: float = 60.0
    """The longest wait for settling, and for the client after the last change [s]."""
    again: Callable[[], CircuitSwitch] | None = None
    """Opens a second connection, on which light is sampled."""
    packets: Packets | None = None
    """The packet counter; None if there is none."""
    client: str = ""
    """A command that runs during the changes."""


@dataclass
class _Seen:
    """The results of the changes."""

    taken_s: list[float] = field(default_factory=list)
    dark_s: dict[int, list[float]] = field(default_factory=dict)
    """A port → its dark time in each change that moved it."""
    steps_s: list[float] = field(default_factory=list)
    """Time between two samples of light."""
    swing_db: dict[Pair, float] = field(default_factory=dict)
    """Kept cross-connect → the largest change of its light."""
    packets: Mapping[int, Counted] = field(default_factory=dict)
    broke_off: bool = True
    """Whether the changes ended early."""


def run(switch: CircuitSwitch, what: Run) -> Iterator[Check]:
    """Changes between the plans, yields the results, and restores the cross-connects of the
    start."""
    with before_a_change():
        found = switch.read().pairs
    problem = _obstacle(what.plans, found)
    if problem:
        yield Check("plans", Verdict.FAILED, problem)
        return
    yield Check("plans", Verdict.PASSED, _said(what.plans))
    seen = _Seen()
    client = _Client(what.client) if what.client else None
    try:
        yield judged("changes", lambda: _changes(switch, what, seen))
    finally:
        # Runs also if the caller is interrupted and requests no more rows.
        ended = "" if client is None else client.end(what.wait_s)
        restored = judged("left as found", lambda: _restore(switch, what, found))
    yield restored
    yield judged("dark time", lambda: _dark(seen))
    yield judged("light of circuits that stay", lambda: _steady(seen))
    yield judged("packets", lambda: _lost(what, seen))
    if client is not None:
        yield Check("client", Verdict.PASSED if client.passed else Verdict.FAILED, ended)


class _Client:
    """A command that runs during the changes."""

    def __init__(self, command: str) -> None:
        try:
            words = shlex.split(command)
            # A program that prints much would block at a full pipe.
            self._output = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
            self._process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=self._output, stderr=subprocess.STDOUT
            )
        except (ValueError, IndexError, OSError) as problem:
            limit = f"does not start ({problem})"
            raise refusal("--client", command, limit, "give a program and its arguments") from None
        self.passed = False

    def end(self, wait_s: float) -> str:
        """Waits for its end, and kills it if it does not end; returns how it ended, and its last
        line."""
        try:
            self._process.wait(timeout=wait_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return f"did not end within {wait_s:g} s of the last change (--wait)"
        self.passed = self._process.returncode == 0
        self._output.seek(0)
        with self._output as output:
            lines = output.read().decode(errors="replace").strip().splitlines()
        last = f": {lines[-1].strip()[:LAST_WORDS]}" if lines else ""
        return f"exit code {self._process.returncode}{last}"


def stays_of(plans: Sequence[Sequence[Pair]]) -> set[Pair]:
    """Returns the cross-connects that all plans share."""
    return set.intersection(*(set(plan) for plan in plans))


def _obstacle(plans: Sequence[Sequence[Pair]], found: Sequence[Pair]) -> str:
    """Returns why the plans cannot be tried; empty if they can."""
    if all(set(plan) == set(plans[0]) for plan in plans):
        return "all plans have the same cross-connects; give two that differ"
    own = {port for plan in plans for pair in plan for port in ends_of(pair)}
    foreign = [pair for pair in found if pair not in plans[0] and own & {*ends_of(pair)}]
    if foreign:
        return f"{name_of(foreign[0])} uses a port of the plans; delete it, or take other ports"
    return ""


def _said(plans: Sequence[Sequence[Pair]]) -> str:
    stay = len(stays_of(plans))
    sizes = " and ".join(str(len(plan)) for plan in plans)
    return f"{sizes} cross-connects, of which {stay} stay"


def _changes(switch: CircuitSwitch, what: Run, seen: _Seen) -> str:
    """Carries out all changes in turn."""
    plans = [[*plan] for plan in what.plans]
    _change(switch, what, [], plans[0])
    if what.packets is not None:
        what.packets.begin()
    now = plans[0]
    for _ in range(what.rounds):
        for wanted in [*plans[1:], plans[0]]:
            _one(switch, what, now, wanted, seen)
            now = wanted
            if what.packets is not None:
                what.packets.settle()
    seen.broke_off = False
    if what.packets is not None:
        seen.packets = what.packets.counts()
    taken = seen.taken_s
    return (
        f"{len(taken)} changes, median {ms(statistics.median(taken))} "
        f"({ms(min(taken))} to {ms(max(taken))}) with the driver's polling"
    )


def _one(
    switch: CircuitSwitch, what: Run, now: list[Pair], wanted: list[Pair], seen: _Seen
) -> None:
    """Carries out one change, and samples its light."""
    gone, new = [p for p in now if p not in wanted], [p for p in wanted if p not in now]
    if what.again is None or not switch.describe().reports_power:
        seen.taken_s.append(_change(switch, what, gone, new))
        return
    with sampling(what.again()) as samples:
        seen.taken_s.append(_change(switch, what, gone, new))
    old = dict(gone)
    for a, b in new:
        ends = [Port("B", b) for b in (old.get(a), b) if b is not None]
        if a in old and all(port in samples[0][1] for port in ends):
            seen.dark_s.setdefault(a, []).append(dark_s(samples, Port("B", old[a]), Port("B", b)))
    for pair in (p for p in now if p in wanted):
        powers = [found[port] for _, found in samples if (port := Port("B", pair[1])) in found]
        if not powers:
            continue  # without a monitor
        swing = max(powers) - min(powers)
        seen.swing_db[pair] = max(seen.swing_db.get(pair, 0.0), swing)
    seen.steps_s += _steps(samples)


def _steps(samples: Samples) -> list[float]:
    return [b - a for (a, _), (b, _) in pairwise(samples)]


def _change(switch: CircuitSwitch, what: Run, gone: list[Pair], new: list[Pair]) -> float:
    """Carries out one change, which must settle; returns its duration [s]."""
    done = switch.change(gone, new, wait_s=what.wait_s)
    if done.settled is False:
        raise FailedError(f"not settled after {what.wait_s:g} s; read the switch")
    listed = switch.read().pairs
    missing = [pair for pair in new if pair not in listed]
    left = [pair for pair in gone if pair in listed]
    if missing or left:
        wrong = missing or left
        raise FailedError(f"{name_of(wrong[0])} is {'not' if missing else 'still'} there")
    return done.seconds


def _restore(switch: CircuitSwitch, what: Run, found: Sequence[Pair]) -> str:
    """Deletes the cross-connects that the plans created, and restores those that they deleted."""
    brought = {pair for plan in what.plans for pair in plan} - {*found}
    gone, new, _ = difference(_read_again(switch, what.wait_s), [*brought], [*found])
    switch.change(gone, new, wait_s=what.wait_s)
    if switch.read().pairs != [*found]:
        raise FailedError("the cross-connects differ from those at the start; compare them")
    return f"{len(found)} cross-connects"


def _read_again(switch: CircuitSwitch, wait_s: float) -> Reading:
    """Returns the reading of a switch, which may be restarting."""
    until = time.monotonic() + wait_s
    while True:
        try:
            return switch.read()
        except SwitchError:
            if time.monotonic() > until:
                raise
            time.sleep(RETRY_S)


def _dark(seen: _Seen) -> str:
    if not seen.dark_s:
        raise SkippedError("the interface reports no power, or no A port moves")
    if seen.broke_off:
        raise SkippedError(BROKE_OFF)
    each = {a: statistics.median(times) for a, times in seen.dark_s.items()}
    longest = max(each, key=lambda a: each[a])
    step = statistics.median(seen.steps_s)
    return (
        f"{len(each)} A ports move: dark for {ms(min(each.values()))} to {ms(each[longest])} "
        f"(median; the longest is {longest}A), sampled every {ms(step)}"
    )


def _steady(seen: _Seen) -> str:
    if not seen.swing_db:
        raise SkippedError("the interface reports no power, or nothing stays")
    worst = max(seen.swing_db, key=lambda pair: seen.swing_db[pair])
    if seen.swing_db[worst] > TUNED_WITHIN_DB:
        raise FailedError(f"that of {name_of(worst)} changed by {seen.swing_db[worst]:.2f} dB")
    if seen.broke_off:
        raise SkippedError(BROKE_OFF)
    return f"{len(seen.swing_db)} cross-connects: steady within {seen.swing_db[worst]:.2f} dB"


def _lost(what: Run, seen: _Seen) -> str:
    if what.packets is None:
        raise SkippedError("nothing counts packets; give --faults URL, or --client COMMAND")
    if not seen.packets:
        raise SkippedError("the changes ended before packets were counted")
    stay = {a for a, _ in stays_of(what.plans)}
    lost = {a: one.lost for a, one in seen.packets.items()}
    hurt = [a for a in sorted(stay) if lost.get(a)]
    if hurt:
        raise FailedError(f"{lost[hurt[0]]:,} packets of {hurt[0]}A were lost, which stays")
    sent = sum(one.sent for one in seen.packets.values())
    silence = max((one.silence_ps for one in seen.packets.values()), default=0)
    return (
        f"{sum(lost.values()):,} of {sent:,} were lost, none of {len(stay)} A ports that stay; "
        f"the longest silence was {ms(silence / 1e12)}"
    )
