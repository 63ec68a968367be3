"""The kernel plane as a driver of the controller: links between namespaces, tables of the rack
switches and of the optical switches.

Rack switches leave a circuit before it goes dark and then wait `settle_after`, so that what is
in its queues passes; what is sent into the dark all the same is counted.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.testbed import namespaces, shell
from lightloom.testbed.layout import DEVICE, Layout
from lightloom.testbed.setup import Setup, scaled_ps
from lightloom.units.durations import duration_ps

BURST = 64 << 10
"""Of a shaper [B]: less halves what segmentation offload reaches."""
LATENCY_S = 0.005
"""Queueing delay limit of a shaper, beyond its burst [s]."""
SPARE_S = 0.002
"""Added to the time that a queue needs to empty [s]."""
MTU = 1500
QUANTUM = 60_000
"""Of both classes of a host's scheduler in a round [B]."""

Hop = tuple[int, int, int]
"""A circuit: rack, rack, plane."""


class KernelPlane:
    """Racks, an electrical network and optical switches in one namespace."""

    def __init__(self, setup: Setup) -> None:
        """Makes links and loads the program; the namespaces are there.

        Raises:
            RuntimeError: of a tool.
            OSError: of the kernel, or if the package was built without clang.
        """
        self._setup = setup
        self._layout = setup.layout
        _make_links(setup)
        for host in setup.layout.hosts:
            namespaces.settle_host(setup.layout, host, MTU, setup.buffer)
        space = str(shell.NAMESPACES / setup.layout.fabric)
        indices = _indices(setup.layout.fabric)
        rows = [
            (port.name, indices[port.name], port.rack, port.role, port.number)
            for port in setup.layout.ports()
        ]
        racks, planes = setup.layout.racks, setup.layout.planes
        self._plane = _core.TestbedKernelPlane(
            Path(space), racks, planes, setup.layout.electrical, rows
        )
        if setup.optical_weight is not None:
            hosts = [shell.NAMESPACES / setup.layout.namespace(h) for h in setup.layout.hosts]
            self._plane.classify(hosts, DEVICE)
        self._lit: set[Hop] = set()
        self._directed = False
        self._routes: list[Mapping[str, Any]] = []
        self._drained: set[tuple[int, int]] = set()
        self._sockets = {
            host.index: _core.TestbedSockets(shell.NAMESPACES / setup.layout.namespace(host))
            for host in setup.layout.hosts
        }
        self._racks_of = {host.address: host.rack for host in setup.layout.hosts}
        self.history: list[tuple[int, int, int, float, float | None]] = []
        """Circuits: racks, plane, when they came up and went dark [s of the monotonic clock]."""

    def begin(self, kind: str, body: Any) -> float:
        """Begins an action; returns the seconds until `finish` is due."""
        if kind in ("drain", "dark"):
            self._stop_sending(kind, body)
            return self._settle_s()
        if kind == "light":
            return scaled_ps(self._setup, self._setup.dark_ps) / 1e12
        return 0.0

    def _settle_s(self) -> float:
        """Seconds until the queue of an uplink is empty."""
        given = self._setup.table.settle_after
        if given is not None:
            return duration_ps("testbed.settle_after", given) / 1e12
        return LATENCY_S + BURST * 8 / self._setup.circuit_bps + SPARE_S

    def _stop_sending(self, kind: str, body: Any) -> None:
        """Rack switches stop sending over circuits that are about to go dark."""
        if kind == "drain":
            pairs, staying = body
            drained = {(a, b) for a, b in pairs}
            kept = [route for route in self._routes if _ends(route) not in drained]
            self._routes = [*kept, *staying["routes"]]
            self._drained |= drained - {_ends(route) for route in staying["routes"]}
            self._install_next_hops()
        else:
            self._install_next_hops(without=_hops(body))

    def finish(self, kind: str, body: Any) -> None:
        """Completes an action that was begun.

        Raises:
            OSError: of the kernel.
        """
        if kind == "dark":
            self._darken(_hops(body))
        elif kind == "light":
            self._light(body)
        elif kind == "enter":
            pairs, routes = body
            self._drained -= {(a, b) for a, b in pairs}
            self._routes = routes["routes"]
            self._install_next_hops()

    def _darken(self, hops: Iterable[Hop]) -> None:
        now = time.monotonic()
        gone = {hop for hop in hops if hop in self._lit}
        self._lit -= gone
        self._install_outputs()
        for at, (a, b, plane, since, until) in enumerate(self.history):
            if until is None and (a, b, plane) in gone:
                self.history[at] = (a, b, plane, since, now)

    def _light(self, circuits: Mapping[str, Any]) -> None:
        self._directed = bool(circuits["directed"])
        new = [hop for hop in _hops(circuits) if hop not in self._lit]
        self._lit |= set(new)
        self._install_outputs()
        now = time.monotonic()
        self.history += [(a, b, plane, now, None) for a, b, plane in new]

    def _install_outputs(self) -> None:
        racks, planes = self._layout.racks, self._layout.planes
        self._plane.cross(outputs(self._lit, self._directed, racks, planes))

    def _install_next_hops(self, without: Iterable[Hop] = ()) -> None:
        dark = set(without)
        lit = {hop for hop in self._lit if hop not in dark}
        routes = [
            route
            for route in self._routes
            if set(_hops_of_route(route)) <= lit | {_reversed(h) for h in lit}
        ]
        ends = self._drained
        routes = [route for route in routes if _ends(route) not in ends]
        self._plane.lead(next_hops(routes, self._layout, self._directed))

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
        rows = [(f"host {host.index}", found[host.port][3]) for host in self._layout.hosts]
        return rows + [(tor.name, found[tor.name][3]) for tor, _ in self._layout.uplinks()]

    def totals(self) -> dict[str, Any]:
        """Packets that the plane lost, by reason."""
        dark, strange, nowhere = self._plane.lost()
        return {"dark_packets": dark, "strange_packets": strange, "lost_frames": nowhere}

    def is_alive(self) -> bool:
        """Returns True: the kernel carries the packets."""
        return True

    def stop(self) -> None:
        """Detaches the program; the links end with their namespaces."""
        self._sockets.clear()
        del self._plane


def _hops(circuits: Mapping[str, Any]) -> list[Hop]:
    return [(a, b, plane) for a, b, plane in circuits["circuits"]]


def _reversed(hop: Hop) -> Hop:
    return hop[1], hop[0], hop[2]


def _hops_of_route(route: Mapping[str, Any]) -> list[Hop]:
    racks = route["racks"]
    return list(zip(racks[:-1], racks[1:], route["planes"], strict=True))


def _ends(route: Mapping[str, Any]) -> tuple[int, int]:
    a, b = route["racks"][0], route["racks"][-1]
    return min(a, b), max(a, b)


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


def next_hops(routes: Iterable[Mapping[str, Any]], layout: Layout, directed: bool) -> list[int]:
    """Where each rack sends what goes from a rack to another, at (at × racks + src) × racks +
    dst: 0 over the electrical network, 1 + plane over an optical switch. Of several routes of a
    pair the first is taken.
    """
    racks = layout.racks
    base = 0 if layout.electrical else _core.TESTBED_NOWHERE
    table = [base] * racks**3
    taken = set()
    for route in routes:
        ways = [(route["racks"], route["planes"])]
        if not directed:
            ways.append((route["racks"][::-1], route["planes"][::-1]))
        for path, planes in ways:
            src, dst = path[0], path[-1]
            if (src, dst) in taken:
                continue
            taken.add((src, dst))
            for at, plane in zip(path, planes, strict=False):
                table[(at * racks + src) * racks + dst] = 1 + plane
    return table


def _make_links(setup: Setup) -> None:
    layout = setup.layout
    fabric = layout.fabric
    hosts = [
        f"link add {host.port} netns {fabric} type veth "
        f"peer name {DEVICE} netns {layout.namespace(host)}"
        for host in layout.hosts
    ]
    shell.batch("ip", hosts)
    links = [
        f"link add {tor.name} type veth peer name {other.name}" for tor, other in layout.uplinks()
    ]
    up = [f"link set {port.name} up" for port in layout.ports()]
    shell.batch("ip", links + up, fabric)
    shapes = [_shape(host.port, setup.host_bps) for host in layout.hosts]
    for ends in layout.uplinks():
        rate = setup.electrical_bps if ends[1].role == "core" else setup.circuit_bps
        shapes += [_shape(end.name, rate) for end in ends]
    shell.batch("tc", shapes, fabric)
    weight = setup.optical_weight
    for host in layout.hosts:
        plain = [_shape(DEVICE, setup.host_bps)]
        lines = plain if weight is None else _schedule(DEVICE, setup.host_bps, weight)
        shell.batch("tc", lines, layout.namespace(host))


def _shape(device: str, rate: int) -> str:
    latency = f"latency {round(LATENCY_S * 1e6)}us"
    return f"qdisc add dev {device} root tbf rate {rate}bit burst {BURST} {latency}"


def _schedule(device: str, rate: int, weight: float) -> list[str]:
    """A host's output scheduler: the class of circuits (1:2) and that of all else (1:3) are sure of
    their shares of the rate, and each uses what the other leaves (c-Through §4.2)."""
    limit = int(rate * LATENCY_S / 8) + BURST
    most = f"ceil {rate}bit burst {BURST} cburst {BURST}"
    lines = [
        f"qdisc add dev {device} root handle 1: htb default 3",
        f"class add dev {device} parent 1: classid 1:1 htb rate {rate}bit {most}",
    ]
    for number, share in ((2, weight), (3, 1 - weight)):
        sure, quantum = max(1, round(rate * share)), max(MTU, round(QUANTUM * share))
        lines += [
            f"class add dev {device} parent 1:1 classid 1:{number} htb rate {sure}bit {most} "
            f"quantum {quantum}",
            f"qdisc add dev {device} parent 1:{number} handle {number}: bfifo limit {limit}",
        ]
    return lines


def _indices(namespace: str) -> dict[str, int]:
    """The index of each interface of a namespace."""
    lines = shell.call(["ip", "-n", namespace, "-o", "link", "show"]).splitlines()
    fields = [line.split(": ") for line in lines]
    return {name.split("@")[0]: int(index) for index, name, *_ in fields}
