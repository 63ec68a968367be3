"""The circuits of a plan in a file, as directions of light between racks by name: so that
another order of racks, racks that came and racks that went do not matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from lightloom.control.current import names_in, pair_of, plane_of
from lightloom.control.files import Demand
from lightloom.control.lit import NO_PORTS, Ports, read_lit
from lightloom.control.names import check_numbers, printable
from lightloom.control.wiring.lights import names_of
from lightloom.control.wiring.port_map import SwitchSize
from lightloom.errors import ConfigError
from lightloom.units.counts import counted

REMEDY = "name what `lightloom plan -o` wrote, or a list like [[0, 1], [2, 3]]"


class OldLight(NamedTuple):
    """A direction of light."""

    plane: int
    """The switch."""
    source: str
    """The rack that sends, by name."""
    destination: str
    """The rack that receives."""
    ports: tuple[int, int] | None
    """The A port and the B port, if the plan names them."""


@dataclass(frozen=True)
class OldPlan:
    """What is lit before a change."""

    file: str
    """Where it was read."""
    lights: Sequence[OldLight]
    """Circuit by circuit."""
    racks: Sequence[str]
    """What its racks are called; those of its circuits where it does not say."""
    directed: bool
    """Whether circuits lead one way."""
    size: SwitchSize | None = None
    """Of the switch that it names ports of, if it says."""
    plane: int | None = None
    """The only plane that it speaks of; None if it speaks of all."""
    others: Sequence[tuple[int, int]] = ()
    """The A and B ports of cross-connects at ports that no rack has: left alone."""

    def pairs(self, plane: int = 0) -> list[tuple[str, str]]:
        """The racks that circuits join in both directions on a plane; none if a rack is in several,
        which no matching is."""
        lit = {(li.source, li.destination) for li in self.lights if li.plane == plane}
        found = sorted((a, b) for a, b in lit if a < b and (b, a) in lit)
        ends = [end for pair in found for end in pair]
        return found if len({*ends}) == len(ends) else []


def read_old_plan(
    path: Path, demand: Demand, *, directed: bool, ports: Ports = NO_PORTS
) -> OldPlan:
    """The circuits of a plan in a file, or of a list of pairs.

    Args:
        path: what `lightloom plan -o` wrote, what a switch has (CONFIG_DB, OCP YANG) or
            prints, or a list like `[["a", "b"]]`.
        demand: what the new plan is for: nodes that are numbers alone are its own.
        directed: whether circuits lead one way where the file does not say.
        ports: where racks are, for files that name ports of a switch.

    Raises:
        ConfigError: naming the file and what is wrong: a schedule; nodes that cannot be
            compared with those of the demand, as only one side names them.
    """
    found = read_lit(path, demand, ports)
    table = found if isinstance(found, dict) else {}
    rows = table.get("circuits") if table else found
    if table.get("schedule") is not None:
        limit = "a schedule, which a switch follows as a whole"
        raise ConfigError(f"{path}: {limit}; compare plans of circuits that stay")
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
        others = ()  # a key of that name in somebody's JSON, which has no tuples
    return OldPlan(str(path), lights, racks, one_way, size, plane, others)


def _called(path: Path, names: list[str], nodes: int | None, demand: Demand) -> list[str]:
    """What its racks are called: those of a plan by name if the demand's are, else by
    number; those of a list as the demand's are."""
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
    """Plans say it; those that were written before did by their algorithm and options."""
    said = table.get("directed")
    if isinstance(said, bool):
        return said
    if not table.get("algorithm"):
        return otherwise
    options = table.get("options")
    is_directed = isinstance(options, dict) and options.get("directed") is True
    return table["algorithm"] == "assignment" or is_directed


def _ends(rows: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """Each circuit without its plane, and its number."""
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
    """The cross-connects of a circuit; none, if it names none."""
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
    """Of the switch that a plan was made for."""
    ports = table.get("port_map")
    size = ports.get("switch_size") if isinstance(ports, dict) else None
    try:
        return None if size is None else SwitchSize.of(str(size))
    except ConfigError as problem:
        limit = f"port_map.switch_size = {size}: {problem.limit}"
        raise ConfigError(f"{path}: {limit}; {problem.remedy}") from None


def _check_ports(path: Path, lights: Sequence[OldLight]) -> None:
    """No port is in two cross-connects."""
    seen: set[tuple[int, str, int]] = set()
    for light in lights:
        if light.ports is None:
            continue
        for side, port in zip("AB", light.ports, strict=True):
            if (light.plane, side, port) in seen:
                limit = f"port {port}{side} of plane {light.plane} is in two circuits"
                raise ConfigError(f"{path}: {limit}; {REMEDY}")
            seen.add((light.plane, side, port))
