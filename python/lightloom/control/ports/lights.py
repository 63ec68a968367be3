"""The directions of light of a plan: sender, receiver, plane and slot.

An undirected circuit is two of them; a slot of a schedule has one for each input that is not idle.
If ports are known, each is a cross-connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from lightloom.control.circuit_table import CircuitTable
from lightloom.control.files import Demand
from lightloom.control.ports.port_map import Port, PortMap
from lightloom.control.schedules import Schedule
from lightloom.errors import ConfigError

Ends = tuple[str, str, int]
"""The sending rack, the receiving rack and the plane of a direction of light."""
Action = Literal["break", "make", "keep"]
Held = Mapping[Ends, Sequence[tuple[int, int]]]


class Light(NamedTuple):
    """One direction of light."""

    slot: int | None
    """The slot of a schedule, counted from 0; None if circuits are permanent."""
    plane: int
    """The number of the switch."""
    source: str
    """The name of the sending rack."""
    destination: str
    """The name of the receiving rack."""
    a: Port | None
    """The port whose A side the light enters; None without a port map."""
    b: Port | None
    """The port whose B side the light leaves; None without a port map."""
    bytes: int
    """The demand from the source to the destination [bytes]; in a schedule, the part that the slot
    carries."""

    @property
    def ports(self) -> tuple[int, int] | None:
        """The numbers of the A port and the B port; None without a port map."""
        return None if self.a is None or self.b is None else (self.a.a, self.b.b)


class Row(NamedTuple):
    """A direction of light, and its action."""

    light: Light
    """Sender and receiver, with their ports."""
    action: Action | None = None
    """The action in a change of plans; None in a plan."""


@dataclass(frozen=True, eq=False)
class Wiring:
    """A plan on the ports of its switches."""

    ports: PortMap
    """The port map."""
    ends: list[tuple[Port, Port]]
    """For each circuit, the port at `a` and the port at `b`; empty for schedules."""

    def add_to(self, table: dict[str, Any], lights: Iterable[tuple[int, Light]]) -> None:
        """Adds ports to a plan's JSON: `cross_connects` of every circuit or slot, and
        `port_map`."""
        rows: dict[int, list[list[int]]] = {}
        for at, light in lights:
            if light.ports is not None:
                rows.setdefault(at, []).append([*light.ports])
        listed = table["circuits"] if table["schedule"] is None else table["schedule"]["slots"]
        for at, row in enumerate(listed or ()):
            row["cross_connects"] = rows.get(at, [])
        table["port_map"] = {
            "switch_size": None if self.ports.size is None else str(self.ports.size),
            "ports": [
                {"rack": p.rack, "plane": p.plane, "a_port": p.a, "b_port": p.b}
                | ({"transceiver": p.transceiver} if p.transceiver else {})
                for p in self.ports
            ],
        }


def names_of(demand: Demand) -> list[str]:
    """The names of the racks; their numbers if they have no names."""
    return demand.names or [str(node) for node in range(len(demand.matrix))]


def assigned(
    table: CircuitTable | None, demand: Demand, ports: PortMap, held: Held = MappingProxyType({})
) -> Wiring:
    """Assigns circuits, or a schedule of all racks, to the ports of the switches.

    Args:
        table: the circuits; None for a schedule.
        demand: the demand, which names the racks.
        ports: the port map.
        held: the A port and B port of each present direction of light, by sender, receiver and
            plane: if a rack has several ports on a plane, circuits that stay keep theirs.

    Raises:
        ConfigError: naming a rack that has no port left.
    """
    names = names_of(demand)
    if table is None:
        _require_all(names, ports)
        return Wiring(ports, [])
    return Wiring(ports, _Taken(ports, table.directed).all(table, names, held))


def _require_all(names: Sequence[str], ports: PortMap) -> None:
    for name in names:
        if not ports.of(name, 0):
            limit = f"`{name}` has no port on plane 0"
            remedy = f"{ports.row_for(name)}, or plan without it"
            raise ConfigError(f"{ports.file}: {limit}; {remedy}")


class _Taken:
    """The ports that are in use."""

    def __init__(self, ports: PortMap, directed: bool) -> None:
        self.ports, self.directed = ports, directed
        self.taken: set[tuple[str, Port]] = set()

    def all(
        self,
        table: CircuitTable,
        names: Sequence[str],
        held: Held,
    ) -> list[tuple[Port, Port]]:
        """Both ports of every circuit; present circuits are assigned first."""
        planes = [0] * len(table) if table.plane is None else table.plane.tolist()
        nodes = zip(table.a.tolist(), table.b.tolist(), planes, strict=True)
        circuits = [(names[a], names[b], plane) for a, b, plane in nodes]
        found: list[tuple[Port, Port] | None] = [self._as_held(ends, held) for ends in circuits]
        for at, (a, b, plane) in enumerate(circuits):
            if found[at] is None:
                found[at] = self._next(a, plane, "a"), self._next(b, plane, "b")
        return [pair for pair in found if pair is not None]

    def _as_held(self, ends: Ends, held: Held) -> tuple[Port, Port] | None:
        """The present ports of a circuit, if the racks still have them."""
        a, b, plane = ends
        for first, second in held.get(ends, ()):
            at_a = [port for port in self.ports.of(a, plane) if port.a == first]
            at_b = [port for port in self.ports.of(b, plane) if port.b == second]
            if at_a and at_b and self._free(at_a[0], "a") and self._free(at_b[0], "b"):
                self._take(at_a[0], "a")
                self._take(at_b[0], "b")
                return at_a[0], at_b[0]
        return None

    def _next(self, rack: str, plane: int, end: str) -> Port:
        ports = self.ports.of(rack, plane)
        for port in ports:
            if self._free(port, end):
                self._take(port, end)
                return port
        limit = f"`{rack}` has no port on plane {plane}"
        if ports:
            limit = f"`{rack}` has {len(ports)} on plane {plane}, all of them taken"
        raise ConfigError(f"{self.ports.file}: {limit}; give it a row for each of its circuits")

    def _free(self, port: Port, end: str) -> bool:
        return (end if self.directed else "", port) not in self.taken

    def _take(self, port: Port, end: str) -> None:
        self.taken.add((end if self.directed else "", port))


def lights_of_circuits(
    table: CircuitTable, demand: Demand, wiring: Wiring | None
) -> Iterator[tuple[int, Light]]:
    """All directions of light of permanent circuits, each with the number of its circuit."""
    names, matrix = names_of(demand), demand.matrix
    planes = [0] * len(table) if table.plane is None else table.plane.tolist()
    rows = zip(table.a.tolist(), table.b.tolist(), planes, strict=True)
    for at, (a, b, plane) in enumerate(rows):
        ends = (None, None) if wiring is None else wiring.ends[at]
        there = int(matrix[a, b])
        yield at, Light(None, plane, names[a], names[b], ends[0], ends[1], there)
        if not table.directed:
            back = int(matrix[b, a])
            yield at, Light(None, plane, names[b], names[a], ends[1], ends[0], back)


def lights_of_slots(
    schedule: Schedule, carried: Any, demand: Demand, wiring: Wiring | None
) -> Iterator[tuple[int, Light]]:
    """All directions of light of a schedule, each with the number of its slot; `carried` has the
    bytes of each slot and pair."""
    names = names_of(demand)
    ports: list[Port | None] = [None] * len(names)
    if wiring is not None:
        ports = [wiring.ports.of(name, 0)[0] for name in names]
    for slot in range(schedule.slots):
        sent = carried[slot].tolist()
        for i, j in enumerate(schedule.permutations[slot].tolist()):
            if i != j:
                yield slot, Light(slot, 0, names[i], names[j], ports[i], ports[j], sent[i])
