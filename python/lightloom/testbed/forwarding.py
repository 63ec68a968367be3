"""How packets find circuits on the kernel plane: the protocol, and forwarding by rack switches."""

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
"""Routes as actions have them."""


class Forwarding(Protocol):
    """Leads traffic away from circuits and onto them; each step yields what
    `KernelPlane.carry_out` does, and raises `OSError` if it failed."""

    def drain(self, pairs: Sequence[Pair], staying: Routes) -> Iterator[float]:
        """The traffic of pairs takes those of their routes that stay, or the electrical network;
        nothing of it is on other circuits at the end."""
        ...

    def leave(self, hops: Iterable[Hop]) -> Iterator[float]:
        """Circuits will go dark."""
        ...

    def route(self, routes: Routes) -> Iterator[float]:
        """Installs routes where they do not count yet."""
        ...

    def enter(self, pairs: Sequence[Pair], routes: Routes, directed: bool) -> Iterator[float]:
        """Pairs are drained no more, and exactly these routes are in force."""
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
    """Rack switches look up where a packet goes; all change at once, in no time."""

    def __init__(self, setup: Setup, plane: _core.TestbedKernelPlane, lit: set[Hop]) -> None:
        """Nothing but the electrical network is used.

        Args:
            setup: of the testbed.
            plane: has the tables.
            lit: circuits, which its owner updates.
        """
        self._layout = setup.layout
        self._plane = plane
        self._lit = lit
        self._settle_s = settle_s(setup)
        self._directed = False
        self._routes: list[Mapping[str, Any]] = []
        self._drained: set[Pair] = set()

    def drain(self, pairs: Sequence[Pair], staying: Routes) -> Iterator[float]:
        """Rack switches stop sending, and queues empty."""
        drained = set(pairs)
        kept = [route for route in self._routes if _ends(route) not in drained]
        self._routes = [*kept, *staying["routes"]]
        self._drained |= drained - {_ends(route) for route in staying["routes"]}
        self._install()
        yield self._settle_s

    def leave(self, hops: Iterable[Hop]) -> Iterator[float]:
        """Rack switches stop sending over circuits, and queues empty."""
        self._install(without=hops)
        yield self._settle_s

    def route(self, routes: Routes) -> Iterator[float]:
        """Does nothing: tables change as a whole."""
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
        """Returns True: the kernel carries the packets."""
        return True

    def stop(self) -> None:
        """Lets go of the tables: their program is detached when nothing holds it."""
        del self._plane


def hops_of(route: Mapping[str, Any]) -> list[Hop]:
    """The circuits of a route, each as the route passes it."""
    racks = route["racks"]
    return list(zip(racks[:-1], racks[1:], route["planes"], strict=True))


def _ends(route: Mapping[str, Any]) -> Pair:
    a, b = route["racks"][0], route["racks"][-1]
    return min(a, b), max(a, b)


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
