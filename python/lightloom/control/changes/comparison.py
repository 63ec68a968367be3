"""Compares a plan with an old one: the directions of light to break, make and keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lightloom.control.differences.change import Change
from lightloom.control.differences.old_plan import OldLight, OldPlan
from lightloom.control.plans import Plan
from lightloom.control.ports.lights import Action, Ends, Light, names_of
from lightloom.control.ports.port_map import Port, PortMap
from lightloom.control.wiring.plans import lights_of, wired
from lightloom.errors import ConfigError

Key = tuple[int, str, str, tuple[int, int] | None]
"""A direction of light: plane, sending rack, receiving rack, ports."""


def changed(
    plan: Plan, old: OldPlan, *, switch_ps: int, over_ps: int | None, ports: PortMap | None = None
) -> Plan:
    """Returns the plan with its difference from an old plan. If ports are known, the plan is
    assigned to ports; circuits that stay keep their ports.

    Raises:
        ConfigError: if a rack with circuits in the old plan has no known ports, the plan is a
            schedule, or the old plan names ports of another switch.
    """
    table = plan.circuits
    if table is None:
        limit = f"{plan.algorithm} plans a schedule, which a switch follows as a whole"
        raise ConfigError(f"{old.file}: {limit}; compare plans of permanent circuits")
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
    limit = f"made for another switch: {was}, but --switch-size is now {now}"
    if ports.size is None:
        limit = f"made for another switch: {was}, where it is now {now}"
    remedy = f"give --switch-size {was}" if old.size else "leave out --switch-size, or give NxN"
    raise ConfigError(f"{old.file}: {limit}; {remedy}, or plan again without --diff")


def _tagged(
    now: Sequence[Light],
    gone: Counter[Key],
    demand: Mapping[tuple[str, str], int],
    ports: PortMap | None,
) -> list[tuple[Light, Action]]:
    """Assigns an action (break, make or keep) to each direction of light that is to be lit or was
    lit."""
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
    """The old plan's lights with ports: the ports that it names, otherwise those of the port
    map."""
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
