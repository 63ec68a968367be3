"""The NETCONF face: the model of Polatis switches over SSH (RFC 6241, RFC 6242).

Certain, as public clients use it: the namespace, `cross-connects/pair{ingress,egress}`,
`port-config/port`, `opm-power/port{port-id,power}`, `voa/port`, `product-information`;
candidate and running; ports count from 1, egress ports on after the ingress ports.
Assumptions: the leaves of `port-config` and `voa`; that `ingress` is the key of `pair`, so
that a merge with another egress moves the cross-connect; which errors are reported.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from typing import Any

import asyncssh

from lightloom.switches.access import Credentials
from lightloom.switches.config import Face
from lightloom.switches.faces import _ssh
from lightloom.switches.faces._netconf_data import Store, subtree
from lightloom.switches.faces._netconf_error import WrongError
from lightloom.switches.faces._netconf_ports import Ports
from lightloom.switches.faces._streams import IDLE_S
from lightloom.switches.host import AwayError, CutError, Host
from lightloom.switches.netconf_text import (
    BASE,
    CHUNKED,
    OPTICAL,
    BadMessageError,
    Framer,
    framed,
    hello,
    local,
    parsed,
)

CAPABILITIES = [
    "urn:ietf:params:netconf:base:1.0",
    CHUNKED,
    "urn:ietf:params:netconf:capability:writable-running:1.0",
    "urn:ietf:params:netconf:capability:candidate:1.0",
    "urn:ietf:params:netconf:capability:validate:1.0",
    "urn:ietf:params:netconf:capability:rollback-on-error:1.0",
    f"{OPTICAL}?module=optical-switch&amp;revision=2020-01-01",
]


async def listen(
    host: Host, credentials: Credentials, address: str, face: Face
) -> asyncssh.SSHAcceptor:
    """Serves NETCONF as the subsystem `netconf`."""
    numbers = itertools.count(1)
    locks: dict[str, int] = {}
    sessions: dict[int, Callable[[], None]] = {}

    async def process(channel: asyncssh.SSHServerProcess[bytes]) -> None:
        connection: Any = channel.get_extra_info("connection")
        if channel.subsystem != "netconf":
            channel.exit(1)
            return
        session = Session(host, next(numbers), locks, sessions)
        sessions[session.number] = connection.abort
        try:
            await session.serve(channel)
        except (CutError, AwayError):
            connection.abort()
        except BadMessageError as problem:  # RFC 6242: malformed framing ends the session
            session.send_error(channel, problem)
            channel.exit(1)
        except (asyncssh.Error, ConnectionError):
            channel.exit(1)
        else:
            channel.exit(0)
        finally:
            del sessions[session.number]
            for name in [name for name, owner in locks.items() if owner == session.number]:
                del locks[name]

    return await _ssh.listen(host, credentials, address, face, process, encoding=None)


class Session:
    """One session."""

    def __init__(
        self,
        host: Host,
        number: int,
        locks: dict[str, int],
        sessions: Mapping[int, Callable[[], None]],
    ) -> None:
        """`sessions` maps the number of each session to the function that ends it."""
        self.number = number
        self._host, self._locks, self._sessions = host, locks, sessions
        self._store = Store(host)
        self._framer = Framer()

    async def serve(self, channel: Any) -> None:
        """Answers requests until the client ends the session."""
        await _ssh.send(channel, framed(hello(CAPABILITIES, self.number), chunked=False))
        first = parsed(await self._next(channel))
        if local(first) != "hello":
            raise BadMessageError("a hello comes first")
        offered = {(element.text or "").strip() for element in first.iter()}
        if not offered & {CHUNKED, CAPABILITIES[0]}:
            raise BadMessageError("no base capability in common")
        self._framer.chunked = CHUNKED in offered
        while True:
            request = parsed(await self._next(channel))
            if local(request) != "rpc" or len(request) != 1:
                raise BadMessageError("one rpc at a time")
            answer = await self._answer(request)
            attributes = "".join(
                f' {key}="{_escaped(value)}"'
                for key, value in request.attrib.items()
                if "}" not in key
            )
            reply = f'<rpc-reply xmlns="{BASE}"{attributes}>{answer}</rpc-reply>'
            await _ssh.send(channel, framed(reply, chunked=self._framer.chunked))
            if local(request[0]) == "close-session":
                return

    def send_error(self, channel: Any, problem: BadMessageError) -> None:
        """Sends the error that ends a session after a malformed message."""
        error = WrongError("malformed-message", str(problem)).xml()
        reply = f'<rpc-reply xmlns="{BASE}">{error}</rpc-reply>'
        channel.stdout.write(framed(reply, chunked=self._framer.chunked))

    async def _next(self, channel: Any) -> str:
        while (text := self._framer.next()) is None:
            data = await asyncio.wait_for(channel.stdin.read(1 << 16), IDLE_S)
            if not data:
                raise ConnectionError
            self._framer.feed(data)
        return text

    async def _answer(self, request: Any) -> str:
        self._host.check_up()
        operation = request[0]
        handler = getattr(self, f"_do_{local(operation).replace('-', '_')}", None)
        try:
            if "message-id" not in request.attrib:
                raise WrongError("missing-attribute", "an rpc has a message-id")
            if handler is None:
                raise WrongError("operation-not-supported", f"no operation {local(operation)[:40]}")
            return str(await handler(operation))
        except WrongError as problem:
            return problem.xml()

    async def _do_get(self, operation: Any) -> str:
        return f"<data>{subtree(self._store.state(), operation)}</data>"

    async def _do_get_config(self, operation: Any) -> str:
        datastore = _datastore(operation, "source")
        return f"<data>{subtree(self._store.config(datastore), operation)}</data>"

    async def _do_edit_config(self, operation: Any) -> str:
        datastore = _datastore(operation, "target")
        self._check_lock(datastore, "in-use")
        await self._store.edit(datastore, operation)
        return "<ok/>"

    async def _do_commit(self, operation: Any) -> str:
        self._check_lock("running", "in-use")
        await self._store.commit()
        return "<ok/>"

    async def _do_discard_changes(self, operation: Any) -> str:
        self._store.discard()
        return "<ok/>"

    async def _do_validate(self, operation: Any) -> str:
        self._store.validate()
        return "<ok/>"

    async def _do_port_set_state(self, operation: Any) -> str:
        self._check_lock("running", "in-use")
        ports = Ports(self._host)
        ports.carry_out(ports.states_of(operation))
        return "<ok/>"

    async def _do_lock(self, operation: Any) -> str:
        name = _datastore(operation, "target")
        owner = self._locks.get(name)
        if owner is not None:
            raise WrongError("lock-denied", f"session {owner} has locked {name}", owner)
        if name == "candidate" and self._store.is_modified:
            raise WrongError("lock-denied", "the candidate has changes; commit or discard them", 0)
        self._locks[name] = self.number
        return "<ok/>"

    async def _do_unlock(self, operation: Any) -> str:
        name = _datastore(operation, "target")
        if self._locks.get(name) != self.number:
            raise WrongError("operation-failed", f"{name} is not locked by this session")
        del self._locks[name]
        return "<ok/>"

    async def _do_close_session(self, operation: Any) -> str:
        return "<ok/>"

    async def _do_kill_session(self, operation: Any) -> str:
        text = "".join((leaf.text or "").strip() for leaf in operation)
        number = int(text) if text.isdecimal() and len(text) < 10 else 0
        if number == self.number or number not in self._sessions:
            raise WrongError("invalid-value", f"no other session {text[:20]}")
        self._sessions[number]()
        return "<ok/>"

    def _check_lock(self, datastore: str, tag: str) -> None:
        owner = self._locks.get(datastore, self.number)
        if owner != self.number:
            raise WrongError(tag, f"session {owner} has locked {datastore}", owner)


def _datastore(operation: Any, role: str) -> str:
    for element in operation:
        if local(element) == role and len(element) == 1:
            name = local(element[0])
            if name in ("running", "candidate"):
                return name
    raise WrongError("invalid-value", f"{role} must be running or candidate")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
