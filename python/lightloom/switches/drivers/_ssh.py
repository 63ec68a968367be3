"""An SSH connection of a driver."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import asyncssh

from lightloom.switches.access import Credentials
from lightloom.switches.drivers._loop import Loop
from lightloom.switches.protocol import Outcome, SwitchError

ANSWER_S = 30.0
"""The longest wait for an answer [s]."""
GOODBYE_S = 2.0
"""The longest wait for the switch to close its side [s]."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def connect(
    target: str,
    loop: Loop,
    host: str,
    port: int,
    credentials: Credentials,
    ignore_host_key: bool,
) -> asyncssh.SSHClientConnection:
    """Logs in.

    The host key must be a known one (`~/.ssh/known_hosts`), except on the loopback, where
    an emulated switch has a new key at each start, and where the address says
    `?hostkey=ignore`.

    Raises:
        SwitchError: if the switch does not answer, or refuses.
    """
    logging.getLogger("asyncssh").setLevel(logging.CRITICAL)
    options: dict[str, Any] = {}
    if ignore_host_key or host in LOOPBACK:
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
        remedy = "add its host key to known_hosts, or write ?hostkey=ignore"
        raise SwitchError(f"{target}: its host key is not known; {remedy}", Outcome()) from None
    except asyncssh.PermissionDenied:
        remedy = "check LIGHTLOOM_SWITCH_PASSWORD or the file of --credentials"
        raise SwitchError(f"{target}: refused the login; {remedy}", Outcome()) from None
    except (OSError, asyncssh.Error, TimeoutError) as problem:
        reason = str(problem) or type(problem).__name__
        raise SwitchError(f"{target}: {reason}; check its address", Outcome()) from None


def close(loop: Loop, line: asyncssh.SSHClientConnection) -> None:
    """Ends a connection and its loop; may be called again.

    asyncssh may be used only on the thread of its loop: called from another one, it writes to
    a socket that the loop closes at that moment because the switch went away.
    """
    if not loop.is_open:
        return

    async def end() -> None:
        line.close()
        await line.wait_closed()

    with contextlib.suppress(OSError, asyncssh.Error, TimeoutError):
        loop.run(end(), GOODBYE_S)
    loop.close()


async def _awaited(connecting: Any) -> asyncssh.SSHClientConnection:
    found: asyncssh.SSHClientConnection = await connecting
    return found
