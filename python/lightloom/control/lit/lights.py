"""Conversion of cross-connects to lights between racks, and of lights to circuits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lightloom.control.lit.joined import Joined, Lit, wrong
from lightloom.control.ports.port_map import Port, PortMap


def lights_of(
    path: Path, joined: Sequence[Joined], ports: PortMap, plane: int
) -> tuple[list[Lit], list[tuple[int, int]]]:
    """Returns the racks that cross-connects connect, by the port map; and the A and B ports of the
    cross-connects whose two ports belong to no rack.

    Raises:
        ConfigError: if only one port of a cross-connect is in the map, or two cross-connects have
            the same port.
    """
    a_side = {port.a: port for port in ports if port.plane == plane}
    b_side = {port.b: port for port in ports if port.plane == plane}
    found: list[Lit] = []
    others: list[tuple[int, int]] = []
    taken: dict[tuple[str, int], str] = {}
    for one in joined:
        name = f"{ports.a_name(one.a)}-{ports.b_name(one.b)}"
        for side, port in (("A", one.a), ("B", one.b)):
            if (side, port) in taken:
                limit = f"{name} takes a port of {taken[side, port]}"
                raise wrong(path, one.where, limit, "delete one of them on the switch")
            taken[side, port] = name
        a, b = a_side.get(one.a), b_side.get(one.b)
        if a is None and b is None:
            others.append((one.a, one.b))
        elif a is None or b is None:
            missing = ports.a_name(one.a) if a is None else ports.b_name(one.b)
            limit = f"{name}: no row of {ports.file} has port {missing} of plane {plane}"
            raise wrong(path, one.where, limit, "give it a row, or delete the cross-connect")
        elif a.rack == b.rack:
            limit = f"{name} joins `{a.rack}` with itself"
            raise wrong(path, one.where, limit, "delete it on the switch")
        else:
            found.append(Lit(plane, a.rack, b.rack, (one.a, one.b)))
    return found, others


def circuits_of(lights: Sequence[Lit], ports: PortMap | None) -> tuple[list[dict[str, Any]], bool]:
    """Returns circuits in the form of a plan's JSON, and whether they are directed. If every
    direction has one back between the same transceivers, the two are one circuit."""
    transceivers = _by_port(ports)
    left: dict[object, list[Lit]] = {}
    both: list[tuple[Lit, Lit]] = []
    for light in lights:
        back = left.get(_back(light, transceivers), [])
        if back:
            both.append((back.pop(), light))
        else:
            left.setdefault(_there(light, transceivers), []).append(light)
    if any(left.values()):
        return [_row(light) for light in lights], True
    return [_row(*pair) for pair in both], False


def _row(*lights: Lit) -> dict[str, Any]:
    first = lights[0]
    row: dict[str, Any] = {"a": first.source, "b": first.destination, "plane": first.plane}
    if all(light.ports for light in lights):
        row["cross_connects"] = [[*light.ports] for light in lights if light.ports]
    return row


def _by_port(ports: PortMap | None) -> dict[tuple[int, str, int], Port]:
    found = {}
    for port in ports or ():
        found[port.plane, "A", port.a] = port
        found[port.plane, "B", port.b] = port
    return found


def _there(light: Lit, of: dict[tuple[int, str, int], Port]) -> object:
    """The racks of a light and, if known, its transceivers."""
    if light.ports is None:
        return light.plane, light.source, light.destination
    a, b = of.get((light.plane, "A", light.ports[0])), of.get((light.plane, "B", light.ports[1]))
    return light.plane, light.source, light.destination, a, b


def _back(light: Lit, of: dict[tuple[int, str, int], Port]) -> object:
    """The racks and transceivers of the light in the reverse direction."""
    there = _there(light, of)
    assert isinstance(there, tuple)
    plane, source, destination, *ends = there
    return (plane, destination, source, *reversed(ends))
