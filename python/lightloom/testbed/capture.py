"""Packets of a run on request, by tcpdump, as one pcapng file with a section for all links.

On the kernel plane the links are the uplinks of all rack switches, with the VLAN tags of the
networks. On the user-space plane, where networks are queues of one thread, they are the links of
the hosts.
"""

from __future__ import annotations

import heapq
import signal
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from lightloom.config.testbed import kept_bytes
from lightloom.testbed import priority, shell
from lightloom.testbed.layout import DEVICE
from lightloom.testbed.setup import Setup

MOST = 200_000
"""Largest number of packets that are kept per link."""
READY_S = 5.0
"""Longest time for tcpdump to start or to end."""

Packet = tuple[int, int, int, bytes]
"""Nanoseconds since 1970, number of the link, length on the link, first bytes."""


class Capture:
    """Packets of all links, from construction to `end`."""

    def __init__(self, setup: Setup, folder: Path) -> None:
        """Starts tcpdump on every link; returns when all of them listen.

        Raises:
            ConfigError: without tcpdump.
            RuntimeError: if tcpdump does not start.
        """
        self._folder = folder
        self._links = links(setup)
        size = str(kept_bytes(setup.table.capture or ""))
        tool = shell.tool_path("tcpdump")
        self._running = []
        for name, space, device in self._links:
            line = [*priority.usual_priority(), tool, "-i", device, "-s", size]
            line += [
                "-w",
                str(folder / f"{name}.pcap"),
                "-c",
                str(MOST),
                "--immediate-mode",
                "--nano",
                "-Z",
                "root",
            ]
            self._running.append(
                subprocess.Popen(shell.namespace_command(space, line), stderr=subprocess.PIPE)
            )
        for one in self._running:
            _await_begin(one)

    def end(self) -> tuple[bytes, list[str]]:
        """Returns the file, and the links of which it contains only the first packets."""
        for one in self._running:
            one.send_signal(signal.SIGTERM)
        for one in self._running:
            try:
                one.communicate(timeout=READY_S)
            except subprocess.TimeoutExpired:
                one.kill()
                one.communicate()
        found = [
            list(packets((self._folder / f"{name}.pcap").read_bytes(), number))
            for number, (name, *_) in enumerate(self._links)
        ]
        cut = [link[0] for link, rows in zip(self._links, found, strict=True) if len(rows) >= MOST]
        return pcapng([name for name, *_ in self._links], heapq.merge(*found)), cut


def links(setup: Setup) -> list[tuple[str, str, str]]:
    """The captured links: name, namespace, device."""
    layout = setup.layout
    if setup.plane == "user":
        return [(host.port, layout.namespace(host), DEVICE) for host in layout.hosts]
    return [(tor.name, layout.fabric, tor.name) for tor, _ in layout.uplinks()]


def _await_begin(process: subprocess.Popen[bytes]) -> None:
    assert process.stderr is not None
    said, until = b"", time.monotonic() + READY_S
    while b"listening" not in said:
        said += (line := process.stderr.readline())
        if not line or time.monotonic() > until:
            raise RuntimeError(f"tcpdump: {said.decode(errors='replace').strip()}")


def packets(pcap: bytes, link: int) -> Iterator[Packet]:
    """The packets of a tcpdump file with times in nanoseconds, in the order of the file; an
    incomplete packet at the end is omitted."""
    order = "<" if pcap[:4] == struct.pack("<I", 0xA1B23C4D) else ">"
    at = 24
    while at + 16 <= len(pcap):
        seconds, nanoseconds, kept, length = struct.unpack_from(f"{order}4I", pcap, at)
        if at + 16 + kept > len(pcap):
            return
        yield seconds * 10**9 + nanoseconds, link, length, pcap[at + 16 : at + 16 + kept]
        at += 16 + kept


def pcapng(names: list[str], rows: Iterator[Packet]) -> bytes:
    """A pcapng file: a section header, an interface for each name, and the packets."""
    ethernet, any_length = 1, 0xFFFFFFFFFFFFFFFF
    parts = [_block(0x0A0D0D0A, struct.pack("<IHHQ", 0x1A2B3C4D, 1, 0, any_length))]
    for name in names:
        options = _option(2, name.encode()) + _option(9, b"\x09") + _option(0, b"")
        parts.append(_block(1, struct.pack("<HHI", ethernet, 0, 0) + options))
    for when, link, length, content in rows:
        head = struct.pack("<5I", link, when >> 32, when & 0xFFFFFFFF, len(content), length)
        parts.append(_block(6, head + _padded(content)))
    return b"".join(parts)


def _block(kind: int, body: bytes) -> bytes:
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
