"""Plans on ports, made by Hypothesis; and parsers of what is written of them, which share
no code with what writes: each gives (action, plane, A port, B port)."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from lightloom import control
from lightloom.control import wiring
from lightloom.control.wiring import Port, PortMap, SwitchSize

SIDE = 40
"""Ports of each side of a switch."""
NAMES = st.text("ab0.5 #,;|\"'é\\", min_size=1, max_size=6).map(str.strip).filter(bool)
PERIOD = {"period": "1 s"}
SCHEDULES = {
    "mordia": PERIOD,
    "eclipse": PERIOD,
    "rotation": PERIOD,
    "solstice": {},
}


class Joined(NamedTuple):
    """A cross-connect, as a file names it."""

    action: str | None
    plane: int | None
    a: int
    b: int


@st.composite
def demands(draw: st.DrawFn) -> control.Demand:
    """Of two to six racks with names, or without."""
    racks = draw(st.integers(2, 6))
    entries = draw(st.lists(st.integers(0, 9), min_size=racks**2, max_size=racks**2))
    matrix = np.array(entries).reshape(racks, racks) * 10**7
    np.fill_diagonal(matrix, 0)
    matrix[0, 1] += 10**7
    names = draw(st.lists(NAMES, min_size=racks, max_size=racks, unique=True) | st.just([]))
    return control.Demand(matrix, names)


@st.composite
def port_maps(
    draw: st.DrawFn, racks: Sequence[str], planes: int = 1, each: int = 1, sides: int = 2
) -> PortMap:
    """Ports for all racks, in any order, none used twice."""
    found = []
    for plane in range(planes):
        count = len(racks) * each
        if sides == 2:
            a = draw(st.permutations(range(1, SIDE + 1)))[:count]
            b = draw(st.permutations(range(1, SIDE + 1)))[:count]
        else:
            all_ports = draw(st.permutations(range(1, SIDE + 1)))
            a, b = all_ports[:count], all_ports[count : 2 * count]
        owners = draw(st.permutations([rack for rack in racks for _ in range(each)]))
        found += [Port(rack, plane, *ports) for rack, *ports in zip(owners, a, b, strict=True)]
    return PortMap(found, SwitchSize(SIDE, SIDE) if sides == 2 else SwitchSize(SIDE))


@st.composite
def circuit_plans(draw: st.DrawFn, sides: int = 2) -> control.Plan:
    """Circuits on one plane or on several, on ports."""
    demand = draw(demands())
    algorithm = draw(st.sampled_from(["edmonds", "assignment", "hydra"]))
    options, planes, each = {}, 1, 1
    if algorithm == "hydra":
        planes, each = draw(st.integers(1, 3)), draw(st.integers(1, 2))
        options = {"planes": planes, "ports": each}
    plan = control.plan(demand, algorithm, **options)
    racks = wiring.names_of(demand)
    return wiring.wired(plan, draw(port_maps(racks, planes, each, sides)))


@st.composite
def schedule_plans(draw: st.DrawFn) -> control.Plan:
    """Circuits that take turns, on ports."""
    demand = draw(demands())
    algorithm = draw(st.sampled_from(sorted(SCHEDULES)))
    plan = control.plan(demand, algorithm, **SCHEDULES[algorithm])
    return wiring.wired(plan, draw(port_maps(wiring.names_of(demand))))


def wanted(plan: control.Plan) -> list[tuple[int, str, str]]:
    """Plane, source and destination of each direction of light, from the plan's columns."""
    names = wiring.names_of(plan.demand)
    table = plan.circuits
    if table is None:
        assert plan.schedule is not None
        rows = [
            (slot, names[i], names[j])
            for slot, outputs in enumerate(plan.schedule.permutations.tolist())
            for i, j in enumerate(outputs)
            if i != j
        ]
        return sorted(rows)
    planes = np.zeros(len(table), int) if table.plane is None else table.plane
    there = [(int(p), names[a], names[b]) for a, b, p in zip(table.a, table.b, planes, strict=True)]
    return sorted(there if table.directed else there + [(p, b, a) for p, a, b in there])


def ends(plan: control.Plan, plane: int, a: int, b: int) -> tuple[int, str, str]:
    """Whom a cross-connect joins, by looking its ports up in the port map."""
    assert plan.wiring is not None
    source = [p.rack for p in plan.wiring.ports if (p.plane, p.a) == (plane, a)]
    destination = [p.rack for p in plan.wiring.ports if (p.plane, p.b) == (plane, b)]
    assert len(source) == len(destination) == 1
    return plane, source[0], destination[0]


def of_csv(text: str) -> list[Joined]:
    rows = csv.DictReader(io.StringIO(text))
    return [
        Joined(
            row.get("action"),
            int(row["plane"]),
            int(row["a_port"].rstrip("A")),
            int(row["b_port"].rstrip("B")),
        )
        for row in rows
    ]


def of_table(text: str) -> list[Joined]:
    """Ports contain no blanks, and names stand last."""
    head, *lines = text.splitlines()
    named = head.split()[0] == "action"
    skip = named + ("slot" in head.split())
    found = []
    for line in lines:
        cells = line.split()
        plane, a, b = cells[skip : skip + 3]
        action = cells[0] if named else None
        found.append(Joined(action, int(plane), int(a.rstrip("A")), int(b.rstrip("B"))))
    return found


def of_scpi(text: str, after: int = SIDE) -> list[Joined]:
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r":oxc:swit:conn:(add|sub) \(@([\d,]+)\),\(@([\d,]+)\)", line)
        assert match, line
        a, b = ([int(port) for port in group.split(",")] for group in match.groups()[1:])
        assert len(a) == len(b)
        found += [Joined(match[1], None, in_, out - after) for in_, out in zip(a, b, strict=True)]
    return found


def commands(text: str) -> list[str]:
    """The commands of a text, or of a file that a shell runs: one that stops at an error, or one
    that goes on and then compares."""
    lines = text.splitlines()
    if lines[:1] == ["#!/bin/sh"]:
        lines = [line for line in lines if not line.startswith("#")]
        if lines[:1] == ["set -e"]:
            return lines[1:]
        lines = lines[: next(at for at, line in enumerate(lines) if line.startswith("now="))]
    return lines


def of_sonic(text: str) -> list[Joined]:
    found = []
    for line in commands(text):
        match = re.fullmatch(
            r"config ocs cross-connect (?:(add) (\d+)A-(\d+)B update|(delete) (\d+)A-(\d+)B)", line
        )
        assert match, line
        action, a, b = (match[1], match[2], match[3]) if match[1] else match.groups()[3:]
        found.append(Joined(action, None, int(a), int(b)))
    return found


def of_generated(text: str) -> list[Joined]:
    found = []
    for line in commands(text):
        words = line.split()
        assert words[:2] == ["config", "ocs-cross-connect"]
        a, b = words[3].split("-")
        if words[2] == "add":
            assert words[4:] == ["--a-side", a, "--b-side", b]
        else:
            assert words[2:] == ["delete", f"{a}-{b}"]
        assert (a[-1], b[-1]) == ("A", "B")
        found.append(Joined(words[2], None, int(a[:-1]), int(b[:-1])))
    return found


def of_config_db(text: str) -> list[Joined]:
    found = []
    for key, row in json.loads(text)["OCS_CROSS_CONNECT"].items():
        assert key == f"{row['a_side']}-{row['b_side']}"
        found.append(Joined(None, None, int(row["a_side"][:-1]), int(row["b_side"][:-1])))
    return found


def of_ocp(text: str) -> list[Joined]:
    entries = json.loads(text)["ocp-ocs-optical-switch-connections:connections"]
    found = []
    for entry in entries["port-connection"]:
        config = entry["config"]
        a, b = config["input-port-name"], config["output-port-name"]
        assert entry["name"] == config["name"] == f"{a}-{b}"
        found.append(Joined(None, None, int(a.rstrip("A")), int(b.rstrip("B"))))
    return found


PARSERS: dict[str, Callable[[str], list[Joined]]] = {
    "csv": of_csv,
    "table": of_table,
    "scpi": of_scpi,
    "sonic": of_sonic,
    "sonic-generated": of_generated,
    "config-db": of_config_db,
    "ocp-yang": of_ocp,
}
FOR_SWITCH = [name for name in PARSERS if name not in ("csv", "table")]
