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
    """An assignment of paths to VLANs; no VLAN contains a loop."""

    vlan_of: Integers
    """The VLAN of every path, counted from 0; -1 for a path without circuits."""
    circuits: Integers
    """One row for each circuit: the two racks that it connects."""
    members: list[Integers]
    """The circuits (row numbers) of every VLAN."""
    distinct: int
    """The number of paths that are not part of other paths."""
    lower_bound: int
    """A lower limit of the number of VLANs."""


def vlans(
    paths: Iterable[Iterable[int]],
    *,
    circuits: Iterable[tuple[int, int]] | Integers | None = None,
    seed: int = 1,
) -> Vlans:
    """Assigns every path to a VLAN, with as few VLANs as it can find (HydRA, JOCN 2015, §III.B.1).
    The circuits of all paths on one VLAN must not form a loop.

    Args:
        paths: the racks of each path, from one end to the other; or, with `circuits`, indices of
            its circuits, as in `Topology.routes`.
        circuits: pairs of racks; several may be parallel.
        seed: selects the orders of paths that are tried.

    Raises:
        ConfigError: naming the invalid path or circuit; also if more than 4,094 VLANs are needed.

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
    """Circuits on several planes, and the demands that they carry.

    `multihop` makes one; `reconfigure` makes one that differs partly from it.
    """

    def __init__(self, core: _core.ControlTopology, capacity: int) -> None:
        self._core = core
        self.capacity = capacity
        """Capacity of a circuit in each direction, in the unit in which paths reserve."""

    @cached_property
    def circuits(self) -> Integers:
        """One row for each circuit, in the order in which they were made: the lower rack, the
        higher rack, the plane."""
        return self._circuits[:, :3]

    @cached_property
    def residual(self) -> Integers:
        """The capacity of each circuit that no path has reserved."""
        return self._circuits[:, 3]

    @cached_property
    def demands(self) -> Integers:
        """One row for each pair of racks with demand, shape (demands, 4): the lower rack, the
        higher rack, the demand of both directions together, and the demand of its path: the larger
        direction, or `each`. The latter is not limited to the capacity of a circuit, although a
        path reserves at most a whole circuit.

        >>> topology = multihop([[0, 30], [25, 0]], planes=1, capacity=20)
        >>> topology.demands.tolist(), topology.residual.tolist()
        ([[0, 1, 55, 30]], [0])
        """
        return self._demands[:, :4]

    @cached_property
    def hops(self) -> Integers:
        """The number of circuits of each demand's path; 0 if it is not served."""
        return self._demands[:, 4]

    @property
    def served(self) -> Booleans:
        """Whether each demand has a path."""
        return self.hops > 0

    @cached_property
    def routes(self) -> list[Integers]:
        """The circuits (row numbers) of each demand's path; empty if it is not served."""
        return _split(self._core.routes(), self.hops)

    def added_up(self, each: Integers) -> Integers:
        """Returns the sum on each circuit of the amounts `each` of the demands with a path."""
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
        """Returns a topology in which only listed parts have changed.

        A circuit is taken down if both its ports are listed and no demand that stays uses it.
        Demands and circuits that stay come first, in their order.

        Args:
            ports: (rack, plane) of all ports that may change.
            released: row numbers of the demands that are removed.
            demand: the added demand, as for `multihop`.
            each: the amount that each pair of it reserves, as for `multihop`.

        Raises:
            ConfigError: naming the invalid port, demand or entry.

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
    """Splits a column into pieces of these lengths."""
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
    """Computes HydRA's topology (JOCN 2015, §III.B.3): the circuits on each plane, and the path of
    each demand, which may use several circuits.

    Demands are served by decreasing size, in rounds of paths of one, two, … hops. The demand that
    is not served is left to the electrical network.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal. Circuits carry both directions; a path
            reserves the larger one, at most a whole circuit.
        planes: the number of parallel switches.
        capacity: the capacity of a circuit in each direction, in the unit of `demand`.
        ports: the number of ports of a rack on each plane.
        radix: the number of ports of each switch. Default: as many as the racks need.
        hops: the largest number of circuits of a path.
        each: the amount that every path reserves, at most a whole circuit, whatever its demand; for
            demand that only states which racks communicate.
        without_ports: continue over circuits with free capacity after all ports are used; the paper
            stops.

    Raises:
        ConfigError: naming the invalid entry or argument.

    >>> demand = [[0, 5, 7], [0, 0, 9], [0, 0, 0]]
    >>> topology = multihop(demand, planes=2, capacity=20, without_ports=True)
    >>> topology.circuits
    array([[1, 2, 0],
           [0, 2, 1]])
    >>> topology.paths[0]  # racks 0 and 1 have no direct circuit
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
