"""Runs an emulated switch as a process: all faces share one state machine.

A face is imported only if it is requested. SSH and gNMI load slowly, so they start last, while the
others already answer.
"""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from typing import Any

from lightloom.errors import refusal
from lightloom.switches.config import Face, Setup
from lightloom.switches.host import Host

Start = Callable[[Host, Setup, Face], Awaitable[tuple[int, Callable[[], Any]]]]
"""Starts a face; returns its port, and the function that closes it."""
SLOW = ("ssh", "netconf", "gnmi")
"""Faces that load slowly."""


@asynccontextmanager
async def serving(setup: Setup) -> AsyncIterator[tuple[Host, dict[str, int]]]:
    """Runs an emulated switch whose faces listen while the context is open.

    Yields:
        The switch, and the port of each face.

    Raises:
        ConfigError: if a port is in use.
    """
    _check_address(setup.listen)
    host = Host(setup.design)
    ports, closers = {}, []
    schedule = asyncio.create_task(host.keep_schedule())
    try:
        for face in sorted(setup.faces, key=lambda face: face.kind in SLOW):
            ports[face.kind], close = await _start(host, setup, face)
            closers.append(close)
        yield host, ports
    finally:
        schedule.cancel()
        for close in closers:
            with suppress(Exception):
                found = close()
                if asyncio.iscoroutine(found):
                    await asyncio.wait_for(found, 5)


def _check_address(address: str) -> None:
    """Refuses an address that does not belong to this machine, so that the error does not blame a
    port."""
    try:
        family, _, _, _, where = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as probe:
            probe.bind(where)
    except OSError:
        limit = "not an address of this machine"
        raise refusal("listen", address, limit, "write 127.0.0.1, or one of its own") from None


async def _start(host: Host, setup: Setup, face: Face) -> tuple[int, Callable[[], Any]]:
    starts: dict[str, Start] = {
        "scpi": _scpi,
        "command": _command,
        "ssh": _ssh,
        "gnmi": _gnmi,
        "tl1": _tl1,
        "netconf": _netconf,
    }
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC would write to the terminal
    try:
        if face.kind in SLOW:
            await asyncio.to_thread(import_module, f"lightloom.switches.faces.{face.kind}")
        return await starts[face.kind](host, setup, face)
    except OSError as problem:
        key = f"faces.{face.kind}.port"
        in_use = problem.errno == errno.EADDRINUSE
        limit = "is in use" if in_use else str(problem.strerror or problem).lower()
        raise refusal(key, face.port, limit, "choose another, or 0 for a free one") from None


async def _scpi(host: Host, setup: Setup, face: Face) -> tuple[int, Callable[[], Any]]:
    from lightloom.switches.faces import scpi

    conflict = face.conflict("add_in_use")
    return _of_server(await scpi.listen(host, setup.listen, face.port, conflict))


async def _ssh(host: Host, setup: Setup, face: Face) -> tuple[int, Callable[[], Any]]:
    from lightloom.switches.faces import ssh

    server = await ssh.listen(host, setup.credentials, setup.listen, face)
    return server.get_port(), server.close


async def _gnmi(host: Host, setup: Setup, face: Face) -> tuple[int, Callable[[], Any]]:
    from lightloom.switches.faces import gnmi

    server, port = await gnmi.listen(host, setup.credentials, setup.listen, face)
    return port, lambda: server.stop(None)


async def _tl1(host: Host, setup: Setup, face: Face) -> tuple[int, Callable[[], Any]]:
    from lightloom.switches.faces import tl1

    return _of_server(await tl1.listen(host, setup.credentials, setup.listen, face))


async def _netconf(host: Host, setup: Setup, face: Face) -> tuple[int, Callable[[], Any]]:
    from lightloom.switches.faces import netconf

    server = await netconf.listen(host, setup.credentials, setup.listen, face)
    return server.get_port(), server.close


async def _command(host: Host, setup: Setup, face: Face) -> tuple[int, Callable[[], Any]]:
    from lightloom.switches.faces import command

    return _of_server(await command.listen(host, setup.listen, face.port))


def _of_server(server: asyncio.Server) -> tuple[int, Callable[[], Any]]:
    return server.sockets[0].getsockname()[1], server.close
