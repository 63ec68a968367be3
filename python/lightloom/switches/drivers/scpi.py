"""The driver for SCPI over TCP (Polatis, port 5025).

The dialect reports neither the state of a cross-connect nor its settling time. The driver waits
with `*opc?`, and then polls `:pmon:pow?` until the light is steady, if the switch has monitors.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from lightloom.switches.drivers._tcp import Line, NoAnswerError
from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of
from lightloom.switches.protocol import (
    WAIT_S,
    CrossConnect,
    Description,
    Outcome,
    Reading,
    SwitchError,
    before_a_change,
    check_before_sending,
    difference,
    displaced,
    power_of,
    understood,
)
from lightloom.switches.states import PortStatus
from lightloom.switches.waiting import wait_for_light

ANSWER_S = 10.0
"""The longest wait for an answer [s]."""
LONGEST = 1 << 20
"""The longest answer [bytes]."""
PAIRS = 512
"""Largest number of cross-connects in one command."""
POWERS = 256
"""Largest number of ports in one query of powers (limit of Polatis switches)."""
LIGHT_S = 2.0
"""The longest wait for steady light after `*opc?` [s]: the switch has settled by then."""
LIGHT_TIMES = 3.0
"""The same limit as a multiple of the time until `*opc?` answered, if that is longer: light within
0.5 dB of its target becomes steady in about the same time again."""
POWER_S = 2.0
"""The longest wait for powers [s], because a switch without monitors does not answer."""
_LINE = re.compile(rb"[^\n]*\n")
_LISTS = re.compile(r"\(@([0-9,]*)\),\(@([0-9,]*)\)")
_STATES = {"E": PortStatus.UNKNOWN, "D": PortStatus.BLOCKED, "F": PortStatus.FAILED}


class ScpiSwitch:
    """A switch that speaks SCPI."""

    def __init__(self, host: str, port: int = 5025) -> None:
        self._target = f"scpi://{host}:{port}"
        self._line = Line(self._target, (host, port), ANSWER_S, LONGEST)
        self._size: Size | None = None
        self._has_monitors: bool | None = None

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        return Description(
            self._target,
            "SCPI",
            self._query("*idn?"),
            self._ports(),
            reports_power=self.power() is not None,
        )

    def read(self) -> Reading:
        """Returns its present cross-connects and ports."""
        with understood(self._target, "SCPI"):
            size = self._ports()
            found = _LISTS.fullmatch(self._query(":oxc:swit:conn:stat?"))
            if found is None:
                raise SwitchError(f"{self._target}: no lists of ports in its answer; is it SCPI?")
            sides = [[int(text) for text in side.split(",") if text] for side in found.groups()]
            pairs = sorted((a, b - size.a) for a, b in zip(*sides, strict=True))
            states = self._query(":oxc:swit:port:stat?").strip("()").split(",")
            ports = {
                port: _STATES.get(state, PortStatus.UNKNOWN)
                for port, state in zip(size.ports(), states, strict=False)
            }
            return Reading([CrossConnect(pair, name_of(pair)) for pair in pairs], ports)

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Deletes, then creates; waits until the switch has settled."""
        started = time.monotonic()
        with before_a_change():
            check_before_sending(remove, add, self._ports())
            before = self.read()
        gone, new, kept = difference(before, remove, add)
        self._send("*cls")
        for verb, pairs in (("sub", gone), ("add", new)):
            for first in range(0, len(pairs), PAIRS):
                self._send(f":oxc:swit:conn:{verb} {self._lists(pairs[first : first + PAIRS])}")
                self._check(before)
        if new:
            self._await_completion(Outcome(gone, new, kept, settled=False), started, wait_s)
        listed = {*self.read().pairs}
        if {*new} - listed:
            raise SwitchError(f"{self._target}: did not create all cross-connects; read it")
        done = Outcome([*gone, *displaced(before, gone, new)], new, kept)
        taken = time.monotonic() - started
        patience = min(wait_s, max(taken + LIGHT_S, LIGHT_TIMES * taken))
        try:
            return wait_for_light(lambda: self._powers(new), done, started, patience)
        except SwitchError as problem:
            raise SwitchError(f"{self._target}: {problem}", problem.done or done) from None

    def _await_completion(self, done: Outcome, started: float, wait_s: float) -> None:
        try:
            self._query("*opc?", wait_s)
        except NoAnswerError:
            names = ", ".join(map(name_of, done.added[:3]))
            message = f"{self._target}: {names} had not settled after {wait_s:g} s"
            done = replace(done, seconds=time.monotonic() - started)
            raise SwitchError(f"{message}; look at its ports", done) from None

    def power(self) -> Mapping[Port, float] | None:
        """Returns the measured power that enters A ports and leaves B ports [dBm]."""
        return self._measured(self._ports().ports())

    def _powers(self, pairs: Sequence[Pair]) -> Mapping[Port, float] | None:
        return self._measured([port for pair in pairs for port in ends_of(pair)])

    def _measured(self, ports: Sequence[Port]) -> Mapping[Port, float] | None:
        """Returns the power at some ports; None if the switch has no monitors."""
        if self._has_monitors is False:
            return None
        after = self._ports().a
        found: dict[Port, float] = {}
        for first in range(0, len(ports), POWERS):
            some = ports[first : first + POWERS]
            numbers = [port.number + (after if port.side == "B" else 0) for port in some]
            try:
                answer = self._query(f":pmon:pow? (@{','.join(map(str, numbers))})", POWER_S)
                powers = [power_of(text) for text in answer.strip("()").split(",")]
                found.update(zip(some, powers, strict=True))
            except (SwitchError, ValueError):
                self._has_monitors = False  # a switch without monitors does not answer
                return None
        return found

    def close(self) -> None:
        """Ends the connection."""
        self._line.close()

    def _ports(self) -> Size:
        if self._size is None:
            sides = self._query(":oxc:swit:size?").split(",")
            if len(sides) != 2 or not all(side.strip().isdecimal() for side in sides):
                raise SwitchError(f"{self._target}: no size in its answer; is it SCPI?")
            self._size = Size(int(sides[0]), int(sides[1]))
        return self._size

    def _lists(self, pairs: Sequence[Pair]) -> str:
        after = self._ports().a
        a = ",".join(str(pair[0]) for pair in pairs)
        return f"(@{a}),(@{','.join(str(pair[1] + after) for pair in pairs)})"

    def _check(self, before: Reading) -> None:
        """Raises the error of the last command, if any."""
        answer = self._query(":syst:err?")
        number, _, text = answer.partition(",")
        if number.strip() == "0":
            return
        after = {*self.read().pairs}
        lit = {*before.pairs}
        done = Outcome(sorted(lit - after), sorted(after - lit))
        message = f"{self._target}: error {number}: {text.strip().strip(chr(34))}; read the switch"
        raise SwitchError(message, done)

    def _send(self, command: str) -> None:
        self._line.send(f"{command}\n")

    def _query(self, command: str, wait_s: float | None = None) -> str:
        self._send(command)
        return self._line.receive(_LINE, ANSWER_S if wait_s is None else wait_s).strip()
