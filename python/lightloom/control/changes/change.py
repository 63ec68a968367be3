"""One plan after another: what breaks, what is made, what stays, and who is dark for how
long.

Circuits are the same if their racks are, by name, on the same plane and, where ports are
known, at the same ports. What stays is never touched. Everything that goes is broken
before anything is made, so no port is ever in two circuits.
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
"""Of a direction of light: plane, who sends, who receives, ports."""


class Changed(NamedTuple):
    """A circuit, and the fate of it."""

    action: Action
    """break, make or keep."""
    a: str
    """A rack by name; the one that sends, where circuits lead one way."""
    b: str
    """The other."""
    plane: int
    """The switch."""
    bytes: int
    """What the new demand has for it, in its direction or in both [bytes]."""


class Pair(NamedTuple):
    """Two racks that have a circuit before or after; in order, where these lead one way."""

    a: str
    """One."""
    b: str
    """The other."""
    bytes: int
    """What they have for each other, in that direction or in both [bytes]."""
    dark_ps: int | None
    """How long no circuit joins them [ps]: 0 if one stays, the time that the switch takes
    if one comes or moves to other ports, None if none comes."""
    dark_bytes: int | None
    """What of it would have moved meanwhile [bytes]: all of it where no circuit comes; None
    if the time of the demand is not given."""


@dataclass(frozen=True, eq=False)
class Change:
    """What it takes to get from one plan to another."""

    old: OldPlan
    """What is lit before."""
    lights: Sequence[tuple[Light, Action]]
    """Every direction of light: what breaks, what is made, what stays."""
    directed: bool
    """Whether circuits are listed direction by direction."""
    demand: Mapping[tuple[str, str], int]
    """What racks have for each other, by name [bytes]."""
    came: Sequence[str]
    """Racks of the demand that the old plan does not know."""
    went: Sequence[str]
    """Racks of the old plan that the demand does not know."""
    switch_ps: int
    """How long a circuit that is made takes until it carries light [ps]."""
    over_ps: int | None
    """The time of the demand [ps], if given."""

    def rows(self) -> list[Row]:
        """For files: what breaks, what is made, what stays."""
        return [Row(light, action) for light, action in self.lights]

    @property
    def circuits(self) -> list[Changed]:
        """Circuit by circuit: both directions of one that has them are one."""
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
        """Everybody who has a circuit before or after."""
        found: dict[tuple[str, str], dict[tuple[str, str], set[Action]]] = {}
        for light, action in self.lights:
            ends, back = (light.source, light.destination), (light.destination, light.source)
            key = back if not self.directed and back in found else ends
            found.setdefault(key, {}).setdefault(ends, set()).add(action)
        return [self._pair(*ends, [*ways.values()]) for ends, ways in found.items()]

    @property
    def joined(self) -> tuple[int, int]:
        """The new demand between racks that a circuit joins before, and after: direction by
        direction, each once, whatever a circuit can carry [bytes]."""
        of: dict[Action, set[tuple[str, str]]] = {"break": set(), "make": set(), "keep": set()}
        for light, action in self.lights:
            of[action].add((light.source, light.destination))
        before, after = of["break"] | of["keep"], of["make"] | of["keep"]
        return self._sum(before), self._sum(after)

    def add_to(self, table: dict[str, Any]) -> None:
        """As the key `diff` of a plan that becomes JSON."""
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

    def _bytes(self, a: str, b: str) -> int:
        there = self.demand.get((a, b), 0)
        return there if self.directed else there + self.demand.get((b, a), 0)

    def _sum(self, pairs: set[tuple[str, str]]) -> int:
        return sum(self.demand.get(pair, 0) for pair in pairs)

    def _pair(self, a: str, b: str, ways: Sequence[set[Action]]) -> Pair:
        """As dark as the darker of its directions."""
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
    """The same plan with what it takes to get there; on ports, where these are known: then
    circuits that stay keep theirs.

    Raises:
        ConfigError: naming a rack with circuits in the old plan whose ports are not known;
            if the plan is a schedule, or the old one names ports of another switch.
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
    """Refuses a plan that names ports of another switch: of one side instead of two, or of
    another size, where both say theirs."""
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
    """What breaks, what is made, what stays, of what is to be lit now and what was."""
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
    """Its lights at ports: as it says, or as the port map does."""
    taken: set[tuple[str, int, str, int]] = set()
    return [light if light.ports else _found(light, old, ports, taken) for light in old.lights]


def _found(
    light: OldLight, old: OldPlan, ports: PortMap, taken: set[tuple[str, int, str, int]]
) -> OldLight:
    """A light of a plan that names no ports: at the first of each rack that are free."""
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
    """The ports of what is up, by sender and receiver."""
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
    """A direction of light that goes, at the ports of the map that have its numbers: with
    their transceivers. Of ports that racks no longer have only the numbers are known."""
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
