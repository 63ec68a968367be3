"""The kernel plane as a driver of the controller: links between namespaces, tables of the optical
switches, and forwarding by rack switches or servers.

Traffic leaves a circuit before it goes dark, and the queues are emptied. Packets that are
nevertheless sent to a dark circuit are lost and counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.errors import refusal
from lightloom.testbed import namespaces, shell
from lightloom.testbed.forwarding import Forwarding, Hop, RackForwarding
from lightloom.testbed.layout import DEVICE
from lightloom.testbed.links import MTU, make_links, shape_hosts
from lightloom.testbed.measure import Link, Observed
from lightloom.testbed.server_rules import ServerForwarding
from lightloom.testbed.setup import Setup, policy_of, scaled_ps

Counters = Mapping[str, tuple[int, int, int, int, int, int]]
"""Counters by interface, in the form of `_core.testbed_counters`."""
RECEIVED, SENT = 0, 3
"""Indices of the bytes in such a row."""


class KernelPlane:
    """Racks, an electrical network and optical switches in one namespace."""

    def __init__(self, setup: Setup, folder: Path) -> None:
        """Creates links and loads the program; the namespaces must exist.

        Args:
            setup: set-up of the testbed.
            folder: folder of the testbed, for the files of Open vSwitch.

        Raises:
            ConfigError: without Open vSwitch or os-ken, if servers need them.
            RuntimeError: if a tool fails.
            OSError: if the kernel refuses, or the package was built without clang.
        """
        self._setup = setup
        self._layout = setup.layout
        make_links(setup)
        space = str(shell.NAMESPACES / setup.layout.fabric)
        indices = _indices(setup.layout.fabric)
        self._ports = {indices[port.name]: port for port in setup.layout.ports()}
        rows = [
            (port.name, indices[port.name], port.rack, port.role, port.number)
            for port in setup.layout.ports()
        ]
        racks, planes = setup.layout.racks, setup.layout.planes
        electrical = setup.layout.electrical and not setup.has_server_rules
        self._plane = _core.TestbedKernelPlane(Path(space), racks, planes, electrical, rows)
        self.lit: set[Hop] = set()
        """Circuits: rack, rack, plane; one entry for each direction if they were lit as directed
        circuits."""
        self.directed = False
        self.forwarding: Forwarding
        if setup.has_server_rules:
            self.forwarding = ServerForwarding(setup, self._plane, self.lit, folder)
        else:
            self.forwarding = RackForwarding(setup, self._plane, self.lit)
        try:
            self._settle_hosts()
        except BaseException:
            self.forwarding.stop()
            raise
        self._sockets = {
            host.index: _core.TestbedSockets(shell.NAMESPACES / setup.layout.namespace(host))
            for host in setup.layout.hosts
        }
        self._backlog = _core.TestbedBacklog(Path(space))
        self._racks_of = {host.address: host.rack for host in setup.layout.hosts}
        self.history: list[tuple[int, int, int, float, float | None]] = []
        """Circuits: racks, plane, and the times at which they came up and went dark [s of the
        monotonic clock]."""

    def _settle_hosts(self) -> None:
        setup = self._setup
        for host in setup.layout.hosts:
            namespaces.settle_host(setup.layout, host, MTU, setup.buffer)
        shape_hosts(setup)
        if setup.optical_weight is not None:
            hosts = [shell.NAMESPACES / setup.layout.namespace(h) for h in setup.layout.hosts]
            self._plane.classify(hosts, DEVICE)

    def carry_out(self, kind: str, body: Any) -> Iterator[float]:
        """Carries out an action; yields the seconds until it is to be resumed, or 0 if the time is
        not known.

        Raises:
            ConfigError: if the policy returns a schedule.
            OSError: if the kernel or a switch of a server fails.
        """
        if kind == "follow":
            limit = "it returned a schedule, but the kernel plane has permanent circuits"
            raise refusal("fabric.policy", policy_of(self._setup), limit, 'use kind = "mordia"')
        if kind == "drain":
            pairs, staying = body
            yield from self.forwarding.drain([(a, b) for a, b in pairs], staying)
        elif kind == "dark":
            yield from self.forwarding.leave(_hops(body))
            self._darken(_hops(body))
        elif kind == "light":
            yield scaled_ps(self._setup, self._setup.dark_ps) / 1e12
            self._light(body)
        elif kind == "route":
            yield from self.forwarding.route(body)
        elif kind == "enter":
            pairs, routes = body
            yield from self.forwarding.enter([(a, b) for a, b in pairs], routes, self.directed)

    def _darken(self, hops: Iterable[Hop]) -> None:
        now = time.monotonic()
        gone = {hop for hop in hops if hop in self.lit}
        self.lit -= gone
        self._install_outputs()
        for at, (a, b, plane, since, until) in enumerate(self.history):
            if until is None and (a, b, plane) in gone:
                self.history[at] = (a, b, plane, since, now)

    def _light(self, circuits: Mapping[str, Any]) -> None:
        self.directed = bool(circuits["directed"])
        new = [hop for hop in _hops(circuits) if hop not in self.lit]
        self.lit |= set(new)
        self._install_outputs()
        now = time.monotonic()
        self.history += [(a, b, plane, now, None) for a, b, plane in new]

    def _install_outputs(self) -> None:
        racks, planes = self._layout.racks, self._layout.planes
        self._plane.cross(outputs(self.lit, self.directed, racks, planes))

    def report_demand(self) -> list[list[int]]:
        """Bytes in the sockets of each host for each rack: host, rack, bytes."""
        rows = []
        for index, sockets in self._sockets.items():
            waiting: dict[int, int] = {}
            for address, size in sockets.waiting().items():
                rack = self._racks_of.get(address)
                if rack is not None and rack != index // self._layout.hosts_per_rack:
                    waiting[rack] = waiting.get(rack, 0) + size
            rows += [[index, rack, size] for rack, size in sorted(waiting.items())]
        return rows

    def read_counters(self) -> list[tuple[str, int]]:
        """Bytes that hosts received and that uplinks sent, by their names."""
        found = _core.testbed_counters(shell.NAMESPACES / self._layout.fabric)
        rows = [(f"host {host.index}", found[host.port][SENT]) for host in self._layout.hosts]
        return rows + [(tor.name, found[tor.name][SENT]) for tor, _ in self._layout.uplinks()]

    def observe(self) -> Observed:
        """Counters of links, queues of their shapers, and bytes in the sockets of hosts."""
        now = time.monotonic()
        found = _core.testbed_counters(shell.NAMESPACES / self._layout.fabric)
        backlog = self._backlog.read()
        queues = [(port, *backlog[index]) for index, port in self._ports.items()]
        dark, _, nowhere = self._plane.lost()
        hosts = [found[host.port] for host in self._layout.hosts]
        uplinks = [found[end.name][SENT] for ends in self._layout.uplinks() for end in ends]
        delivered = sum(row[SENT] for row in hosts)
        return Observed(
            at=now,
            delivered=delivered,
            carried=delivered + sum(row[RECEIVED] for row in hosts) + sum(uplinks),
            losses=dark + nowhere + sum(drops for *_, drops in queues),
            queues=[(port.node, port.name, size) for port, size, _ in queues],
            waiting=sum(sum(one.waiting().values()) for one in self._sockets.values()),
            links=dict(self._links(found)),
        )

    def _links(self, found: Counters) -> Iterator[tuple[Link, int]]:
        """The links of the electrical network, in the order of a simulation."""
        layout = self._layout
        if not layout.electrical:
            return
        for host in layout.hosts:
            yield ("server to rack", host.index, host.rack), found[host.port][RECEIVED]
        for host in layout.hosts:
            yield ("rack to server", host.rack, host.index), found[host.port][SENT]
        ends = [ends for ends in layout.uplinks() if ends[1].role == "core"]
        for tor, _ in ends:
            yield ("rack to core", tor.rack, None), found[tor.name][SENT]
        for tor, core in ends:
            yield ("core to rack", None, tor.rack), found[core.name][SENT]

    def totals(self) -> dict[str, Any]:
        """Packets that the plane lost, by reason."""
        dark, strange, nowhere = self._plane.lost()
        own = self.forwarding.totals()
        lost = nowhere + own.get("switch_drops", 0)
        full = sum(drops for _, drops in self._backlog.read().values())
        counts = {"dark_packets": dark, "strange_packets": strange, "lost_frames": lost}
        return counts | {"queue_drops": full} | own

    def is_alive(self) -> bool:
        """Whether all processes that forward packets still run."""
        return self.forwarding.is_alive()

    def stop(self) -> None:
        """Ends the switches of servers and detaches the program; links are removed with their
        namespaces."""
        self.forwarding.stop()
        self._sockets.clear()
        del self._backlog, self._plane


def _hops(circuits: Mapping[str, Any]) -> list[Hop]:
    return [(a, b, plane) for a, b, plane in circuits["circuits"]]


def outputs(lit: Iterable[Hop], directed: bool, racks: int, planes: int) -> list[int]:
    """The output of each input of the optical switches, at plane × racks + input.

    >>> outputs([(0, 2, 0)], False, 3, 1) == [2, _core.TESTBED_NOWHERE, 0]
    True
    """
    table = [_core.TESTBED_NOWHERE] * (racks * planes)
    for a, b, plane in lit:
        table[plane * racks + a] = b
        if not directed:
            table[plane * racks + b] = a
    return table


def _indices(namespace: str) -> dict[str, int]:
    """The index of each interface of a namespace."""
    lines = shell.call(["ip", "-n", namespace, "-o", "link", "show"]).splitlines()
    fields = [line.split(": ") for line in lines]
    return {name.split("@")[0]: int(index) for index, name, *_ in fields}
