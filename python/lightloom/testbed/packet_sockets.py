"""Buffers of another process's packet sockets.

Open vSwitch has one packet socket to read frames from a link, and one to send frames. Their buffers
have the size of a sysctl of the host, about 90 frames. A frame that was sent counts against the
buffer of its socket until it has left the queue of a shaper.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PIDFD_GETFD = 438
"""The system call's number, which all architectures share."""
FORCED = (32, 33)
"""SO_SNDBUFFORCE and SO_RCVBUFFORCE of `asm-generic/socket.h`: beyond the limits of sysctls."""


def enlarge(process: int, size: int) -> int:
    """Sets the buffers of all packet sockets of a process, in both directions.

    Args:
        process: its ID.
        size: of a buffer in bytes of the kernel's memory; a frame takes about 2.3 kB.

    Returns:
        The number of packet sockets.

    Raises:
        OSError: if the process has ended, or if the kernel does not permit access to it.
    """
    found = 0
    for one in _packet_sockets(process):
        for option in FORCED:
            # The kernel doubles the value.
            one.setsockopt(socket.SOL_SOCKET, option, size // 2)
        found += 1
    return found


def _packet_sockets(process: int) -> Iterator[socket.socket]:
    """The packet sockets of a process, each open until the next one is taken."""
    handle = os.pidfd_open(process)
    try:
        for number in _socket_numbers(process):
            if (copy := _copied(handle, number)) is None:
                continue
            with socket.socket(fileno=copy) as one:
                if one.family == socket.AF_PACKET:
                    yield one
    finally:
        os.close(handle)


def _socket_numbers(process: int) -> list[int]:
    """The file descriptors of a process that are sockets."""
    found = []
    for entry in Path(f"/proc/{process}/fd").iterdir():
        # The process may have closed it.
        with suppress(FileNotFoundError):
            if str(entry.readlink()).startswith("socket:"):
                found.append(int(entry.name))
    return found


def _copied(handle: int, number: int) -> int | None:
    """A descriptor of this process for that of another; None if the other was closed."""
    kernel = ctypes.CDLL(None, use_errno=True)
    copy = int(kernel.syscall(PIDFD_GETFD, handle, number, 0))
    if copy >= 0:
        return copy
    problem = ctypes.get_errno()
    if problem == errno.EBADF:
        return None
    raise OSError(problem, os.strerror(problem))
