"""One test for every driver and interface: states, refusals, conflicts, idempotence, order of
an update, bulk, switching time, and reconfiguration under light.

It uses only ports that are free at its start, and deletes its own cross-connects. A check is
skipped, with the reason, if the switch does not report the data that the check needs; a skipped
check does not count as passed.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext

from lightloom.switches.light import dark_s, sampling
from lightloom.switches.ports import Pair, Port, ends_of, name_of
from lightloom.switches.protocol import (
    CircuitSwitch,
    HasFactoryTable,
    Outcome,
    Reading,
    SwitchError,
    before_a_change,
    past_the_driver,
)
from lightloom.switches.states import PortStatus, Status
from lightloom.switches.verdicts import Check, FailedError, SkippedError, Verdict, judged, ms
from lightloom.switches.waiting import LIT_DBM

NEEDED = 4
"""Number of free ports that the test needs on each side."""
MOST_BULK = 512
"""Cross-connects [count] of the bulk change."""
REPEATS = 5
"""Number of changes over which the switching time is measured."""
TUNED_WITHIN_DB = 0.5
"""Light of a kept cross-connect varies by less than this [dB]."""
MOST_LOSS_DB = 20.0
"""A path with more loss than this is dark [dB]; the loss of switches is 1 to 6 dB."""
STEADY_DB = 0.02
"""Loss is measured once two readings differ by at most this [dB]."""
STEADY_POLL_S = 0.02
"""The shortest interval between these readings [s]."""
STEADY_STEPS = 4
"""Number of readings within the duration of the change.

Readings of light that still settles then differ, even if the switch settles slowly.
"""
STEADY_S = 5.0
"""The longest wait for steady light [s]; twice the duration of the change, if that is longer."""


Body = Callable[[], str]


def run(
    switch: CircuitSwitch,
    again: Callable[[], CircuitSwitch] | None = None,
    wait_s: float = 60.0,
    bulk: int = MOST_BULK,
    reboot: Callable[[str], None] | None = None,
) -> Iterator[Check]:
    """Runs all checks; yields each result as soon as it is known.

    Args:
        switch: the switch under test.
        again: opens a second connection, on which light is sampled during a change.
        wait_s: the longest wait for settling [s].
        bulk: largest number of cross-connects in the bulk change.
        reboot: reboots the switch, `"warm"` or `"cold"`; needs `again`.
    """
    test = _Test(switch, again, wait_s, bulk, reboot)
    try:
        test.choose_ports()
    except (FailedError, SwitchError) as problem:
        yield Check("free ports", Verdict.FAILED, str(problem))
        return
    for name, body in test.bodies().items():
        found = judged(name, body)
        try:
            test.clean_up()
        except SwitchError as problem:
            if found.verdict is not Verdict.FAILED:
                found = Check(name, Verdict.FAILED, f"cannot delete what it created: {problem}")
        yield found
    yield judged("left as found", test.check_left_as_found)


class _Test:
    """The checks of one switch."""

    def __init__(
        self,
        switch: CircuitSwitch,
        again: Callable[[], CircuitSwitch] | None,
        wait_s: float,
        bulk: int,
        reboot: Callable[[str], None] | None,
    ) -> None:
        self._switch, self._again, self._wait_s, self._bulk = switch, again, wait_s, bulk
        self._reboot = reboot
        with before_a_change():
            self._about, self._found = switch.describe(), switch.read()
        self._a: list[int] = []
        self._b: list[int] = []

    def bodies(self) -> dict[str, Body]:
        """Returns the checks by name, in order."""
        return {
            "ports": self._check_ports,
            "create": self._check_create,
            "idempotence": self._check_idempotence,
            "keep": self._check_keep,
            "conflict": self._check_conflict,
            "refusal": self._check_refusal,
            "delete what is not there": self._check_missing,
            "order of an update": self._check_order,
            "bulk": self._check_bulk,
            "switching time": self._check_time,
            "loss per path": self._check_loss,
            "reconfiguration under light": self._check_under_light,
            "warm reboot": lambda: self._check_reboot("warm"),
            "cold reboot": lambda: self._check_reboot("cold"),
        }

    def choose_ports(self) -> None:
        """Selects ports that are in no cross-connect."""
        used = {port for one in self._found.cross_connects for port in ends_of(one.pair)}
        unfit = {at for at, status in self._found.ports.items() if status is PortStatus.FAILED}
        free = [port for port in self._about.size.ports() if port not in used | unfit]
        self._a = [port.number for port in free if port.side == "A"]
        self._b = [port.number for port in free if port.side == "B"]
        if min(len(self._a), len(self._b)) < NEEDED:
            remedy = "delete some cross-connects" if used else "test a larger switch"
            raise FailedError(f"fewer than {NEEDED} on a side; {remedy}")

    def clean_up(self) -> None:
        """Deletes the cross-connects that the last check left."""
        own = [pair for pair in self._listed() if pair[0] in self._a or pair[1] in self._b]
        if own:
            self._switch.change(own, [], wait_s=self._wait_s)

    def check_left_as_found(self) -> str:
        """Checks that the cross-connects are those of the start of the test."""
        if self._listed() != [*self._found.pairs]:
            raise FailedError("the cross-connects differ from those at the start; compare them")
        return f"{len(self._found.pairs)} cross-connects"

    def _pair(self, a: int, b: int) -> Pair:
        return self._a[a], self._b[b]

    def _listed(self) -> list[Pair]:
        return self._switch.read().pairs

    def _change(self, remove: list[Pair], add: list[Pair]) -> Outcome:
        return self._switch.change(remove, add, wait_s=self._wait_s)

    def _require(self, reading: Reading, there: list[Pair], gone: list[Pair]) -> None:
        listed = reading.pairs
        for pair in there:
            if pair not in listed:
                raise FailedError(f"{name_of(pair)} is not there")
        for pair in gone:
            if pair in listed:
                raise FailedError(f"{name_of(pair)} is still there")
        for pair in there:
            one = reading.find(pair)
            if one is not None and one.status not in (None, Status.CONNECTED):
                raise FailedError(f"{name_of(pair)} is {one.status}")
        _require_ports_once(reading)

    def _check_ports(self) -> str:
        ports = self._found.ports
        if not ports:
            raise SkippedError("the interface reports no states of ports")
        failed = [str(at) for at in sorted(ports) if ports[at] is PortStatus.FAILED]
        if failed:
            raise FailedError(f"{', '.join(failed)}: failed, and not tested")
        return f"none of {len(ports)} has failed"

    def _check_create(self) -> str:
        pairs = [self._pair(0, 0), self._pair(1, 1)]
        done = self._change([], pairs)
        reading = self._switch.read()
        self._require(reading, pairs, [])
        for port in (port for pair in pairs for port in ends_of(pair)):
            known = (None, PortStatus.TUNED, PortStatus.UNKNOWN)
            if reading.ports.get(port) not in known:
                raise FailedError(f"port {port} is {reading.ports[port]}")
        return f"2 cross-connects in {ms(done.seconds)}"

    def _check_idempotence(self) -> str:
        pairs = [self._pair(0, 0), self._pair(1, 1)]
        before = self._steady_losses(pairs, self._change([], pairs).seconds)
        done = self._change([], pairs)
        if done.added or done.removed or sorted(done.kept) != sorted(pairs):
            raise FailedError("the same change a second time changed something")
        self._require_same(pairs, before)
        self._require(self._switch.read(), pairs, [])
        return "a second, equal change changes nothing"

    def _check_keep(self) -> str:
        first, second = self._pair(0, 0), self._pair(1, 1)
        done = self._change([], [first])
        before = self._steady_losses([first], done.seconds)
        self._change([], [second])
        self._require(self._switch.read(), [first, second], [])
        after = self._require_same([first], before)
        if not after:
            return "listed before and after; no light enters, or no monitor"
        return f"a loss of {before[0]:.2f} and {after[0]:.2f} dB before and after"

    def _check_conflict(self) -> str:
        """Requests cross-connects that need a port in use: an A port, a B port, and one in the
        middle of a bulk change."""
        first = self._pair(0, 0)
        rivals = {
            "A port": [self._pair(0, 1)],
            "B port": [self._pair(1, 0)],
            "bulk": [self._pair(1, 1), self._pair(0, 2), self._pair(2, 3)],
        }
        found = {name: self._compete(first, new) for name, new in rivals.items()}
        if len({*found.values()}) == 1:
            return f"{found['A port']}, at either port and within a bulk"
        return ", ".join(f"{name}: {outcome}" for name, outcome in found.items())

    def _compete(self, first: Pair, new: list[Pair]) -> str:
        """Creates cross-connects of which one needs a port of an existing one; returns how the
        switch treats them."""
        self.clean_up()
        before = self._steady_losses([first], self._change([], [first]).seconds)
        try:
            self._change([], new)
        except SwitchError as problem:
            reading = self._switch.read()
            _require_ports_once(reading)
            if len(new) == 1:
                self._require_same([first], before)
                self._require(reading, [first], new)
            elif problem.done is not None:
                self._require_done({first, *new}, {first}, problem.done, reading)
            return "refused"
        reading = self._switch.read()
        _require_ports_once(reading)
        self._require(reading, new, [first])
        return "the new cross-connect replaces the old one"

    def _require_done(
        self, own: set[Pair], before: set[Pair], done: Outcome, reading: Reading
    ) -> None:
        """Checks that a failed change has changed exactly the cross-connects that it reports."""
        expected = before - {*done.removed} | {*done.added}
        wrong = sorted(({*reading.pairs} & own) ^ expected)
        if wrong:
            raise FailedError(f"the refusal does not report the state of {name_of(wrong[0])}")

    def _require_same(self, pairs: list[Pair], before: list[float]) -> list[float]:
        """Returns the losses of kept cross-connects, which must equal their earlier losses; empty
        if unknown."""
        after = self._losses(pairs, self._switch.power() or {}) if before else []
        for pair, old, new in zip(pairs, before, after, strict=False):
            if abs(old - new) > TUNED_WITHIN_DB:
                change = f"from {old:.2f} to {new:.2f} dB"
                raise FailedError(f"the loss of {name_of(pair)} went {change}")
        return after

    def _check_refusal(self) -> str:
        """Requests ports that do not exist: of the driver, and past it of the switch."""
        size, (a, b) = self._about.size, self._pair(0, 0)
        before = self._listed()
        for pair in ((size.a + 1, b), (a, size.b + 1), (0, b)):
            for way in (nullcontext, past_the_driver):
                try:
                    with way():
                        self._change([], [pair])
                except SwitchError:
                    continue
                raise FailedError(f"{name_of(pair)} was accepted on a switch of {size} ports")
        if self._listed() != before:
            raise FailedError("a refused change changed something")
        return "ports that do not exist are refused, by the driver and by the switch"

    def _check_missing(self) -> str:
        kept = self._pair(0, 0)
        self._change([], [kept])
        # Both ports of the first are free; one port of the others is in use.
        for pair in (self._pair(2, 2), self._pair(0, 1), self._pair(1, 0)):
            self._change([pair], [])
            self._require(self._switch.read(), [kept], [pair])
        return "ignored"

    def _check_order(self) -> str:
        straight = [self._pair(0, 0), self._pair(1, 1)]
        crossed = [self._pair(0, 1), self._pair(1, 0)]
        self._change([], straight)
        self._change(straight, crossed)
        self._require(self._switch.read(), crossed, straight)
        return "two cross-connects exchange their ports in one change"

    def _check_bulk(self) -> str:
        many = min(len(self._a), len(self._b), self._bulk)
        pairs = [*zip(self._a[:many], reversed(self._b[:many]), strict=True)]
        done = self._change([], pairs)
        self._require(self._switch.read(), pairs, [])
        started = time.monotonic()
        self._change(pairs, [])
        removed = time.monotonic() - started
        self._require(self._switch.read(), [], pairs)
        self._require_dark(pairs)
        return f"{many} created in {ms(done.seconds)}, deleted in {ms(removed)}"

    def _require_dark(self, pairs: list[Pair]) -> None:
        """Checks that no light leaves deleted cross-connects; their mirrors need time to move
        away."""
        until = time.monotonic() + STEADY_S
        while True:
            power = self._switch.power() or {}
            lit = [pair for pair in pairs if power.get(Port("B", pair[1]), LIT_DBM) > LIT_DBM]
            if not lit:
                return
            if time.monotonic() > until:
                raise FailedError(f"light leaves {name_of(lit[0])}, which was deleted")
            time.sleep(STEADY_POLL_S)

    def _check_time(self) -> str:
        one, other = self._pair(0, 0), self._pair(0, 1)
        self._change([], [one])
        taken = []
        for _ in range(REPEATS):
            taken.append(self._change([one], [other]).seconds)
            one, other = other, one
            self._losses([one], self._switch.power() or {})
        return (
            f"median of {REPEATS}: {ms(statistics.median(taken))} until the driver saw it settled"
        )

    def _check_loss(self) -> str:
        pairs = [self._pair(at, at) for at in range(NEEDED)]
        done = self._change([], pairs)
        if not self._about.reports_power:
            return f"{_listed_db(self._factory_losses(pairs))}, measured by the factory"
        losses = self._steady_losses(pairs, done.seconds)
        if not losses:
            raise SkippedError("no light enters these ports, or they have no monitors")
        return _listed_db(losses)

    def _factory_losses(self, pairs: list[Pair]) -> list[float]:
        """Returns the losses of paths from the factory table.

        Raises:
            SkippedError: if there is no table.
            FailedError: if the table lacks a path, or has an impossible loss.
        """
        switch = self._switch
        table = switch.factory_losses() if isinstance(switch, HasFactoryTable) else {}
        if not table:
            raise SkippedError("the interface reports no power, and no factory table")
        for pair in pairs:
            if pair not in table:
                raise FailedError(f"{name_of(pair)} is not in the factory table")
            if table[pair] > MOST_LOSS_DB:
                raise FailedError(
                    f"{name_of(pair)} loses {table[pair]:.2f} dB by the factory table"
                )
        return [table[pair] for pair in pairs]

    def _steady_losses(self, pairs: list[Pair], took_s: float) -> list[float]:
        """Returns the losses once light is steady. Light within 0.5 dB of its target may still be
        settling.

        Args:
            pairs: cross-connects that the last change created.
            took_s: the duration of that change [s].
        """
        until = time.monotonic() + max(STEADY_S, 2 * took_s)
        last: list[float] = []
        while True:
            losses = self._losses(pairs, self._switch.power() or {})
            if not losses:
                return losses
            same = len(losses) == len(last)
            if same and all(abs(a - b) <= STEADY_DB for a, b in zip(losses, last, strict=True)):
                return losses
            if time.monotonic() > until:
                return losses
            last = losses
            time.sleep(max(STEADY_POLL_S, took_s / STEADY_STEPS))

    def _losses(self, pairs: list[Pair], power: Mapping[Port, float]) -> list[float]:
        """Returns the loss of each path that has monitors and into which light enters.

        Raises:
            FailedError: if a path is dark, or has more light at its end than at its start.
        """
        found = []
        for pair in pairs:
            into, out = (power.get(port) for port in ends_of(pair))
            if into is None or out is None or into < LIT_DBM:
                continue
            if into - out > MOST_LOSS_DB:
                raise FailedError(f"{name_of(pair)} is dark: {into:.2f} dBm in, {out:.2f} dBm out")
            if out - into > TUNED_WITHIN_DB:
                raise FailedError(f"{name_of(pair)} gains {out - into:.2f} dB: check its monitors")
            found.append(into - out)
        return found

    def _check_reboot(self, kind: str) -> str:
        if self._reboot is None or self._again is None:
            raise SkippedError("nothing can reboot the switch; give --faults URL")
        pair = self._pair(0, 0)
        before = self._steady_losses([pair], self._change([], [pair]).seconds)
        others = [one for one in self._listed() if one != pair]
        started = time.monotonic()
        self._reboot(kind)
        reading = self._read_again(started)
        away = time.monotonic() - started
        _require_ports_once(reading)
        restored = pair in reading.pairs
        if kind == "warm" and not {pair, *others} <= {*reading.pairs}:
            raise FailedError("a warm reboot deleted cross-connects")
        if {*reading.pairs} & {pair, *others} not in ({pair, *others}, set()):
            raise FailedError("a part of the cross-connects came back")
        if kind == "warm":
            self._require(reading, [pair], [])
            self._require_same([pair], before)
        elif restored:
            self._await_light(pair, reading)
        again = ""
        if not restored and others:
            self._change([], others)
            again = ", and created again"
        told = "kept" if restored else f"removed{again}"
        return f"cross-connects {told}; away for {ms(away)}"

    def _await_light(self, pair: Pair, reading: Reading) -> None:
        """Waits until a restored cross-connect has settled."""
        until = time.monotonic() + self._wait_s
        while True:
            try:
                self._require(reading, [pair], [])
                self._losses([pair], self._switch.power() or {})
                return
            except FailedError:
                one = reading.find(pair)
                if one is None or one.status is Status.FAILED or time.monotonic() > until:
                    raise
            time.sleep(STEADY_POLL_S)
            reading = self._switch.read()

    def _read_again(self, started: float) -> Reading:
        """Returns the state that the switch reports on a new connection after a restart."""
        assert self._again is not None
        while True:
            try:
                self._switch.close()
                self._switch = self._again()
                return self._switch.read()
            except SwitchError:
                if time.monotonic() - started > self._wait_s:
                    raise
                time.sleep(0.05)

    def _check_under_light(self) -> str:
        if not self._about.reports_power or self._again is None:
            raise SkippedError("the interface reports no power")
        kept, moved, target = self._pair(0, 0), self._pair(1, 1), self._pair(1, 2)
        done = self._change([], [kept, moved])
        self._steady_losses([kept], done.seconds)
        with sampling(self._again()) as samples:
            self._change([moved], [target])
        port = Port("B", kept[1])
        powers = [powers[port] for _, powers in samples if port in powers]
        if not powers or not all(Port("B", b) in samples[0][1] for b in (moved[1], target[1])):
            raise SkippedError("these ports have no monitors")
        self._losses([kept, target], samples[-1][1])
        if max(powers) - min(powers) > TUNED_WITHIN_DB:
            raise FailedError(f"the light of {name_of(kept)} fell to {min(powers)} dBm")
        dark = dark_s(samples, Port("B", moved[1]), Port("B", target[1]))
        return f"kept: steady in {len(samples)} samples; moved: dark for about {ms(dark)}"


def _listed_db(losses: list[float]) -> str:
    return f"{', '.join(f'{loss:.2f}' for loss in losses)} dB"


def _require_ports_once(reading: Reading) -> None:
    seen: set[Port] = set()
    for pair in reading.pairs:
        for port in ends_of(pair):
            if port in seen:
                raise FailedError(f"port {port} is in two cross-connects")
            seen.add(port)
