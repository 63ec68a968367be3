"""The driver for SONiC's command line over SSH, both generations.

It follows the reference client of sonic-mgmt: it reads the configuration and the status, clears
stale entries that hold a needed port by adding and deleting them, deletes, adds, polls until both
sides are tuned, and saves. Two things differ. Conflicts are found by port and side, not by number.
`add` is sent with the mode `safe`, so that it does not displace a cross-connect which has appeared
meanwhile (`?mode=update` sends the command of sonic-mgmt).
"""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Mapping, Sequence

import asyncssh

from lightloom.switches.access import Credentials
from lightloom.switches.drivers import _sonic_tables, _ssh
from lightloom.switches.ports import Pair, Port, Size, ends_of, name_of, pair_of
from lightloom.switches.protocol import (
    NO_STATUS,
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
    understood,
)
from lightloom.switches.states import Status
from lightloom.switches.waiting import wait_until_settled

PER_COMMAND = 64
"""Largest number of cross-connects in one command of the first generation."""
_SHOWS = {
    "first": (
        "show ocs cross-connect config",
        "show ocs cross-connect status",
        "show ocs port config",
        "show ocs port status",
    ),
    "generated": (
        "show ocs-cross-connect",
        "show ocs-cross-connect-table",
        "show ocs-port",
        "show ocs-port-table",
    ),
}
"""The commands that show cross-connects and ports: their configuration and their status."""


class SonicSwitch:
    """A switch that runs SONiC."""

    def __init__(
        self,
        host: str,
        port: int = 22,
        credentials: Credentials | None = None,
        *,
        ignore_host_key: bool | None = None,
        mode: str = "safe",
        save: bool = True,
    ) -> None:
        self._target = f"sonic://{host}:{port}"
        self._mode, self._save = mode, save
        self._login = _ssh.Login(
            self._target, host, port, credentials or Credentials(), ignore_host_key
        )
        try:
            self._generation = self._find_generation()
        except SwitchError:
            self._login.close()
            raise
        self._shows = _SHOWS[self._generation]
        self._size: Size | None = None

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        _, version = self._run("show version")
        found = re.search(r"HwSKU: *(\S+)", version)
        return Description(
            self._target,
            f"SONiC CLI ({self._generation})",
            found[1] if found else "",
            self._ports(),
            reports_status=True,
        )

    def read(self) -> Reading:
        """Returns its present cross-connects and ports."""
        config, status, _, port_status = self._shows
        configured = [
            pair for row in self._show(config) if (pair := pair_of(_sonic_tables.key_of(row)))
        ]
        status_rows = self._show(status)
        ports = _sonic_tables.port_states(self._show(port_status))
        states = _sonic_tables.statuses(status_rows, ports)
        found = [
            CrossConnect(pair, name_of(pair), *states.get(pair, (Status.FAILED, NO_STATUS)))
            for pair in configured
        ]
        stale = [pair for pair in states if pair not in {*configured}]
        found += [
            CrossConnect(pair, name_of(pair), states[pair][0], configured=False) for pair in stale
        ]
        return Reading(found, ports)

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Deletes, then creates; waits until both sides of new cross-connects are tuned; saves."""
        started = time.monotonic()
        with before_a_change():
            check_before_sending(remove, add, self._ports())
            before = self.read()
        gone, new, kept = difference(before, remove, add)
        done = Outcome([], [], kept)
        try:
            stale = self._stale(before, gone, new)
            self._send("add", stale, done, "update")
            gone = [*stale, *(pair for pair in gone if pair not in stale)]
            done = self._send("delete", gone, done, "")
            done = self._send("add", self._to_add(before, new), done, self._mode)
            done = Outcome(done.removed, new, done.kept)
            if self._save and (gone or new):
                self._command("config save -y")
        except _RefusedError as problem:  # a part of the list may have been applied
            there, lit = {*self.read().pairs}, {*before.pairs}
            done = Outcome(sorted(lit - there), sorted(there - lit), kept)
            raise SwitchError(str(problem), done) from None
        done = Outcome([*done.removed, *displaced(before, gone, new)], done.added, done.kept)
        if not new:
            seconds = time.monotonic() - started
            return Outcome(done.removed, done.added, done.kept, True, seconds)
        try:
            return wait_until_settled(self.read, done, started, wait_s)
        except SwitchError as problem:
            raise named(self._target, problem) from None

    def power(self) -> Mapping[Port, float] | None:
        """Returns None, because the command line reports no power."""
        return None

    def factory_losses(self) -> Mapping[Pair, float]:
        """Returns the factory table [dB], which only the first generation prints."""
        if self._generation != "first":
            return {}
        with understood(self._target, "SONiC CLI"):
            return _sonic_tables.losses(self._show("show ocs factory-insertion-loss"))

    def close(self) -> None:
        """Ends the connection."""
        self._login.close()

    def _find_generation(self) -> str:
        for name, (show, *_) in _SHOWS.items():
            if self._run(show)[0] == 0:
                return name
        raise SwitchError(f"{self._target}: has no OCS command line; is it an OCS?", Outcome())

    def _ports(self) -> Size:
        if self._size is None:
            ports = _sonic_tables.ports_in(self._show(self._shows[2]))
            a = max((port.number for port in ports if port.side == "A"), default=0)
            b = max((port.number for port in ports if port.side == "B"), default=0)
            self._size = Size(a, b)
        return self._size

    def _stale(self, before: Reading, gone: Collection[Pair], new: Collection[Pair]) -> list[Pair]:
        """Returns stale entries that are to be deleted or hold a needed port; each must be added
        before it can be deleted."""
        wanted = {port for pair in new for port in ends_of(pair)}
        return [
            one.pair
            for one in before.cross_connects
            if not one.configured
            and one.pair not in new
            and (one.pair in gone or wanted & {*ends_of(one.pair)})
        ]

    def _to_add(self, before: Reading, new: Sequence[Pair]) -> list[Pair]:
        """Returns the cross-connects to add: all of them in the first generation; without existing
        ones in the generated command line, which refuses these. The switch itself sets an invalid
        one up when its ports are free."""
        if self._generation == "first":
            return [*new]
        held = {one.pair for one in before.cross_connects if one.configured}
        return [pair for pair in new if pair not in held]

    def _send(self, verb: str, pairs: Sequence[Pair], done: Outcome, mode: str) -> Outcome:
        each = PER_COMMAND if self._generation == "first" else 1
        for first in range(0, len(pairs), each):
            some = pairs[first : first + each]
            self._command(self._text(verb, some, mode))
            if verb == "add":
                done = Outcome(done.removed, [*done.added, *some], done.kept)
            else:
                done = Outcome([*done.removed, *some], done.added, done.kept)
        return done

    def _text(self, verb: str, pairs: Sequence[Pair], mode: str) -> str:
        names = ",".join(map(name_of, pairs))
        if self._generation == "first":
            return f"config ocs cross-connect {verb} {names} {mode}".rstrip()
        a, b = ends_of(pairs[0])
        sides = f" --a-side {a} --b-side {b}" if verb == "add" else ""
        return f"config ocs-cross-connect {verb} {names}{sides}"

    def _command(self, text: str) -> None:
        code, answer = self._run(f"sudo {text}")
        told = self._generation == "first" and "cross-connect" in text
        if code or (told and "succeeded" not in answer):
            said = " ".join(answer.split())[:300] or f"exit code {code}"
            raise _RefusedError(f"{self._target}: {said}; read the switch")

    def _show(self, command: str) -> list[_sonic_tables.Row]:
        """Returns the rows of the table that a command prints."""
        code, answer = self._run(command)
        if code:
            raise SwitchError(f"{self._target}: `{command}` failed: {answer.strip()[:200]}")
        return _sonic_tables.rows_of(answer)

    def _run(self, command: str) -> tuple[int, str]:
        async def run(line: asyncssh.SSHClientConnection) -> tuple[int, str]:
            found = await line.run(command, check=False)
            if found.exit_status is None:
                raise ConnectionError("it closed the connection")
            return found.exit_status, f"{found.stdout!s}{found.stderr!s}"

        return self._login.run(run)


class _RefusedError(SwitchError):
    """Raised if the switch refuses a command."""
