"""Forwarding of packets to circuits on the kernel plane: the protocol, and forwarding by rack
switches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from lightloom import _core
from lightloom.testbed.layout import Layout
from lightloom.testbed.links import emptying_s
from lightloom.testbed.setup import Setup
from lightloom.units.durations import duration_ps

SPARE_S = 0.002
"""Added to the time that a queue needs to empty [s]."""

Hop = tuple[int, int, int]
"""A circuit: rack, rack, plane."""
Pair = tuple[int, int]
"""Two racks, the lower first."""
Routes = Mapping[str, Any]
"""Routes in the form of actions."""


class Forwarding(Protocol):
    """Moves traffic away from circuits and onto them.

    Each step yields times as `KernelPlane.carry_out` does, and raises `OSError` if it fails.
    """

    def drain(self, pairs: Sequence[Pair], staying: Routes) -> Iterator[float]:
        """Moves the traffic of pairs to those of their routes that stay, or to the electrical
        network; at the end none of it is on other circuits."""
        ...

    def leave(self, hops: Iterable[Hop]) -> Iterator[float]:
        """Prepares for circuits going dark."""
        ...

    def route(self, routes: Routes) -> Iterator[float]:
        """Installs routes without putting them into effect."""
        ...

    def enter(self, pairs: Sequence[Pair], routes: Routes, directed: bool) -> Iterator[float]:
        """Ends the drain of pairs, and puts exactly these routes into effect."""
        ...

    def totals(self) -> dict[str, Any]:
        """Figures of the whole run."""
        ...

    def is_alive(self) -> bool:
        """Whether its processes run."""
        ...

    def stop(self) -> None:
        """Ends its processes."""
        ...


def settle_s(setup: Setup) -> float:
    """Seconds from the last packet into a circuit until the queue of its uplink is empty."""
    given = setup.table.settle_after
    if given is not None:
        return duration_ps("testbed.settle_after", given) / 1e12
    return emptying_s(setup.circuit_bps) + SPARE_S


class RackForwarding:
    """Forwarding by tables of rack switches, which all change at the same instant."""

    def __init__(self, setup: Setup, plane: _core.TestbedKernelPlane, lit: set[Hop]) -> None:
        """Starts with all traffic on the electrical network.

        Args:
            setup: set-up of the testbed.
            plane: plane with the tables.
            lit: lit circuits, which their owner updates.
        """
        self._layout = setup.layout
        self._plane = plane
        self._lit = lit
        self._settle_s = settle_s(setup)
        self._directed = False
        self._routes: list[Mapping[str, Any]] = []
        self._drained: set[Pair] = set()

    def drain(self, pairs: Sequence[Pair], staying: Routes) -> Iterator[float]:
        """Makes rack switches stop sending, and waits until queues are empty."""
        drained = set(pairs)
        kept = [route for route in self._routes if _ends(route) not in drained]
        self._routes = [*kept, *staying["routes"]]
        self._drained |= drained - {_ends(route) for route in staying["routes"]}
        self._install()
        yield self._settle_s

    def leave(self, hops: Iterable[Hop]) -> Iterator[float]:
        """Makes rack switches stop sending over circuits, and waits until queues are empty."""
        self._install(without=hops)
        yield self._settle_s

    def route(self, routes: Routes) -> Iterator[float]:
        """Does nothing, because tables change as a whole."""
        yield from ()

    def enter(self, pairs: Sequence[Pair], routes: Routes, directed: bool) -> Iterator[float]:
        """Changes the tables."""
        self._directed = directed
        self._drained -= set(pairs)
        self._routes = routes["routes"]
        self._install()
        yield from ()

    def _install(self, without: Iterable[Hop] = ()) -> None:
        lit = self._lit - set(without)
        ways = lit | {(b, a, plane) for a, b, plane in lit}
        routes = [
            route
            for route in self._routes
            if set(hops_of(route)) <= ways and _ends(route) not in self._drained
        ]
        self._plane.lead(next_hops(routes, self._layout, self._directed))

    def totals(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def is_alive(self) -> bool:
        """Returns True, because the kernel forwards the packets."""
        return True

    def stop(self) -> None:
        """Releases the tables; their program is detached when it is no longer referenced."""
        del self._plane


def hops_of(route: Mapping[str, Any]) -> list[Hop]:
    """The circuits of a route, each in the direction of the route."""
    racks = route["racks"]
    return list(zip(racks[:-1], racks[1:], route["planes"], strict=True))


def _ends(route: Mapping[str, Any]) -> Pair:
    a, b = route["racks"][0], route["racks"][-1]
    return min(a, b), max(a, b)


def next_hops(routes: Iterable[Mapping[str, Any]], layout: Layout, directed: bool) -> list[int]:
    """The next hop of each rack for each pair of racks, at index (at × racks + src) × racks + dst:
    0 for the electrical network, 1 + plane for an optical switch. If a pair has several routes, the
    first one is used.
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
