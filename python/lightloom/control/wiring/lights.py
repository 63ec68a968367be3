"""The directions of light of a plan: the sender and receiver, on which plane, in which slot.

A circuit of both directions is two of them, a slot of a schedule one for each input that
is not idle. Where ports are known, each is a cross-connect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.control.files import Demand
from lightloom.control.wiring.port_map import Port, PortMap
from lightloom.errors import ConfigError

if TYPE_CHECKING:
    from lightloom.control.plans import CircuitTable, Plan

Ends = tuple[str, str, int]
"""Of a direction of light: who sends, who receives, by name, and the plane."""
Held = Mapping[Ends, Sequence[tuple[int, int]]]


class Light(NamedTuple):
    """One direction of light."""

    slot: int | None
    """Of a schedule, counted from 0; None where circuits stay."""
    plane: int
    """The switch."""
    source: str
    """The rack that sends, by name."""
    destination: str
    """The rack that receives."""
    a: Port | None
    """Through whose A port light enters; None without a port map."""
    b: Port | None
    """Through whose B port it leaves."""
    bytes: int
    """What the source has for the destination; in a slot, what crosses in it [bytes]."""

    @property
    def ports(self) -> tuple[int, int] | None:
        """The A port and the B port; None without a port map."""
        return None if self.a is None or self.b is None else (self.a.a, self.b.b)


@dataclass(frozen=True, eq=False)
class Wiring:
    """A plan on the ports of its switches."""

    ports: PortMap
    """Which rack is at which port."""
    ends: list[tuple[Port, Port]]
    """Of each circuit: the port at `a` and that at `b`; empty for schedules."""

    def add_to(self, table: dict[str, Any], plan: Plan) -> None:
        """Names ports in a plan that becomes JSON: `cross_connects` of every circuit or
        slot, and `port_map`."""
        rows: dict[int, list[list[int]]] = {}
        for at, light in numbered_lights(plan):
            if light.ports is not None:
                rows.setdefault(at, []).append([*light.ports])
        listed = table["circuits"] if plan.schedule is None else table["schedule"]["slots"]
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
    """What racks are called: by their names, or by their numbers where they have none."""
    return demand.names or [str(node) for node in range(len(demand.matrix))]


def wired(plan: Plan, ports: PortMap, held: Held = MappingProxyType({})) -> Plan:
    """The same plan on the ports of its switches.

    Args:
        plan: what is to be lit.
        ports: which rack is at which port.
        held: the A port and the B port of each direction of light that is up, by the rack
            that sends, the one that receives, and the plane: where a rack has several
            ports on a plane, circuits that stay keep theirs.

    Raises:
        ConfigError: naming a rack that has no port left.
    """
    names, table = names_of(plan.demand), plan.circuits
    if table is None:
        _require_all(names, ports)
        return replace(plan, wiring=Wiring(ports, []))
    return replace(
        plan, wiring=Wiring(ports, _Taken(ports, table.directed).all(table, names, held))
    )


def _require_all(names: Sequence[str], ports: PortMap) -> None:
    for name in names:
        if not ports.of(name, 0):
            limit = f"`{name}` has no port on plane 0"
            remedy = f"{ports.row_for(name)}, or plan without it"
            raise ConfigError(f"{ports.file}: {limit}; {remedy}")


class _Taken:
    """Which ports are in use."""

    def __init__(self, ports: PortMap, directed: bool) -> None:
        self.ports, self.directed = ports, directed
        self.taken: set[tuple[str, Port]] = set()

    def all(
        self,
        table: CircuitTable,
        names: Sequence[str],
        held: Held,
    ) -> list[tuple[Port, Port]]:
        """Both ports of every circuit: first of those that are up, then of the others."""
        planes = [0] * len(table) if table.plane is None else table.plane.tolist()
        nodes = zip(table.a.tolist(), table.b.tolist(), planes, strict=True)
        circuits = [(names[a], names[b], plane) for a, b, plane in nodes]
        found: list[tuple[Port, Port] | None] = [self._as_held(ends, held) for ends in circuits]
        for at, (a, b, plane) in enumerate(circuits):
            if found[at] is None:
                found[at] = self._next(a, plane, "a"), self._next(b, plane, "b")
        return [pair for pair in found if pair is not None]

    def _as_held(self, ends: Ends, held: Held) -> tuple[Port, Port] | None:
        """The ports that a circuit has already, if the racks still have them."""
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


def numbered_lights(plan: Plan) -> Iterator[tuple[int, Light]]:
    """All directions of light, each with the number of its circuit or slot."""
    return _of_slots(plan) if plan.circuits is None else _of_circuits(plan, plan.circuits)


def lights_of(plan: Plan) -> list[Light]:
    """All directions of light of a plan: circuit by circuit, or slot by slot."""
    return [light for _, light in numbered_lights(plan)]


def _of_circuits(plan: Plan, table: CircuitTable) -> Iterator[tuple[int, Light]]:
    names, matrix = names_of(plan.demand), plan.demand.matrix
    planes = [0] * len(table) if table.plane is None else table.plane.tolist()
    rows = zip(table.a.tolist(), table.b.tolist(), planes, strict=True)
    for at, (a, b, plane) in enumerate(rows):
        ends = (None, None) if plan.wiring is None else plan.wiring.ends[at]
        there = int(matrix[a, b])
        yield at, Light(None, plane, names[a], names[b], ends[0], ends[1], there)
        if not table.directed:
            back = int(matrix[b, a])
            yield at, Light(None, plane, names[b], names[a], ends[1], ends[0], back)


def _of_slots(plan: Plan) -> Iterator[tuple[int, Light]]:
    schedule, carried = plan.schedule, plan.details.get("carried")
    if schedule is None or carried is None:
        return
    names = names_of(plan.demand)
    ports: list[Port | None] = [None] * len(names)
    if plan.wiring is not None:
        ports = [plan.wiring.ports.of(name, 0)[0] for name in names]
    for slot in range(schedule.slots):
        sent = carried[slot].tolist()
        for i, j in enumerate(schedule.permutations[slot].tolist()):
            if i != j:
                yield slot, Light(slot, 0, names[i], names[j], ports[i], ports[j], sent[i])
