"""Topologies of several planes, and paths of several circuits over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from lightloom import _core
from lightloom.control.arrays import LARGEST, Booleans, Integers, count, numbers, pairs


@dataclass(frozen=True, eq=False)
class Vlans:
    """Which path is on which VLAN; no VLAN has a loop."""

    vlan_of: Integers
    """The VLAN of every path, counted from 0; -1 for a path without circuits."""
    circuits: Integers
    """A row for each circuit: the two racks that it joins."""
    members: list[Integers]
    """The circuits (by row) of every VLAN."""
    distinct: int
    """Paths that are not part of others."""
    lower_bound: int
    """No allocation has fewer VLANs."""


def vlans(
    paths: Iterable[Iterable[int]],
    *,
    circuits: Iterable[tuple[int, int]] | Integers | None = None,
    seed: int = 1,
) -> Vlans:
    """Puts every path on a VLAN, as few as can be found (HydRA, JOCN 2015, §III.B.1):
    the circuits of all paths of one VLAN must not contain a loop.

    Args:
        paths: the racks of each, from one end to the other; or, with `circuits`,
            its circuits by index, as `Topology.routes` has them.
        circuits: pairs of racks, of which several may be parallel.
        seed: decides which orders of paths are tried.

    Raises:
        ConfigError: naming the path or circuit; more VLANs than exist (4,094).

    >>> found = vlans([[0, 1, 2], [2, 3, 0], [0, 1]])
    >>> found.vlan_of, found.lower_bound
    (array([0, 1, 0]), 2)
    """
    lists = [[count(f"paths[{at}]", step, 0) for step in path] for at, path in enumerate(paths)]
    ends = None if circuits is None else pairs("circuits", circuits)
    vlan_of, table, members, distinct, bound = _core.control_vlans(
        ends, lists, count("seed", seed, 0)
    )
    return Vlans(vlan_of, table, [np.array(m, np.int64) for m in members], distinct, bound)


class Topology:
    """Circuits on several planes, and the demands that go over them.

    `multihop` makes one; `reconfigure` makes one that differs in part.
    """

    def __init__(self, core: _core.ControlTopology, capacity: int) -> None:
        self._core = core
        self.capacity = capacity
        """What a circuit carries each way, in the unit of what paths reserve."""

    @cached_property
    def circuits(self) -> Integers:
        """A row for each, in the order in which they were made: the lower rack,
        the higher, the plane."""
        return self._circuits[:, :3]

    @cached_property
    def residual(self) -> Integers:
        """The capacity of each circuit that no path has reserved."""
        return self._circuits[:, 3]

    @cached_property
    def demands(self) -> Integers:
        """A row for each pair of racks that has any, shape (demands, 4): the lower rack, the
        higher, the demand of both directions together, what its path needs: the larger
        direction, or `each`. That is not cut to what a circuit carries, of which a path
        reserves no more than all.

        >>> topology = multihop([[0, 30], [25, 0]], planes=1, capacity=20)
        >>> topology.demands.tolist(), topology.residual.tolist()
        ([[0, 1, 55, 30]], [0])
        """
        return self._demands[:, :4]

    @cached_property
    def hops(self) -> Integers:
        """The circuits of each demand's path; 0 if it is not served."""
        return self._demands[:, 4]

    @property
    def served(self) -> Booleans:
        """Whether each demand has a path."""
        return self.hops > 0

    @cached_property
    def routes(self) -> list[Integers]:
        """The circuits (by row) of each demand's path; empty if it is not served."""
        return _split(self._core.routes(), self.hops)

    def added_up(self, each: Integers) -> Integers:
        """What comes together on each circuit, of so much for each demand with a path."""
        total = np.zeros(len(self.circuits), np.int64)
        np.add.at(total, self._core.routes(), np.repeat(each, self.hops))
        return total

    @cached_property
    def paths(self) -> list[Integers]:
        """The racks of each demand's path; empty if it is not served."""
        lengths = np.where(self.served, self.hops + 1, 0)
        return _split(self._core.racks(), lengths)

    def reconfigure(
        self,
        *,
        ports: Iterable[tuple[int, int]],
        released: Sequence[int] = (),
        demand: ArrayLike | None = None,
        each: int | None = None,
    ) -> Topology:
        """A topology in which only what is listed has changed.

        A circuit is taken down if both its ports are listed and no demand that
        stays goes over it. Demands that stay come first, in their order, and so
        do circuits.

        Args:
            ports: (rack, plane) of all that may change.
            released: demands that go, by row.
            demand: what comes, as for `multihop`.
            each: what each pair of it reserves, as for `multihop`.

        Raises:
            ConfigError: naming the port, demand or entry.

        >>> demand = [[0, 9, 0, 0], [0, 0, 0, 0], [0, 0, 0, 5], [0, 0, 0, 0]]
        >>> before = multihop(demand, planes=1, capacity=10)
        >>> coming = [[0, 0, 0, 0], [0, 0, 0, 0], [7, 0, 0, 0], [0, 0, 0, 0]]
        >>> listed = [(0, 0), (1, 0), (2, 0), (3, 0)]
        >>> after = before.reconfigure(ports=listed, released=[0, 1], demand=coming)
        >>> before.circuits[:, :2].tolist(), after.circuits[:, :2].tolist()
        ([[0, 1], [2, 3]], [[0, 2]])
        """
        table = None if demand is None else numbers("demand", demand)
        each = None if each is None else count("each", each, 0, LARGEST)
        gone = [count(f"released[{at}]", row, 0) for at, row in enumerate(released)]
        after = self._core.reconfigure(pairs("ports", ports), gone, table, each)
        return Topology(after, self.capacity)

    @cached_property
    def _circuits(self) -> Integers:
        return self._core.circuits()

    @cached_property
    def _demands(self) -> Integers:
        return self._core.demands()


def _split(column: Integers, lengths: Integers) -> list[Integers]:
    """A column as pieces of these lengths."""
    return np.split(column, np.cumsum(lengths)[:-1]) if len(lengths) else []


def multihop(
    demand: ArrayLike,
    *,
    planes: int,
    capacity: int,
    ports: int = 1,
    radix: int | None = None,
    hops: int = 4,
    each: int | None = None,
    without_ports: bool = False,
) -> Topology:
    """HydRA's topology (JOCN 2015, §III.B.3): which racks to join on which plane,
    and over which circuits, perhaps several in a row, each demand goes.

    Demands are served heaviest first, in rounds of paths of one, two, … hops. What
    is not served is for the electrical network.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal. Circuits carry both
            directions; a path reserves the larger one, at most a whole circuit.
        planes: parallel switches.
        capacity: what a circuit carries each way, in the unit of `demand`.
        ports: of a rack on each plane.
        radix: ports of each switch; as many as the racks need unless given.
        hops: the most circuits of a path.
        each: what every path reserves, at most a whole circuit, whatever its demand: for
            demand that only says who talks.
        without_ports: go on over circuits with room when no port is free any
            more; the paper stops.

    Raises:
        ConfigError: naming the entry or the argument.

    >>> demand = [[0, 5, 7], [0, 0, 9], [0, 0, 0]]
    >>> topology = multihop(demand, planes=2, capacity=20, without_ports=True)
    >>> topology.circuits
    array([[1, 2, 0],
           [0, 2, 1]])
    >>> topology.paths[0]  # 0 and 1 have no circuit of their own
    array([0, 2, 1])
    """
    core = _core.control_multihop(
        numbers("demand", demand),
        count("planes", planes),
        count("ports", ports),
        None if radix is None else count("radix", radix),
        count("capacity", capacity, most=LARGEST),
        None if each is None else count("each", each, 0, LARGEST),
        count("hops", hops),
        without_ports,
    )
    return Topology(core, capacity)
