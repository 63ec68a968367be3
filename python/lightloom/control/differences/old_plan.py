"""The circuits of a plan in a file, as directions of light between named racks, so that the plan
may have other racks, in another order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from lightloom.control.current import names_in, pair_of, plane_of
from lightloom.control.files import Demand
from lightloom.control.lit import NO_PORTS, Ports, read_lit
from lightloom.control.names import check_numbers, printable
from lightloom.control.ports.lights import names_of
from lightloom.control.ports.port_map import SwitchSize
from lightloom.errors import ConfigError
from lightloom.units.counts import counted

REMEDY = "name a file that `lightloom plan -o` wrote, or a list like [[0, 1], [2, 3]]"


class OldLight(NamedTuple):
    """A direction of light."""

    plane: int
    """The number of the switch."""
    source: str
    """The name of the sending rack."""
    destination: str
    """The name of the receiving rack."""
    ports: tuple[int, int] | None
    """The A port and the B port, if the plan names them."""


@dataclass(frozen=True)
class OldPlan:
    """The circuits before a change."""

    file: str
    """The file that was read."""
    lights: Sequence[OldLight]
    """The directions of light, in the order of the circuits."""
    racks: Sequence[str]
    """The names of its racks; if the file does not list them, those of its circuits."""
    directed: bool
    """Whether circuits lead in one direction only."""
    size: SwitchSize | None = None
    """The size of the switch whose ports it names, if it states it."""
    plane: int | None = None
    """The only plane that the plan describes; None if it describes all."""
    others: Sequence[tuple[int, int]] = ()
    """The A and B ports of cross-connects at ports that no rack has; they are not changed."""
    dark: Mapping[tuple[int, int], str] = field(default_factory=dict)
    """The A and B ports of cross-connects that carry no light, with the reason."""

    def pairs(self, plane: int = 0) -> list[tuple[str, str]]:
        """The pairs of racks that circuits connect in both directions on a plane; empty if a rack
        is in several pairs, because these are not a matching."""
        lit = {(li.source, li.destination) for li in self.lights if li.plane == plane}
        found = sorted((a, b) for a, b in lit if a < b and (b, a) in lit)
        ends = [end for pair in found for end in pair]
        return found if len({*ends}) == len(ends) else []


def read_old_plan(
    path: Path, demand: Demand, *, directed: bool, ports: Ports = NO_PORTS
) -> OldPlan:
    """Reads the circuits of a plan in a file, or of a list of pairs.

    Args:
        path: a file that `lightloom plan -o` wrote, the configuration (CONFIG_DB, OCP YANG) or the
            output of a switch, or a list such as `[["a", "b"]]`.
        demand: the demand of the new plan; nodes that are only numbers are those of the demand.
        directed: whether circuits are directed if the file does not state it.
        ports: the ports of racks, for files that name ports of a switch.

    Raises:
        ConfigError: if the file is invalid or a schedule, or if its nodes cannot be compared with
            those of the demand because only one of them has names.
    """
    found = read_lit(path, demand, ports)
    table = found if isinstance(found, dict) else {}
    rows = table.get("circuits") if table else found
    if table.get("schedule") is not None:
        limit = "a schedule, which a switch follows as a whole"
        raise ConfigError(f"{path}: {limit}; compare plans of permanent circuits")
    if not isinstance(rows, list):
        raise ConfigError(f"{path}: no circuits in it; {REMEDY}")
    names, nodes = names_in(path, found)
    called = _called(path, names, nodes, demand)
    one_way = _directed(table, directed)
    if not demand.names and any(type(pair_of(path, *row)[0]) is str for row in _ends(rows)):
        limit = "it names racks, and the demand does not"
        raise ConfigError(f"{path}: {limit}; give their numbers, or name those of the demand")
    if not (names or nodes):
        check_numbers(path, (pair_of(path, *row) for row in _ends(rows)), demand.names)
    lights = [
        light for at, row in enumerate(rows) for light in _lights(path, at, row, called, one_way)
    ]
    _check_ports(path, lights)
    size = _switch_size(path, table)
    racks = called if names or nodes else [*dict.fromkeys(light.source for light in lights)]
    plane, others = table.get("plane"), table.get("others")
    if not isinstance(others, tuple):
        others = ()  # a key of that name in other JSON; JSON has no tuples
    return OldPlan(str(path), lights, racks, one_way, size, plane, others)


def _called(path: Path, names: list[str], nodes: int | None, demand: Demand) -> list[str]:
    """Returns the names of the racks: for a plan, its names if the demand has names, otherwise
    numbers; for a list, the names of the demand."""
    if names and demand.names:
        return names
    if nodes is not None and (names or demand.names):
        sides = ("the plan", "the demand") if names else ("the demand", "the plan")
        limit = f"{sides[0]} names its racks and {sides[1]} does not"
        raise ConfigError(f"{path}: {limit}; name those of both, and plan anew")
    known = len(demand.matrix)
    if nodes not in (None, known):
        limit = f"a plan for {counted(nodes, 'node')}, where the demand has {known}"
        raise ConfigError(f"{path}: {limit}; name the nodes of both demands, or plan anew")
    return names_of(demand)


def _directed(table: dict[str, Any], otherwise: bool) -> bool:
    """Whether circuits are directed; plans without the key state it by algorithm and options."""
    said = table.get("directed")
    if isinstance(said, bool):
        return said
    if not table.get("algorithm"):
        return otherwise
    options = table.get("options")
    is_directed = isinstance(options, dict) and options.get("directed") is True
    return table["algorithm"] == "assignment" or is_directed


def _ends(rows: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Each circuit without its plane, with its index."""
    for at, row in enumerate(rows):
        yield at, row[:2] if isinstance(row, list) and plane_of(row) else row


def _lights(
    path: Path, at: int, row: Any, called: Sequence[str], directed: bool
) -> Iterator[OldLight]:
    """The directions of light of one circuit."""
    plane = plane_of(row)
    ((_, bare),) = _ends([row])
    a, b = (_name(path, at, end, called) for end in pair_of(path, at, bare))
    if a == b:
        raise ConfigError(f"{path}: circuits[{at}]: joins {a} with itself; {REMEDY}")
    on = plane[0] if plane else 0
    ports = _ports(path, at, row, 1 if directed else 2)
    yield OldLight(on, a, b, ports[0] if ports else None)
    if not directed:
        yield OldLight(on, b, a, ports[1] if ports else None)


def _name(path: Path, at: int, end: int | str, called: Sequence[str]) -> str:
    if isinstance(end, str):
        return printable(end)
    if not 0 <= end < len(called):
        limit = f"circuits[{at}]: node {end}, where there are {len(called)}"
        raise ConfigError(f"{path}: {limit}; {REMEDY}")
    return called[end]


def _ports(path: Path, at: int, row: Any, many: int) -> list[tuple[int, int]]:
    """The cross-connects of a circuit; none if it names none."""
    listed = row.get("cross_connects") if isinstance(row, dict) else None
    if listed is None:
        return []
    fits = isinstance(listed, list) and len(listed) == many
    fits = fits and all(isinstance(pair, list) and len(pair) == 2 for pair in listed)
    if not fits or not all(type(port) is int and port > 0 for pair in listed for port in pair):
        limit = f"circuits[{at}].cross_connects: not {many} of an A and a B port"
        raise ConfigError(f"{path}: {limit}; {REMEDY}")
    return [(a, b) for a, b in listed]


def _switch_size(path: Path, table: dict[str, Any]) -> SwitchSize | None:
    """The size of the switch that a plan was made for."""
    ports = table.get("port_map")
    size = ports.get("switch_size") if isinstance(ports, dict) else None
    try:
        return None if size is None else SwitchSize.of(str(size))
    except ConfigError as problem:
        limit = f"port_map.switch_size = {size}: {problem.limit}"
        raise ConfigError(f"{path}: {limit}; {problem.remedy}") from None


def _check_ports(path: Path, lights: Sequence[OldLight]) -> None:
    """Raises an error if a port is in two cross-connects."""
    seen: set[tuple[int, str, int]] = set()
    for light in lights:
        if light.ports is None:
            continue
        for side, port in zip("AB", light.ports, strict=True):
            if (light.plane, side, port) in seen:
                limit = f"port {port}{side} of plane {light.plane} is in two circuits"
                raise ConfigError(f"{path}: {limit}; {REMEDY}")
            seen.add((light.plane, side, port))
