"""The circuits that are lit, read from a plan or from a list of pairs of nodes.

Nodes are matched by name, so that their order does not matter; `same_nodes` states the rule.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lightloom.control.files import Demand
from lightloom.control.lit.reader import NO_PORTS, Ports, check_both_ways, read_lit
from lightloom.control.names import check_numbers, numbered
from lightloom.control.same_nodes import by_name, of_file
from lightloom.errors import ConfigError

REMEDY = "name a file that `lightloom plan -o` wrote, or a list like [[0, 1], [2, 3]]"
End = int | str
"""The number or the name of a node."""


def read_circuits(
    path: Path,
    demand: Demand,
    *,
    on_planes: bool = False,
    counted: bool = False,
    ports: Ports = NO_PORTS,
    directed: bool = False,
) -> list[tuple[int, ...]]:
    """Returns the circuits of a plan in a file, or of a list of pairs, as pairs of a demand's
    nodes; with planes if `on_planes` is set and the file has them.

    Args:
        counted: whether the demand comes from a run, in which racks are numbers.
        ports: the ports of racks, for files that name ports of a switch.
        directed: whether circuits lead in one direction only.

    Raises:
        ConfigError: if the file is invalid; it states the reason.
    """
    found = read_lit(path, demand, ports)
    check_both_ways(path, found, directed=directed)
    circuits = found.get("circuits") if isinstance(found, dict) else found
    if not isinstance(circuits, list):
        raise ConfigError(f"{path}: no circuits in it; name a plan that has some")
    planes = [plane_of(circuit) if on_planes else () for circuit in circuits]
    ends = zip(circuits, planes, strict=True)
    circuits = [c[:2] if plane and isinstance(c, list) else c for c, plane in ends]
    pairs = [pair_of(path, at, circuit) for at, circuit in enumerate(circuits)]
    names, nodes = names_in(path, found)
    try:
        named = by_name("circuits", path, names, nodes, demand, counted=counted)
    except ConfigError as problem:
        raise of_file(path, problem) from None
    if named:
        pairs = [[_name(path, names, at, end) for end in pair] for at, pair in enumerate(pairs)]
    elif not counted:
        check_numbers(path, pairs, demand.names)
    try:
        found = numbered("circuits", pairs, demand.names)
    except ConfigError as problem:
        raise ConfigError(f"{path}: {problem}") from None
    return [(*pair, *plane) for pair, plane in zip(found, planes, strict=True)]


def plane_of(circuit: Any) -> tuple[int, ...]:
    """The plane of a circuit, if it has one."""
    plane = circuit.get("plane") if isinstance(circuit, dict) else None
    if isinstance(circuit, list) and len(circuit) == 3:
        plane = circuit[2]
    return (plane,) if type(plane) is int else ()


def pair_of(path: Path, at: int, circuit: Any) -> list[End]:
    """Returns the two ends of the circuit in row `at`.

    Raises:
        ConfigError: if the circuit does not have two ends.
    """
    pair = [circuit.get("a"), circuit.get("b")] if isinstance(circuit, dict) else circuit
    if not isinstance(pair, list) or len(pair) != 2 or {*map(type, pair)} not in ({int}, {str}):
        message = f"circuits[{at}] = {json.dumps(circuit)}: not two nodes"
        raise ConfigError(f'{path}: {message}; write {{"a": 0, "b": 1}}, [0, 1] or ["x", "y"]')
    return pair


def names_in(path: Path, found: Any) -> tuple[list[str], int | None]:
    """The names and the number of the nodes of a plan, if it states them."""
    demand = found.get("demand") if isinstance(found, dict) else None
    if not isinstance(demand, dict):
        return [], None
    names, nodes = demand.get("names") or [], demand.get("nodes")
    if nodes is not None and type(nodes) is not int:
        raise ConfigError(f"{path}: demand.nodes: not a number; {REMEDY}")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{path}: demand.names: not a list of names; {REMEDY}")
    if len({*names}) < len(names):
        limit = "demand.names: two nodes have the same name"
        raise ConfigError(f"{path}: {limit}; name every node once, and plan anew")
    return names, nodes


def _name(path: Path, names: list[str], at: int, end: End) -> str:
    """The name of one end of a circuit of a plan."""
    if isinstance(end, str):
        return end
    if not 0 <= end < len(names):
        limit = f"circuits[{at}]: node {end}, where demand.names has {len(names)}"
        raise ConfigError(f"{path}: {limit}; {REMEDY}")
    return names[end]
