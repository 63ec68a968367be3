"""Open vSwitch on the hosts: a switch in each namespace, in its user-space datapath, with database
and sockets in the testbed's folder.

It uses no service of the machine and no kernel module. All processes end with the process that
started them.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lightloom import _core
from lightloom.testbed import packet_sockets, priority, shell
from lightloom.testbed.layout import DEVICE, UPLINK, Host, Layout

TOOLS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-appctl", "ovs-ofctl")
READY_S = 20.0
"""Longest wait for a process to start [s]."""
CACHE_S = 5.0
"""Longest wait for a switch to empty its cache [s]."""
PREFERRED = "-10"
"""Niceness if the kernel refuses a real-time policy, because a switch that waits for a processor
loses packets."""
BUFFER = 8 << 20
"""Buffer of each packet socket of a switch [B]: 3,600 frames, which arrive in 0.1 s at 400 Mb/s."""
SOCKETS = 2
"""Packet sockets of a switch: to read from its link, and to send."""
OPEN_S = 5.0
"""Longest wait for a switch to open them [s]."""
SETTLE_S = 0.01
"""Longest time of a packet between the ports of a switch [s]."""
LOOKS = 5
"""Number of readings of the counters, to distinguish packets in transit from lost packets."""
POLL_S = 0.005
CONTROLLER = f"{DEVICE}.controller"
TX_PACKETS, TX_DROPPED = 4, 5
"""Indices of packets among the counters of a device: sent, and not sent."""
LINK_PORT = 1
"""OpenFlow port of a host's link."""
PROBE = 0x88B5
"""EtherType of a frame that no program reads; IEEE 802 reserves it for experiments."""
SHORTEST = 60
"""Bytes of the shortest frame."""

Counters = Mapping[str, tuple[int, int, int, int, int, int]]
"""By interface, as `_core.testbed_counters` has them."""


def check_tools() -> None:
    """Refuses a machine without Open vSwitch.

    Raises:
        ConfigError: naming the package.
    """
    for tool in TOOLS:
        shell.tool_path(tool)


def datapath_of(host: Host) -> int:
    """The datapath ID of a host's switch."""
    return host.index + 1


class OpenVSwitches:
    """The switches of all hosts."""

    def __init__(self, layout: Layout, folder: Path, controller: Path) -> None:
        """Creates the object without starting a process.

        Args:
            layout: layout of the hosts, whose namespaces and links exist.
            folder: folder of the testbed.
            controller: socket on which their controller listens.
        """
        self._layout = layout
        self._folder = folder
        self._controller = controller
        self._running: list[subprocess.Popen[bytes]] = []
        self._unsent: dict[int, int] = {}
        """By host: see `_count_unsent`, before traffic."""

    def start(self) -> None:
        """Starts all switches; each has a bridge with the host's device and its link.

        Raises:
            RuntimeError: if a process does not start.
        """
        hosts = self._layout.hosts
        template = self._folder / "conf.db"
        shell.call(["ovsdb-tool", "create", str(template)])
        for host in hosts:
            own = self._own(host)
            own.mkdir()
            (own / "conf.db").write_bytes(template.read_bytes())
            # Open vSwitch connects only to a socket of this name in its own folder.
            (own / CONTROLLER).symlink_to(self._controller)
            self._begin(host, _database_line(own))
        switches = []
        for host in hosts:
            self._await(host, "db.sock")
            switches.append(self._begin(host, _switch_line(self._own(host))))
            priority.prefer_switch(switches[-1])
        for host in hosts:
            self._await(host, "ctl.sock")
        self._each([_bridge_line(self._own(host), host) for host in hosts])
        # A switch opens the socket to send with its first frame.
        self._each([_frame_line(self._own(host), host) for host in hosts])
        for process in switches:
            _enlarge_buffers(process)
        self._unsent = {host.index: self._count_unsent(host) for host in hosts}

    def forget(self, hosts: Iterable[Host]) -> None:
        """Waits until switches no longer forward packets by replaced rules: they cache decisions,
        and reply to barriers before they have updated the cache.

        Raises:
            RuntimeError: if a switch does not answer.
        """
        targets = [str(self._own(host) / "ctl.sock") for host in hosts]
        tool = shell.tool_path("ovs-appctl")
        limit = f"--timeout={CACHE_S:.0f}"
        self._each([[tool, limit, "-t", target, "revalidator/purge"] for target in targets])

    def count_drops(self) -> int:
        """Packets that switches lost: from their hosts, which they did not read in time (the ring
        of the device was full), from their links, which they did not read in time (the buffer of
        the socket was full), and those that they did not send.

        Raises:
            RuntimeError: if `ss` fails.
        """
        drops = 0
        for host in self._layout.hosts:
            space = self._layout.namespace(host)
            drops += self._counters(host)[DEVICE][TX_DROPPED]
            lines = shell.call(shell.namespace_command(space, ["ss", "-0", "-n", "-m"]))
            drops += socket_drops(lines)
        return drops + self._count_lost()

    def _count_lost(self) -> int:
        """Packets that switches have read from their hosts and neither sent nor hold."""
        lost: dict[int, int] = {}
        for look in range(LOOKS):
            for host in self._layout.hosts:
                if lost.get(host.index) != 0:
                    found = max(0, self._count_unsent(host) - self._unsent[host.index])
                    lost[host.index] = min(found, lost.get(host.index, found))
            if not any(lost.values()):
                break
            if look < LOOKS - 1:
                time.sleep(SETTLE_S)
        return sum(lost.values())

    def _count_unsent(self, host: Host) -> int:
        """Packets that a switch has read from its host, less those that it has sent."""
        counters = self._counters(host)
        return counters[DEVICE][TX_PACKETS] - counters[UPLINK][TX_PACKETS]

    def _counters(self, host: Host) -> Counters:
        space = self._layout.namespace(host)
        found: Counters = _core.testbed_counters(shell.NAMESPACES / space)
        return found

    def is_alive(self) -> bool:
        """Whether all of them still run."""
        return all(one.poll() is None for one in self._running)

    def stop(self) -> None:
        """Ends all switches; their devices are removed with them."""
        for one in self._running:
            one.terminate()
        for one in self._running:
            try:
                one.wait(timeout=2)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait(timeout=5)

    def _own(self, host: Host) -> Path:
        return self._folder / f"ovs-{host.index}"

    def _begin(self, host: Host, line: Sequence[str]) -> int:
        """Starts a program in the namespace of a host; returns its process ID."""
        own = self._own(host)
        keys = ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR")
        environment = {**os.environ, **dict.fromkeys(keys, str(own))}
        command = ["nice", "-n", PREFERRED, "setpriv", "--pdeathsig", "KILL", *line]
        with (own / "log").open("ab") as log:
            self._running.append(
                subprocess.Popen(
                    shell.namespace_command(self._layout.namespace(host), command),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    env=environment,
                    start_new_session=True,
                )
            )
        return self._running[-1].pid

    def _await(self, host: Host, socket: str) -> None:
        own, until = self._own(host), time.monotonic() + READY_S
        while not (own / socket).exists():
            if not self.is_alive() or time.monotonic() > until:
                log = (own / "log").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"Open vSwitch on host {host.index}: {log.strip()[-400:]}")
            time.sleep(POLL_S)

    @staticmethod
    def _each(lines: Sequence[Sequence[str]]) -> None:
        """Runs commands in parallel, and waits for their ends."""
        begun = [
            subprocess.Popen(
                line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
            )
            for line in lines
        ]
        try:
            texts = [one.communicate(timeout=2 * READY_S)[0] for one in begun]
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"{lines[0][0]}: no end after {2 * READY_S:g} s") from None
        finally:
            for one in begun:
                if one.poll() is None:
                    one.kill()
                    one.communicate()
        for one, line, text in zip(begun, lines, texts, strict=True):
            if one.returncode:
                raise RuntimeError(f"{' '.join(line)}: {text.decode(errors='replace').strip()}")


def socket_drops(text: str) -> int:
    """The number of packets that were lost because the socket buffer on a host's link was full,
    from the output of `ss -0 -n -m`.

    >>> socket_drops("p_raw 0 0 *:uplink * skmem:(r0,rb8,t0,tb8,f0,w0,o176,bl0,d42)")
    42
    """
    lines = [line for line in text.splitlines() if f":{UPLINK} " in line]
    return sum(int(count) for line in lines for count in re.findall(r",d(\d+)\)", line))


def _enlarge_buffers(process: int) -> None:
    """Gives the packet sockets of a switch their buffers, if the kernel permits it. Without them it
    loses packets if it waits for a processor, and those that a full buffer of the sending socket
    refuses; both are counted."""
    until = time.monotonic() + OPEN_S
    with suppress(OSError):
        while packet_sockets.enlarge(process, BUFFER) < SOCKETS and time.monotonic() < until:
            time.sleep(POLL_S)


def _frame_line(own: Path, host: Host) -> list[str]:
    """Makes a switch send one frame over its link, which its rack switch returns."""
    address = host.mac.replace(":", "")
    frame = f"{address * 2}{PROBE:04x}".ljust(SHORTEST * 2, "0")
    target = f"unix:{own / f'{DEVICE}.mgmt'}"
    line = [shell.tool_path("ovs-ofctl"), f"--timeout={READY_S:.0f}", "-O", "OpenFlow13"]
    return [*line, "packet-out", target, f"in_port=controller packet={frame} actions={LINK_PORT}"]


def _database_line(own: Path) -> list[str]:
    return [
        shell.tool_path("ovsdb-server"),
        str(own / "conf.db"),
        f"--remote=punix:{own / 'db.sock'}",
        f"--unixctl={own / 'db-ctl.sock'}",
        *_QUIET,
    ]


def _switch_line(own: Path) -> list[str]:
    return [
        shell.tool_path("ovs-vswitchd"),
        f"unix:{own / 'db.sock'}",
        f"--unixctl={own / 'ctl.sock'}",
        # Prevents use of the kernel's datapath, which would load its module.
        "--disable-system",
        *_QUIET,
    ]


def _bridge_line(own: Path, host: Host) -> list[str]:
    bridge = [
        "datapath_type=netdev",
        "protocols=OpenFlow13",
        "fail_mode=secure",
        f"other-config:datapath-id={datapath_of(host):016x}",
        # Open vSwitch restores this address if another program changes it.
        f'other-config:hwaddr="{host.mac}"',
    ]
    threads = [f"other-config:n-{kind}-threads=1" for kind in ("handler", "revalidator")]
    parts = [
        ["set", "Open_vSwitch", ".", *threads],
        ["add-br", DEVICE],
        ["set", "bridge", DEVICE, *bridge],
        ["add-port", DEVICE, UPLINK],
        ["set", "interface", UPLINK, f"ofport_request={LINK_PORT}"],
        ["set-controller", DEVICE, f"unix:{own / CONTROLLER}"],
        ["set", "controller", DEVICE, "inactivity_probe=0", "max_backoff=1000"],
    ]
    line = [shell.tool_path("ovs-vsctl"), f"--db=unix:{own / 'db.sock'}"]
    line += [f"--timeout={READY_S:.0f}", "--retry"]
    return line + [word for part in parts for word in ("--", *part)]


_QUIET = ("-vconsole:warn", "-vsyslog:off")
