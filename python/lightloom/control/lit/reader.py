"""Recognises the dialect of a file of circuits, and reads its circuits in the form of a plan's
JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from lightloom.control.files import Demand
from lightloom.control.lit.joined import Joined, Lit, wrong
from lightloom.control.lit.lights import circuits_of, lights_of
from lightloom.control.lit.plan_files import is_csv, is_table, of_csv, of_table
from lightloom.control.lit.switch_files import (
    COMMAND,
    is_show,
    of_commands,
    of_config_db,
    of_ocp_yang,
    of_scpi,
    of_show,
)
from lightloom.control.ports.port_map import PortMap
from lightloom.errors import ConfigError
from lightloom.storage import reading

REMEDY = (
    "name a file that `lightloom plan -o` wrote, the switch's CONFIG_DB or OCP YANG as JSON, what "
    "`show ocs cross-connect config` prints, or a list like [[0, 1], [2, 3]]"
)


class Ports(NamedTuple):
    """The ports of racks, for a file that names ports of a switch."""

    map: PortMap | None = None
    """The port map, if one was given."""
    plane: int | None = None
    """The plane of the switch, if given."""


NO_PORTS = Ports()


def read_lit(path: Path, demand: Demand, ports: Ports = NO_PORTS) -> Any:
    """Returns the circuits of a file: JSON that is a plan or a list of pairs is returned unchanged;
    other formats get the keys of a plan's JSON.

    Args:
        demand: the demand of the new plan, which shows whether racks have names.
        ports: the ports of racks, for files that name ports of a switch.

    Raises:
        ConfigError: if the file is invalid; it names the position.
    """
    try:
        text = reading.text(path, reading.DATA).removeprefix("\ufeff")
    except UnicodeDecodeError:
        raise wrong(path, "", "not UTF-8", REMEDY) from None
    if text.lstrip()[:1] in ("{", "["):
        value = _json(path, text)
        joined = _of_json(path, value)
        return value if joined is None else _of_switch(path, joined, demand, ports)
    lines = [(at, line) for at, line in enumerate(text.split("\n"), 1) if line.strip()]
    if is_csv(lines):
        return _table(of_csv(path, text), demand, ports.map)
    if is_table(lines):
        return _table(of_table(path, lines), demand, ports.map)
    return _of_switch(path, _of_lines(path, lines, ports), demand, ports)


def _json(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        where, reason = f":{problem.lineno}:{problem.colno}", problem.msg.lower()
        raise wrong(path, where, f"not JSON ({reason})", REMEDY) from None
    except (ValueError, RecursionError):  # thousands of digits or of brackets
        raise wrong(path, "", "not JSON (too deep, or a number too long)", REMEDY) from None


def _of_json(path: Path, value: Any) -> list[Joined] | None:
    """The cross-connects in the JSON of a switch."""
    if not isinstance(value, dict) or {"circuits", "schedule", "demand"} & value.keys():
        return None
    found = of_ocp_yang(path, value)
    return of_config_db(path, value) if found is None else found


def _of_lines(path: Path, lines: list[tuple[int, str]], ports: Ports) -> list[Joined]:
    """The cross-connects in lines of text."""
    bare = [line.strip() for _, line in lines]
    if bare and bare[0].lower().startswith(":oxc:"):
        size = None if ports.map is None else ports.map.size
        if ports.map is not None and size is None:
            limit = "SCPI counts B ports on after the A ports, and their number is unknown"
            raise wrong(path, "", limit, "give --switch-size, like 16x16")
        return of_scpi(path, lines, size.a if size is not None and size.sides == 2 else 0)
    if bare and (bare[0][:2] == "#!" or any(COMMAND.fullmatch(line) for line in bare)):
        return of_commands(path, lines)
    if is_show(lines):
        return of_show(path, lines)
    raise wrong(path, "", "no circuits in it that can be read", REMEDY)


def _of_switch(path: Path, joined: list[Joined], demand: Demand, ports: Ports) -> dict[str, Any]:
    """Converts cross-connects to circuits between racks."""
    if ports.map is None:
        limit = "it names ports of a switch, not racks"
        raise wrong(path, "", limit, "map them to racks with --port-map PORTS.csv")
    plane = ports.plane
    if plane is None and ports.map.planes > 1:
        limit = f"it is of one switch, and {ports.map.file} has {ports.map.planes} planes"
        raise wrong(path, "", limit, "choose one with --plane")
    lights, others = lights_of(path, joined, ports.map, plane or 0)
    found = _table(lights, demand, ports.map)
    return found | {"plane": plane, "others": tuple(others)}


def _table(lights: list[Lit], demand: Demand, ports: PortMap | None) -> dict[str, Any]:
    """The keys of a plan's JSON."""
    rows, directed = circuits_of(lights, ports)
    found: dict[str, Any] = {"circuits": rows, "directed": directed}
    if demand.names:
        racks = [port.rack for port in ports or ()]
        ends = [end for light in lights for end in (light.source, light.destination)]
        names = [*dict.fromkeys([*racks, *ends])]
        found["demand"] = {"names": names, "nodes": len(names)}
    else:
        for row in rows:
            row |= {key: _number(row[key]) for key in ("a", "b")}
    if ports is not None and ports.size is not None:
        found["port_map"] = {"switch_size": str(ports.size)}
    return found


def _number(name: str) -> int | str:
    return int(name) if name.isascii() and name.isdigit() else name


def check_both_ways(path: Path, found: Any, *, directed: bool) -> None:
    """Raises an error if circuits of a switch are unidirectional although undirected circuits are
    required.

    Raises:
        ConfigError: naming the first circuit without one in the reverse direction.
    """
    rows = found.get("circuits") if isinstance(found, dict) and "others" in found else None
    if directed or not rows or not found.get("directed"):
        return
    ends = {(row["a"], row["b"]) for row in rows}
    one = next((row for row in rows if (row["b"], row["a"]) not in ends), rows[0])
    limit = f"{one['a']} to {one['b']} is lit one way only"
    raise ConfigError(f"{path}: {limit}; light its way back, or delete it on the switch")
