"""The change from one plan to another: circuits to break, make and keep, and which racks are dark
for how long.

Two circuits are equal if they connect the same racks, by name, on the same plane and, if ports are
known, the same ports. Circuits that stay are never touched. All circuits that go are broken before
any is made, so that no port is ever in two circuits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from lightloom.control.changes.old_plan import OldLight, OldPlan
from lightloom.control.wiring.lights import Ends, Light, lights_of, names_of, wired
from lightloom.control.wiring.port_map import Port, PortMap
from lightloom.control.wiring.sheet import Action, Row
from lightloom.errors import ConfigError

if TYPE_CHECKING:
    from lightloom.control.plans import Plan

Key = tuple[int, str, str, tuple[int, int] | None]
"""A direction of light: plane, sending rack, receiving rack, ports."""


class Changed(NamedTuple):
    """A circuit, and what the change does to it."""

    action: Action
    """"break", "make" or "keep"."""
    a: str
    """The name of one rack; the sending one if circuits are directed."""
    b: str
    """The name of the other rack."""
    plane: int
    """The number of the switch."""
    bytes: int
    """Bytes that the new demand has for the circuit, in its direction or in both."""


class Pair(NamedTuple):
    """Two racks that have a circuit before or after the change; in order if circuits are
    directed."""

    a: str
    """The name of one rack; the sending one if circuits are directed."""
    b: str
    """The name of the other rack."""
    bytes: int
    """Bytes that the racks have for each other, in that direction or in both."""
    dark_ps: int | None
    """How long no circuit connects the racks [ps]: 0 if one stays; the time that the switch needs
    if one is made or moves to other ports; None if no circuit is made."""
    dark_bytes: int | None
    """Bytes of the demand that would have moved meanwhile; all of them if no circuit is made; None
    if the duration of the demand is not given."""


@dataclass(frozen=True, eq=False)
class Change:
    """The difference between two plans."""

    old: OldPlan
    """The circuits before the change."""
    lights: Sequence[tuple[Light, Action]]
    """Every direction of light, with what happens to it."""
    directed: bool
    """Whether circuits are listed for each direction."""
    demand: Mapping[tuple[str, str], int]
    """Demand of the new plan by names of racks [bytes]."""
    came: Sequence[str]
    """Racks of the demand that the old plan does not have."""
    went: Sequence[str]
    """Racks of the old plan that the demand does not have."""
    switch_ps: int
    """Time from a command until a new circuit carries light [ps]."""
    over_ps: int | None
    """The duration of the demand [ps]; None if it is not given."""

    def rows(self) -> list[Row]:
        """Returns the rows for files: circuits to break, make and keep."""
        return [Row(light, action) for light, action in self.lights]

    @property
    def circuits(self) -> list[Changed]:
        """The circuits, with the two directions of an undirected circuit as one."""
        found = []
        there: Counter[tuple[Action, int, str, str]] = Counter()
        for light, action in self.lights:
            back = (action, light.plane, light.destination, light.source)
            if not self.directed and there[back]:
                there[back] -= 1
                continue
            there[action, light.plane, light.source, light.destination] += 1
            ends = light.source, light.destination
            found.append(Changed(action, *ends, light.plane, self._bytes(*ends)))
        return found

    @property
    def pairs(self) -> list[Pair]:
        """All pairs of racks that have a circuit before or after the change."""
        found: dict[tuple[str, str], dict[tuple[str, str], set[Action]]] = {}
        for light, action in self.lights:
            ends, back = (light.source, light.destination), (light.destination, light.source)
            key = back if not self.directed and back in found else ends
            now: Action = "break" if self._is_dark(light) else action
            found.setdefault(key, {}).setdefault(ends, set()).add(now)
        return [self._pair(*ends, [*ways.values()]) for ends, ways in found.items()]

    @property
    def joined(self) -> tuple[int, int]:
        """The new demand between racks that a circuit connects before and after the change [bytes]:
        each direction once, without regard to the capacity of circuits. A circuit that carries no
        light before connects none, neither before nor, if it stays, after."""
        of: dict[Action, set[tuple[str, str]]] = {"break": set(), "make": set(), "keep": set()}
        for light, action in self.lights:
            if self._is_dark(light):
                continue
            of[action].add((light.source, light.destination))
        before, after = of["break"] | of["keep"], of["make"] | of["keep"]
        return self._sum(before), self._sum(after)

    def add_to(self, table: dict[str, Any]) -> None:
        """Adds the change as the key `diff` of a plan's JSON."""
        before, after = self.joined
        table["diff"] = {
            "old": self.old.file,
            "dark_ps": self.switch_ps,
            "over_ps": self.over_ps,
            "came": list(self.came),
            "went": list(self.went),
            "old_bytes": before,
            "new_bytes": after,
            "circuits": [circuit._asdict() for circuit in self.circuits],
            "pairs": [pair._asdict() for pair in self.pairs],
        }

    def _is_dark(self, light: Light) -> bool:
        """Whether its cross-connect was there before and carries no light."""
        return light.ports in self.old.dark

    def _bytes(self, a: str, b: str) -> int:
        there = self.demand.get((a, b), 0)
        return there if self.directed else there + self.demand.get((b, a), 0)

    def _sum(self, pairs: set[tuple[str, str]]) -> int:
        return sum(self.demand.get(pair, 0) for pair in pairs)

    def _pair(self, a: str, b: str, ways: Sequence[set[Action]]) -> Pair:
        """The dark time of a pair is that of its direction which is dark for longer."""
        times = [0 if "keep" in way else self.switch_ps if "make" in way else None for way in ways]
        known = [time for time in times if time is not None]
        dark = max(known) if len(known) == len(times) else None
        amount = self._bytes(a, b)
        lost: int | None = amount
        if dark == 0:
            lost = 0
        elif dark is not None:
            lost = None if self.over_ps is None else min(amount, amount * dark // self.over_ps)
        return Pair(a, b, amount, dark, lost)


def changed(
    plan: Plan, old: OldPlan, *, switch_ps: int, over_ps: int | None, ports: PortMap | None = None
) -> Plan:
    """Returns the plan with its difference from an old plan. If ports are known, it is assigned to
    ports; circuits that stay keep theirs.

    Raises:
        ConfigError: if a rack with circuits in the old plan has no known ports, the plan is a
            schedule, or the old plan names ports of another switch.
    """
    table = plan.circuits
    if table is None:
        limit = f"{plan.algorithm} plans a schedule, which a switch follows as a whole"
        raise ConfigError(f"{old.file}: {limit}; compare plans of circuits that stay")
    if ports is not None:
        _check_switch(old, ports)
    before = list(old.lights) if ports is None else _on_ports(old, ports)
    if ports is not None:
        plan = wired(plan, ports, _held(before))
    now = [light for light in lights_of(plan) if old.plane in (None, light.plane)]
    names, demand = names_of(plan.demand), _demand(plan)
    change = Change(
        old,
        _tagged(now, Counter(_key(light, ports) for light in before), demand, ports),
        table.directed or old.directed,
        demand,
        came=[name for name in names if name not in set(old.racks)],
        went=[name for name in old.racks if name not in set(names)],
        switch_ps=switch_ps,
        over_ps=over_ps,
    )
    return replace(plan, change=change)


def _check_switch(old: OldPlan, ports: PortMap) -> None:
    """Raises an error if the old plan names ports of another switch: with one side instead of two,
    or of another size, if both plans state it."""
    if not any(light.ports for light in old.lights):
        return
    sides = 2 if old.size is None else old.size.sides
    if sides == ports.sides and (None in (old.size, ports.size) or old.size == ports.size):
        return
    was, now = (str(size or "one of A and B ports") for size in (old.size, ports.size))
    limit = f"made for another switch: {was}, where --switch-size now says {now}"
    if ports.size is None:
        limit = f"made for another switch: {was}, where it is now {now}"
    remedy = f"give --switch-size {was}" if old.size else "leave out --switch-size, or give NxN"
    raise ConfigError(f"{old.file}: {limit}; {remedy}, or plan anew without --diff")


def _tagged(
    now: Sequence[Light],
    gone: Counter[Key],
    demand: Mapping[tuple[str, str], int],
    ports: PortMap | None,
) -> list[tuple[Light, Action]]:
    """Marks each direction of light that is to be lit or was lit: break, make or keep."""
    kept: list[tuple[Light, Action]] = []
    made: list[tuple[Light, Action]] = []
    for light in now:
        key = (light.plane, light.source, light.destination, light.ports)
        if gone[key] > 0:
            gone[key] -= 1
            kept.append((light, "keep"))
        else:
            made.append((light, "make"))
    broken = [_broken(key, demand, ports) for key, count in gone.items() for _ in range(count)]
    return [*((light, "break") for light in broken), *made, *kept]


def _key(light: OldLight, ports: PortMap | None) -> Key:
    return light.plane, light.source, light.destination, None if ports is None else light.ports


def _on_ports(old: OldPlan, ports: PortMap) -> list[OldLight]:
    """The old plan's lights at ports: those that it names, or those of the port map."""
    taken: set[tuple[str, int, str, int]] = set()
    return [light if light.ports else _found(light, old, ports, taken) for light in old.lights]


def _found(
    light: OldLight, old: OldPlan, ports: PortMap, taken: set[tuple[str, int, str, int]]
) -> OldLight:
    """Assigns a light of a plan without ports to the first free port of each rack."""
    ends = []
    for rack, side in ((light.source, "A"), (light.destination, "B")):
        for port in ports.of(rack, light.plane):
            number = port.a if side == "A" else port.b
            if (rack, light.plane, side, number) not in taken:
                taken.add((rack, light.plane, side, number))
                ends.append(number)
                break
        else:
            limit = (
                f"`{rack}` has a circuit on plane {light.plane}, and no port left in {ports.file}"
            )
            remedy = "give it a row, or compare with a plan that --port-map named ports in"
            raise ConfigError(f"{old.file}: {limit}; {remedy}")
    return light._replace(ports=(ends[0], ends[1]))


def _held(lights: Sequence[OldLight]) -> dict[Ends, list[tuple[int, int]]]:
    """The ports of the present lights, by sender, receiver and plane."""
    held: dict[Ends, list[tuple[int, int]]] = {}
    for light in lights:
        if light.ports is not None:
            key = (light.source, light.destination, light.plane)
            held.setdefault(key, []).append(light.ports)
    return held


def _demand(plan: Plan) -> dict[tuple[str, str], int]:
    names, matrix = names_of(plan.demand), plan.demand.matrix
    rows, columns = (axis.tolist() for axis in matrix.nonzero())
    return {(names[i], names[j]): int(matrix[i, j]) for i, j in zip(rows, columns, strict=True)}


def _broken(key: Key, demand: Mapping[tuple[str, str], int], ports: PortMap | None) -> Light:
    """Returns a direction of light that is broken, with the transceivers of the port map. If racks
    no longer have the ports, only their numbers are known."""
    plane, source, destination, numbers = key
    ends: tuple[Port | None, Port | None] = (None, None)
    if numbers is not None and ports is not None:
        a, b = numbers
        there = (port for port in ports.of(source, plane) if port.a == a)
        back = (port for port in ports.of(destination, plane) if port.b == b)
        ends = (
            next(there, Port(source, plane, a, a)),
            next(back, Port(destination, plane, b, b)),
        )
    return Light(None, plane, source, destination, *ends, demand.get((source, destination), 0))
