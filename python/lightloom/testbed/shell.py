"""Calls of system tools with a time limit: `ip`, `tc`, and programs in a namespace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lightloom.errors import refusal

TOOLS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "ss": "iproute2",
    "iperf3": "iperf3",
    "nbdcopy": "libnbd-bin",
    "nbdkit": "nbdkit",
    "mpirun": "openmpi-bin",
    "mpicc": "libopenmpi-dev",
    "memcached": "memcached",
    "tcpdump": "tcpdump",
    "chrt": "util-linux",
    "setpriv": "util-linux",
    "setsid": "util-linux",
    "ovsdb-tool": "openvswitch-switch",
    "ovsdb-server": "openvswitch-switch",
    "ovs-vswitchd": "openvswitch-switch",
    "ovs-vsctl": "openvswitch-switch",
    "ovs-appctl": "openvswitch-switch",
    "ovs-ofctl": "openvswitch-switch",
}
"""Programs, and the Debian packages that contain them."""
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
"""The capabilities that namespaces, their devices and BPF programs need, with their numbers in
linux/capability.h."""
LIMIT_S = 30.0
"""Time limit of a tool [s]."""
NAMESPACES = Path("/run/netns")


def tool_path(tool: str) -> str:
    """The path of a program.

    Raises:
        ConfigError: naming the package.
    """
    path = shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if path is None:
        package = TOOLS.get(tool, tool)
        raise refusal("testbed", tool, "not installed", f"install Debian's package {package}")
    return path


def check_rights() -> None:
    """Refuses a process without the rights to create namespaces.

    Raises:
        ConfigError: stating the required rights.
    """
    if sys.platform != "linux":
        limit = "network namespaces are a part of Linux"
        raise refusal("testbed", sys.platform, limit, "run it on Linux")
    if os.geteuid() != 0:
        limit = "network namespaces and BPF need root"
        raise refusal("testbed", f"user {os.geteuid()}", limit, "run it as root (sudo)")
    missing = [name for name, bit in CAPABILITIES.items() if not held_capabilities() >> bit & 1]
    if missing:
        limit = f"root has no {' and no '.join(missing)} here, as in a container"
        remedy = "run it on the machine itself, or give the container these capabilities"
        raise refusal("testbed", "user 0", limit, remedy)


def held_capabilities() -> int:
    """The capabilities of this process, one bit each."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next((int(line[7:], 16) for line in lines if line.startswith("CapEff:")), 0)


def call(arguments: Sequence[str], text: str | None = None) -> str:
    """Runs a program to its end; returns its output.

    Raises:
        RuntimeError: with the program's message, if it fails or takes longer than `LIMIT_S`.
    """
    command = [tool_path(arguments[0]), *arguments[1:]]
    # If this process is killed, the program must not create what the guardian is removing.
    ending = [tool_path("setpriv"), "--pdeathsig", "KILL"]
    try:
        done = subprocess.run(
            [*ending, *command],
            input=text,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"{' '.join(command)}: no end after {LIMIT_S:g} s") from None
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def batch(tool: str, lines: Sequence[str], namespace: str | None = None) -> None:
    """Hands commands to `ip` or `tc` as one batch.

    Raises:
        RuntimeError: for the first command that fails.
    """
    if lines:
        where = [] if namespace is None else ["-n", namespace]
        call([tool, *where, "-batch", "-"], "\n".join(lines) + "\n")


def namespace_command(namespace: str, command: Sequence[str]) -> list[str]:
    """The command line that runs a command inside a namespace."""
    return [tool_path("ip"), "netns", "exec", namespace, *command]
