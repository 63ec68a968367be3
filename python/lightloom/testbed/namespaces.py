"""Creates and lists the network namespaces of a testbed, and removes them with all their
processes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lightloom.testbed import shell
from lightloom.testbed.layout import DEVICE, NETWORK, PREFIX, Host, Layout

GRACE_S = 0.5
"""Time in which processes can end by themselves [s]."""


def existing(name: str | None = None) -> list[str]:
    """The namespaces of the testbed with a name, or of all testbeds."""
    begin = f"{PREFIX}-" if name is None else f"{PREFIX}-{name}-"
    if not shell.NAMESPACES.is_dir():
        return []
    return sorted(path.name for path in shell.NAMESPACES.iterdir() if path.name.startswith(begin))


def names() -> list[str]:
    """Names of the existing testbeds."""
    return sorted({space.removeprefix(f"{PREFIX}-").split("-")[0] for space in existing()})


def make(layout: Layout) -> None:
    """Makes the namespaces of a testbed, empty but for loopback.

    Raises:
        RuntimeError: if `ip` fails.
    """
    shell.batch("ip", [f"netns add {space}" for space in layout.namespaces])
    for space in layout.namespaces:
        shell.batch("ip", ["link set lo up"], space)
        # Otherwise devices would send packets to each other by themselves.
        quiet = "echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6"
        shell.call(shell.namespace_command(space, ["sh", "-c", quiet]))


def remove(name: str) -> tuple[int, int]:
    """Ends the processes in the namespaces of a testbed, and removes the namespaces.

    Returns:
        The numbers of namespaces and processes.
    """
    spaces = existing(name)
    running = sorted({pid for space in spaces for pid in pids(space)} - {os.getpid()})
    _end(running)
    for space in spaces:
        with suppress(RuntimeError):
            shell.call(["ip", "netns", "del", space])
    return len(spaces), len(running)


def pids(space: str) -> list[int]:
    """Processes in a namespace."""
    with suppress(RuntimeError):
        return [int(pid) for pid in shell.call(["ip", "netns", "pids", space]).split()]
    return []


def _end(running: Iterable[int]) -> None:
    left = [pid for pid in running if _tell(pid, signal.SIGTERM)]
    until = time.monotonic() + GRACE_S
    while left and time.monotonic() < until:
        time.sleep(0.02)
        left = [pid for pid in left if _tell(pid, 0)]
    for pid in left:
        _tell(pid, signal.SIGKILL)


def _tell(pid: int, number: int) -> bool:
    """Sends a signal; returns whether the process exists and is not a zombie."""
    try:
        os.kill(pid, number)
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


def settle_host(layout: Layout, host: Host, mtu: int, buffer: int) -> None:
    """Gives a host's device its address, its neighbours and its route.

    Args:
        layout: all hosts, which are its neighbours.
        host: host whose device exists already.
        mtu: longest packet of the device in bytes.
        buffer: size of a TCP socket's buffer in bytes.

    Raises:
        RuntimeError: if a tool fails.
    """
    space = layout.namespace(host)
    lines = [
        f"link set {DEVICE} address {host.mac} mtu {mtu} txqueuelen 20000 up",
        f"addr add {host.address}/32 dev {DEVICE}",
        f"route add {NETWORK} dev {DEVICE} scope link congctl cubic",
    ]
    neighbours = (other for other in layout.hosts if other != host)
    lines += [
        f"neigh replace {other.address} lladdr {other.mac} dev {DEVICE} nud permanent"
        for other in neighbours
    ]
    values = {
        # The buffer of a socket is the demand that the manager can see (c-Through §4.1).
        "net.ipv4.tcp_wmem": f"4096 {buffer} {buffer}",
        "net.ipv4.tcp_rmem": "4096 4194304 33554432",
    }
    # Received packets are processed on other processors than the last one, on which the polling
    # thread runs.
    others = (1 << max(1, (os.cpu_count() or 1) - 1)) - 1
    spread = f"echo {others:x} > /sys/class/net/{DEVICE}/queues/rx-0/rps_cpus"
    quiet = [f"echo '{value}' > /proc/sys/{key.replace('.', '/')}" for key, value in values.items()]
    shell.batch("ip", lines, space)
    shell.call(shell.namespace_command(space, ["sh", "-c", "; ".join([*quiet, spread])]))
