"""The driver for NETCONF over SSH (Polatis, port 830).

A change is one `<edit-config>` of the running datastore, or of the candidate followed by a
`<commit>` (`?datastore=candidate`). The model has no state of a cross-connect. If the switch has
power monitors, the driver waits until those of the new egress ports show light.
"""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, TypeVar

import asyncssh

from lightloom.switches.access import Credentials
from lightloom.switches.drivers import _ssh
from lightloom.switches.netconf_text import (
    BASE,
    CHUNKED,
    OPTICAL,
    Framer,
    framed,
    hello,
    local,
    parsed,
)
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
    power_of,
    understood,
)
from lightloom.switches.states import PortStatus
from lightloom.switches.waiting import wait_for_light

T = TypeVar("T")
_STATES = {
    "ENABLED": PortStatus.UNKNOWN,
    "DISABLED": PortStatus.BLOCKED,
    "FAILED": PortStatus.FAILED,
}


class NetconfSwitch:
    """A switch that speaks NETCONF with Polatis' model."""

    def __init__(
        self,
        host: str,
        port: int = 830,
        credentials: Credentials | None = None,
        *,
        ignore_host_key: bool | None = None,
        datastore: str = "running",
    ) -> None:
        self._target = f"netconf://{host}:{port}"
        self._datastore, self._message = datastore, 0
        self._session: _Session | None = None
        self._login = _ssh.Login(
            self._target, host, port, credentials or Credentials(), ignore_host_key
        )
        try:
            self._opened()
        except SwitchError:
            self._login.close()
            raise
        self._size: Size | None = None

    def describe(self) -> Description:
        """Returns the properties of the switch."""
        found = [
            leaf.text or ""
            for leaf in self._get("product-information").iter()
            if local(leaf) == "model-name"
        ]
        return Description(
            self._target,
            f"NETCONF ({self._datastore})",
            found[0] if found else "",
            self._ports(),
            reports_power=self.power() is not None,
        )

    def read(self) -> Reading:
        """Returns its present cross-connects and ports."""
        with understood(self._target, "NETCONF"):
            after = self._ports().a
            pairs = [
                (int(row["ingress"]), int(row["egress"]) - after)
                for row in _rows(self._get("cross-connects"), ("pair", "pairs"))
            ]
            states = {
                self._port(int(row["port-id"])): _STATES.get(
                    row.get("status", ""), PortStatus.UNKNOWN
                )
                for row in _rows(self._get("port-config"), ("port",))
            }
            return Reading([CrossConnect(pair, name_of(pair)) for pair in sorted(pairs)], states)

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = WAIT_S
    ) -> Outcome:
        """Sends one edit, and waits for light."""
        started = time.monotonic()
        with before_a_change():
            check_before_sending(remove, add, self._ports())
            before = self.read()
        gone, new, kept = difference(before, remove, add)
        if not gone and not new:
            return Outcome([], [], kept, True, time.monotonic() - started)
        busy = {pair[0]: pair for pair in before.pairs if pair not in gone}
        for pair in new:  # the key is the ingress: a merge would move an existing one
            if pair[0] in busy:
                other = name_of(busy[pair[0]])
                message = f"{self._target}: port {pair[0]}A is in {other}; delete that one, too"
                raise SwitchError(message, Outcome())
        self._edit(gone, new, before)
        done = Outcome(gone, new, kept)
        try:
            return wait_for_light(self.power, done, started, wait_s)
        except SwitchError as problem:
            raise SwitchError(f"{self._target}: {problem}", problem.done or done) from None

    def power(self) -> Mapping[Port, float] | None:
        """Returns the measured power that enters A ports and leaves B ports [dBm]."""
        with understood(self._target, "NETCONF"):
            rows = _rows(self._get("opm-power"), ("port",))
            return {self._port(int(row["port-id"])): power_of(row["power"]) for row in rows} or None

    def close(self) -> None:
        """Ends the session."""
        self._login.close()

    def _edit(self, gone: Sequence[Pair], new: Sequence[Pair], before: Reading) -> None:
        again = {pair[0] for pair in new}
        rows = [
            f'<pair nc:operation="remove"><ingress>{pair[0]}</ingress></pair>'
            for pair in gone
            if pair[0] not in again
        ]
        after = self._ports().a
        rows += [f"<pair><ingress>{a}</ingress><egress>{b + after}</egress></pair>" for a, b in new]
        config = f'<cross-connects xmlns="{OPTICAL}">{"".join(rows)}</cross-connects>'
        try:
            self._rpc(
                f"<edit-config><target><{self._datastore}/></target>"
                "<error-option>rollback-on-error</error-option>"
                f'<config xmlns:nc="{BASE}">{config}</config></edit-config>'
            )
            if self._datastore == "candidate":
                self._rpc("<commit/>")
        except _RefusedError as problem:
            if self._datastore == "candidate":
                self._rpc("<discard-changes/>")
            there, lit = {*self.read().pairs}, {*before.pairs}
            done = Outcome(sorted(lit - there), sorted(there - lit))
            raise SwitchError(str(problem), done) from None

    def _ports(self) -> Size:
        """Returns the ports of both sides, from the size in the name of the model; else half of the
        ports for each side."""
        if self._size is None:
            product = self._get("product-information")
            text = " ".join(leaf.text or "" for leaf in product.iter())
            found = re.search(r"-(\d+)x(\d+)-", text)
            if found is not None:
                self._size = Size(int(found[1]), int(found[2]))
            else:
                many = len(_rows(self._get("port-config"), ("port",)))
                self._size = Size(many // 2, many - many // 2)
        return self._size

    def _port(self, number: int) -> Port:
        after = self._ports().a
        return Port("A", number) if number <= after else Port("B", number - after)

    def _get(self, container: str) -> ET.Element:
        pattern = f'<{container} xmlns="{OPTICAL}"/>'
        return self._rpc(f'<get><filter type="subtree">{pattern}</filter></get>')

    def _opened(self) -> _Session:
        """Returns the session; opens a new one if the last was lost."""
        if self._session is None:
            self._session = self._guarded(_Session.open)
        return self._session

    def _rpc(self, operation: str) -> ET.Element:
        """Returns the reply to one operation.

        Raises:
            SwitchError: if the reply is an error or does not arrive.
        """
        session = self._opened()
        self._message += 1
        number = str(self._message)
        text = f'<rpc xmlns="{BASE}" message-id="{number}">{operation}</rpc>'
        reply = self._guarded(lambda _: session.ask(text))
        if reply.get("message-id", number) != number:
            self._login.drop()
            self._session = None
            raise SwitchError(f"{self._target}: a reply to another message; is it NETCONF?")
        errors = [element for element in reply if local(element) == "rpc-error"]
        if errors:
            leaves = {local(leaf): (leaf.text or "").strip() for leaf in errors[0]}
            reason = leaves.get("error-message") or leaves.get("error-tag", "")
            raise _RefusedError(f"{self._target}: refused: {reason}; read the switch", Outcome())
        return reply

    def _guarded(self, work: Callable[[asyncssh.SSHClientConnection], Coroutine[Any, Any, T]]) -> T:
        try:
            return self._login.run(work)
        except SwitchError:
            self._session = None
            raise


class _Session:
    """A session of NETCONF."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        self._process, self._framer = process, Framer()

    @classmethod
    async def open(cls, line: asyncssh.SSHClientConnection) -> _Session:
        """Exchanges hellos."""
        process = await line.create_process(subsystem="netconf", encoding=None)
        session = cls(process)
        answer = await session.ask(hello(["urn:ietf:params:netconf:base:1.0", CHUNKED]))
        offered = {(element.text or "").strip() for element in answer.iter()}
        session._framer.chunked = CHUNKED in offered
        return session

    async def ask(self, text: str) -> ET.Element:
        """Sends a message and returns the next received one.

        Raises:
            BadMessageError: if the received message is malformed.
        """
        self._process.stdin.write(framed(text, chunked=self._framer.chunked))
        while (found := self._framer.next()) is None:
            more = await self._process.stdout.read(1 << 16)
            if not more:
                raise ConnectionError("it closed the session")
            self._framer.feed(more)
        return parsed(found)


class _RefusedError(SwitchError):
    """An rpc-error."""


def _rows(reply: ET.Element, names: tuple[str, ...]) -> list[dict[str, str]]:
    """Returns the leaves of each entry of a list."""
    return [
        {local(leaf): (leaf.text or "").strip() for leaf in element}
        for element in reply.iter()
        if local(element) in names and len(element)
    ]
