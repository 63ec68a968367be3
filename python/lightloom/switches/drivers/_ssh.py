"""An SSH connection of a driver."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import asyncssh

from lightloom.switches.access import Credentials, is_loopback
from lightloom.switches.drivers._loop import Loop
from lightloom.switches.netconf_text import BadMessageError
from lightloom.switches.protocol import Outcome, SwitchError

ANSWER_S = 30.0
"""The longest wait for an answer [s]."""
GOODBYE_S = 2.0
"""The longest wait for the switch to close its side [s]."""
T = TypeVar("T")


class Login:
    """An SSH connection of a driver, which is reopened after a failure."""

    def __init__(
        self,
        target: str,
        host: str,
        port: int,
        credentials: Credentials,
        ignore_host_key: bool | None,
    ) -> None:
        """Logs in.

        Raises:
            SwitchError: if the switch does not answer, or refuses.
        """
        self._target, self._host, self._port = target, host, port
        self._credentials, self._ignore_host_key = credentials, ignore_host_key
        self._loop = Loop()
        self._line: asyncssh.SSHClientConnection | None = None
        try:
            self.line()
        except SwitchError:
            self._loop.close()
            raise

    def line(self) -> asyncssh.SSHClientConnection:
        """The connection.

        Raises:
            SwitchError: if the connection was lost and the switch does not answer, or refuses a new
                one.
        """
        if self._line is None:
            if not self._loop.is_open:
                raise SwitchError(f"{self._target}: closed; open it again", Outcome())
            self._line = connect(
                self._target,
                self._loop,
                self._host,
                self._port,
                self._credentials,
                self._ignore_host_key,
            )
        return self._line

    def run(self, work: Callable[[asyncssh.SSHClientConnection], Coroutine[Any, Any, T]]) -> T:
        """Runs a coroutine that uses the connection, and drops the connection if it fails.

        Raises:
            SwitchError: if there is no answer.
        """
        line = self.line()
        try:
            return self._loop.run(work(line), ANSWER_S)
        except (OSError, asyncssh.Error, TimeoutError, BadMessageError) as problem:
            self.drop()
            reason = str(problem) or "no answer"
            raise SwitchError(f"{self._target}: {reason}; read it again") from None

    def drop(self) -> None:
        """Ends a broken connection; the next use opens another."""
        line, self._line = self._line, None
        if line is not None:
            self._loop.call(line.abort)

    def close(self) -> None:
        """Ends the connection and its thread; may be called again."""
        line, self._line = self._line, None
        if line is not None:
            _close(self._loop, line)
        self._loop.close()


def connect(
    target: str,
    loop: Loop,
    host: str,
    port: int,
    credentials: Credentials,
    ignore_host_key: bool | None,
) -> asyncssh.SSHClientConnection:
    """Logs in.

    The host key must be in `~/.ssh/known_hosts`, except on the loopback interface, where an
    emulated switch has a new key at each start. `?hostkey=check|ignore` overrides the rule for any
    host.

    Raises:
        SwitchError: if the switch does not answer, or refuses.
    """
    logging.getLogger("asyncssh").setLevel(logging.CRITICAL)
    options: dict[str, Any] = {}
    if is_loopback(host) if ignore_host_key is None else ignore_host_key:
        options["known_hosts"] = None
    if credentials.password is not None:
        options["client_keys"] = None
    connecting = asyncssh.connect(
        host,
        port,
        username=credentials.user,
        password=credentials.password if credentials.password is not None else "",
        config=None,
        **options,
    )
    try:
        return loop.run(_awaited(connecting), ANSWER_S)
    except asyncssh.HostKeyNotVerifiable:
        limit = "its host key is not known"
        remedy = "add its host key to known_hosts, or write ?hostkey=ignore"
        if _is_known(host, port):
            limit = "its host key differs from that in known_hosts, or was revoked"
            remedy = "find out why before you trust it"
        raise SwitchError(f"{target}: {limit}; {remedy}", Outcome()) from None
    except asyncssh.PermissionDenied:
        remedy = "check LIGHTLOOM_SWITCH_PASSWORD or the file of --credentials"
        raise SwitchError(f"{target}: refused the login; {remedy}", Outcome()) from None
    except (OSError, asyncssh.Error, TimeoutError) as problem:
        reason = str(problem) or type(problem).__name__
        raise SwitchError(f"{target}: {reason}; check its address", Outcome()) from None


def _is_known(host: str, port: int) -> bool:
    """Returns whether the known hosts include keys of a host, trusted or revoked."""
    known = str(Path.home() / ".ssh" / "known_hosts")
    try:
        # asyncssh omits the port if only a revoked key has it.
        found = [
            asyncssh.match_known_hosts(known, name, "", None) for name in (host, f"[{host}]:{port}")
        ]
    except (OSError, ValueError):
        return False
    return any(keys for sets in found for keys in sets[:3])


def _close(loop: Loop, line: asyncssh.SSHClientConnection) -> None:
    """Ends a connection on the thread of its loop.

    asyncssh may be used on that thread only. Called from another thread, it may write to a socket
    that the loop is closing because the switch closed the connection.
    """

    async def end() -> None:
        line.close()
        await line.wait_closed()

    with contextlib.suppress(OSError, asyncssh.Error, TimeoutError):
        loop.run(end(), GOODBYE_S)


async def _awaited(connecting: Any) -> asyncssh.SSHClientConnection:
    found: asyncssh.SSHClientConnection = await connecting
    return found
