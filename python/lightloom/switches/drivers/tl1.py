"""The driver for TL1 over TCP (Calient, port 3082).

A bulk change is one command with ports joined by `&`; switches without such lists are not
supported. The driver reads the state of cross-connects and the power of ports if the switch reports
them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence

from lightloom.switches.access import Credentials
from lightloom.switches.drivers._tcp import Line
from lightloom.switches.ports import Pair, Port, Size, name_of
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
    named,
    power_of,
    understood,
)
from lightloom.switches.states import PortStatus, Status
from lightloom.switches.tl1_names import aid_of, number_of
from lightloom.switches.waiting import wait_until_settled

ANSWER_S = 30.0
"""The longest wait for an answer [s]."""
LONGEST = 8 << 20
"""The longest answer [bytes]."""
PAIRS = 512
"""Largest number of cross-connects in one command."""
GROUP = "LIGHTLOOM"
"""The group to which new cross-connects are assigned."""
_ROW = re.compile(r"SRCPORT=([^,\s]+),DSTPORT=([^,\s]+),[^\"\r\n]*?CONNTYPE=(\w+)([^\"\r\n]*)")
_PORT = re.compile(r'"([\w.]+):\w+,([^"\r\n]*)"')


class Tl1Switch:
    """A switch that speaks TL1."""

    def __init__(
        self,
        host: str,
        port: int = 3082,
        credentials: Credentials | None = None,
        *,
        port_names: str = "calient",
    ) -> None:
        self._target = f"tl1://{host}:{port}"
        self._names, self._ctag = port_names, 0
        self._secret = credentials or Credentials()
        if not re.fullmatch(r"[!-+\--9<-~]*", self._secret.user + (self._secret.password or "")):
            limit = "TL1 has names and passwords of ASCII without blanks, ; : and ,"
            raise SwitchError(f"{self._target}: {limit}; change them", Outcome())
        self._size: Size | None = None
        self._line = Line(self._target, (host, port), ANSWER_S, LONGEST, self._log_in)
        try:
            self._log_in()
        except SwitchError:
            self._line.close()
            raise

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        found = re.search(r"CHASSISTYPE=([\w.-]+)", self._command("RTRV-NE"))
        size = self._ports()
        return Description(
            self._target,
            "TL1",
            found[1] if found else "",
            size,
            reports_status=True,
            reports_power=self.power() is not None,
        )

    def read(self) -> Reading:
        """Returns its present cross-connects and ports."""
        with understood(self._target, "TL1"):
            found = []
            for a, b, kind, rest in _ROW.findall(self._command("RTRV-CRS", "", "::ALL")):
                pair = number_of(a, self._names), number_of(b, self._names)
                if pair[0] is None or pair[1] is None:
                    raise SwitchError(
                        f"{self._target}: port {a} or {b}: write ?ports=number|calient"
                    )
                state = re.search(r"STATE=(\w+)", rest)
                known = None if state is None else Status(state[1])
                found.append(CrossConnect((pair[0], pair[1]), f"{a}>{b}", known))
                if kind.upper() == "2WAY":
                    found.append(CrossConnect((pair[1], pair[0]), f"{a}-{b}", known))
            states = {port: status for port, (status, _) in self._port_rows().items()}
            return Reading(found, states)

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Deletes, then creates; waits until the new cross-connects have settled."""
        started = time.monotonic()
        with before_a_change():
            check_before_sending(remove, add, self._ports())
            before = self.read()
        gone, new, kept = difference(before, remove, add)
        done = Outcome([], [], kept)
        for first in range(0, len(gone), PAIRS):
            some = gone[first : first + PAIRS]
            self._commit("DLT-CRS", some, f":,{GROUP},", before)
            done = Outcome([*done.removed, *some], [], kept)
        for first in range(0, len(new), PAIRS):
            some = new[first : first + PAIRS]
            self._commit("ENT-CRS", some, f":{GROUP},1WAY", before)
            done = Outcome(done.removed, [*done.added, *some], kept)
        done = Outcome([*gone, *displaced(before, gone, new)], new, kept)
        try:
            return wait_until_settled(self.read, done, started, wait_s)
        except SwitchError as problem:
            raise named(self._target, problem) from None

    def power(self) -> Mapping[Port, float] | None:
        """Returns the measured power that enters A ports and leaves B ports [dBm]."""
        found = {port: power for port, (_, power) in self._port_rows().items()}
        return {port: power for port, power in found.items() if power is not None} or None

    def close(self) -> None:
        """Ends the connection."""
        self._line.close()

    def _ports(self) -> Size:
        if self._size is None:
            ports = [*self._port_rows()]
            sides = [
                max((port.number for port in ports if port.side == side), default=0)
                for side in "AB"
            ]
            self._size = Size(*sides)
        return self._size

    def _port_rows(self) -> dict[Port, tuple[PortStatus, float | None]]:
        """Returns the state and the power of each port."""
        with understood(self._target, "TL1"):
            found: dict[Port, tuple[PortStatus, float | None]] = {}
            for aid, rest in _PORT.findall(self._command("RTRV-PORT", "0")):
                number = number_of(aid, self._names)
                if number is None:
                    raise SwitchError(f"{self._target}: port {aid}: write ?ports=number|calient")
                fields = dict(re.findall(r"(\w+)=([^,]*)", rest))
                for side, kind in (("A", "IN"), ("B", "OUT")):
                    if f"{kind}STATUS" in fields:
                        text, power = fields[f"{kind}STATUS"], fields.get(f"{kind}POWER")
                        known = text in PortStatus.__members__
                        status = PortStatus(text) if known else PortStatus.UNKNOWN
                        found[Port(side, number)] = (
                            status,
                            None if power is None else power_of(power),
                        )
            return found

    def _commit(self, verb: str, pairs: Sequence[Pair], rest: str, before: Reading) -> None:
        sides = ["&".join(aid_of(pair[side], self._names) for pair in pairs) for side in (0, 1)]
        try:
            self._command(verb, ",".join(sides), rest)
        except _DeniedError as problem:
            after, lit = {*self.read().pairs}, {*before.pairs}
            done = Outcome(sorted(lit - after), sorted(after - lit))
            raise SwitchError(f"{problem}; {name_of(pairs[0])} was the first", done) from None

    def _log_in(self) -> None:
        try:
            self._command("ACT-USER", self._secret.user, f":{self._secret.password or 'any'}")
        except _DeniedError:
            remedy = "check LIGHTLOOM_SWITCH_PASSWORD or the file of --credentials"
            message = f"{self._target}: refused the login; {remedy}"
            raise SwitchError(message, Outcome()) from None

    def _command(self, verb: str, aid: str = "", rest: str = "") -> str:
        """Returns the text of a completed answer.

        Raises:
            SwitchError: if the switch denied the command or did not answer.
        """
        self._ctag = self._ctag % 99_999 + 1
        ctag = self._ctag
        self._line.send(f"{verb}::{aid}:{ctag}:{rest};")
        end = re.compile(rb"M\s+%d \w+[^;]*;" % ctag)  # skips alarms and acknowledgements before it
        answer = self._line.receive(end, ANSWER_S)
        found = re.search(rf"M\s+{ctag} (\w+)(.*)", answer, re.DOTALL)
        if found is None:
            raise SwitchError(f"{self._target}: no answer to command {ctag}; is it TL1?")
        if found[1] != "COMPLD":
            reason = " ".join(found[2].rstrip(";").split())[:300]
            raise _DeniedError(f"{self._target}: {verb} denied: {reason}", Outcome())
        return found[2]


class _DeniedError(SwitchError):
    """Raised if the switch denies a command."""
