"""SSH server of the faces that use it: checks logins and closes connections at each reboot."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import asyncssh

from lightloom.errors import refusal
from lightloom.switches.access import Credentials
from lightloom.switches.config import Face
from lightloom.switches.faces._streams import WRITE_S
from lightloom.switches.host import AwayError, Client, Host, SilentError, silence

LOGIN_S = 30.0
"""A login that takes longer is ended [s]."""
KEEPALIVE_S = 200.0
"""A client that sends no message for this time [s] receives a keepalive request; the third one
without an answer ends its connection."""


class Server(asyncssh.SSHServer):
    """One connection of a client."""

    def __init__(self, host: Host, credentials: Credentials) -> None:
        self._host, self._credentials = host, credentials
        self._client: Client | None = None
        self.tasks: set[asyncio.Task[object]] = set()
        """Tasks that serve the channels; a task whose answer is withheld is cancelled when the
        connection ends."""

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Registers a client that has connected."""
        self._client = Client(conn.abort)
        try:
            self._host.enter(self._client)
        except AwayError:
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        for task in self.tasks:
            task.cancel()
        if self._client is not None:
            self._host.leave(self._client)

    def password_auth_supported(self) -> bool:
        """Returns True: clients log in with a password."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Returns whether a client may log in."""
        return self._credentials.admit(username, password)


async def listen(
    host: Host,
    credentials: Credentials,
    address: str,
    face: Face,
    process: Callable[[Any], Any],
    **options: Any,
) -> asyncssh.SSHAcceptor:
    """Serves SSH, with a host key of this run unless the face names one.

    Args:
        host: the switch.
        credentials: the user who may log in.
        address: of this machine.
        face: its port and its host key.
        process: serves one channel.
        options: of asyncssh.

    Raises:
        ConfigError: if the host key cannot be used.
    """

    async def serve(channel: Any) -> None:
        task: Any = asyncio.current_task()
        tasks = channel.get_extra_info("connection").get_owner().tasks
        tasks.add(task)
        try:
            await process(channel)
        except SilentError:
            await silence()
        except TimeoutError:  # the client sends nothing, or does not read
            channel.get_extra_info("connection").abort()
        finally:
            tasks.discard(task)

    logging.getLogger("asyncssh").setLevel(logging.CRITICAL)
    return await asyncssh.create_server(
        lambda: Server(host, credentials),
        address,
        face.port,
        server_host_keys=[_host_key(face)],
        process_factory=serve,
        login_timeout=LOGIN_S,
        keepalive_interval=KEEPALIVE_S,
        allow_scp=False,
        agent_forwarding=False,
        **options,
    )


async def send(channel: Any, data: Any) -> None:
    """Sends an answer, as text or bytes; waits if the client does not read.

    Raises:
        TimeoutError: if the client does not read in time.
    """
    channel.stdout.write(data)
    await asyncio.wait_for(channel.stdout.drain(), WRITE_S)


def _host_key(face: Face) -> asyncssh.SSHKey:
    file = face.options.get("host_key")
    if file is None:
        return asyncssh.generate_private_key("ssh-ed25519")
    try:
        return asyncssh.read_private_key(file)
    except (OSError, asyncssh.Error, ValueError):
        limit = "is not a private key that can be read"
        remedy = "make one: ssh-keygen -t ed25519 -N '' -f FILE"
        raise refusal(f"faces.{face.kind}.host_key", file, limit, remedy) from None
