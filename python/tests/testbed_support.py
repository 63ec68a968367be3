"""Shared parts of the tests of the Linux testbed: the requirements of this machine, and small
programs."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def reason() -> str | None:
    """Returns the reason why no testbed can be built here; None if one can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin") is None:
        return "no iproute2"
    probe = f"lightloom-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    if made.returncode:
        return "no network namespaces"
    subprocess.run(["ip", "netns", "del", probe], capture_output=True, check=False)
    return None if Path("/dev/net/tun").exists() else "no /dev/net/tun"


REASON = reason()
LIVE = [
    pytest.mark.skipif(REASON is not None, reason=REASON or ""),
    pytest.mark.usefixtures("one_testbed"),
]


def live(test: Callable[..., None]) -> Callable[..., None]:
    """Marks a test that makes a testbed: such tests run one at a time, over all processes."""
    for mark in LIVE:
        test = mark(test)
    return test


def may_have_real_time() -> bool:
    """Whether this process may set a real-time policy for itself."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return True


needs_real_time = pytest.mark.skipif(
    not may_have_real_time(), reason="no right to a real-time policy"
)


def lost_beside_switches(totals: dict[str, Any]) -> tuple[int, int]:
    """Returns the packets sent to dark circuits, and the frames lost outside the servers' switches,
    which lose packets if they have to wait for a processor."""
    return totals["dark_packets"], totals["lost_frames"] - totals.get("switch_drops", 0)


#: A program that sends the given number of bytes of a sequence, then waits until the peer has
#: closed the connection.
SEND = """
import hashlib, socket, sys, time
address, size = sys.argv[1], int(sys.argv[2])
data = bytes(i * 37 % 251 for i in range(65_521))
sent, digest = 0, hashlib.sha256()
for _ in range(100):
    # The receiver may not listen yet.
    try:
        peer = socket.create_connection((address, 7000), timeout=20)
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
with peer:
    while sent < size:
        part = data[: size - sent]
        peer.sendall(part)
        digest.update(part)
        sent += len(part)
    peer.shutdown(socket.SHUT_WR)
    peer.recv(1)
print(digest.hexdigest())
"""
RECEIVE = """
import hashlib, socket
digest, size = hashlib.sha256(), 0
with socket.create_server(("0.0.0.0", 7000)) as server:
    server.settimeout(20)
    peer, _ = server.accept()
    with peer:
        peer.settimeout(20)
        while part := peer.recv(1 << 16):
            digest.update(part)
            size += len(part)
print(digest.hexdigest(), size)
"""
