"""Written plans are read back and give the same circuits."""

from __future__ import annotations

import csv
import doctest
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import ROOT
from dialect_support import (
    FOR_SWITCH,
    PARSERS,
    SIDE,
    circuit_plans,
    demands,
    ends,
    of_ocp,
    of_scpi,
    schedule_plans,
    wanted,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import lightloom
from lightloom import control
from lightloom.cli import app
from lightloom.control import wiring
from lightloom.control.ports import port_csv, port_map
from lightloom.control.wiring import PortMap, SwitchSize, outputs

EIGHT = ROOT / "examples" / "demand-8.csv"
PORTS = ROOT / "examples" / "ports-8.csv"
MANY = settings(max_examples=60, deadline=None, derandomize=True)


def planes_of(plan: control.Plan) -> list[int]:
    return sorted({plane for plane, _, _ in wanted(plan)})


@pytest.mark.parametrize("dialect", ["csv", "table"])
@MANY
@given(plan=circuit_plans())
def test_all_circuits_come_back(dialect: str, plan: control.Plan) -> None:
    rows = PARSERS[dialect](wiring.render(plan, dialect))
    assert sorted(ends(plan, row.plane or 0, row.a, row.b) for row in rows) == wanted(plan)
    once_each(plan, [(row.plane, "A", row.a) for row in rows])
    once_each(plan, [(row.plane, "B", row.b) for row in rows])


def once_each(plan: control.Plan, ports: list[object]) -> None:
    assert len({*ports}) == len(ports) == len(wanted(plan))


@pytest.mark.parametrize("dialect", FOR_SWITCH)
@MANY
@given(plan=circuit_plans())
def test_a_switch_is_told_of_its_own_plane(dialect: str, plan: control.Plan) -> None:
    for plane in planes_of(plan):
        rows = PARSERS[dialect](wiring.render(plan, dialect, plane=plane))
        found = sorted(ends(plan, plane, row.a, row.b) for row in rows)
        assert found == [row for row in wanted(plan) if row[0] == plane]
        assert {row.action for row in rows} <= {None, "add"}


@pytest.mark.parametrize("dialect", FOR_SWITCH)
@MANY
@given(plan=circuit_plans())
def test_several_planes_go_to_several_switches(dialect: str, plan: control.Plan) -> None:
    if len(planes_of(plan)) < 2:
        assert PARSERS[dialect](wiring.render(plan, dialect))
        return
    with pytest.raises(lightloom.ConfigError, match=r"planes, and .* one switch"):
        wiring.render(plan, dialect)


@MANY
@given(plan=circuit_plans(sides=1))
def test_a_switch_of_one_side_has_one_count(plan: control.Plan) -> None:
    for plane in planes_of(plan):
        scpi = of_scpi(wiring.render(plan, "scpi", plane=plane), after=0)
        ocp = of_ocp(wiring.render(plan, "ocp-yang", plane=plane))
        assert [row[2:] for row in scpi] == [row[2:] for row in ocp]
        found = sorted(ends(plan, plane, row.a, row.b) for row in scpi)
        assert found == [row for row in wanted(plan) if row[0] == plane]
        for dialect in ("sonic", "sonic-generated", "config-db"):
            with pytest.raises(lightloom.ConfigError, match="by their side, and"):
                wiring.render(plan, dialect, plane=plane)


@MANY
@given(plan=schedule_plans(), data=st.data())
def test_slots_come_back(plan: control.Plan, data: st.DataObject) -> None:
    assert plan.schedule is not None
    slots = plan.schedule.slots
    text = wiring.render(plan, "csv").splitlines()
    assert len(text) == 1 + len(wanted(plan))
    slot = data.draw(st.integers(0, slots - 1))
    for dialect, parse in PARSERS.items():
        rows = parse(wiring.render(plan, dialect, slot=slot))
        found = sorted((slot, *ends(plan, 0, row.a, row.b)[1:]) for row in rows)
        assert found == [row for row in wanted(plan) if row[0] == slot]
        if slots > 1 and dialect in FOR_SWITCH:
            with pytest.raises(lightloom.ConfigError, match=f"{slots} slots take turns"):
                wiring.render(plan, dialect)


@MANY
@given(plan=circuit_plans() | schedule_plans())
def test_json_names_the_ports(plan: control.Plan) -> None:
    table = json.loads(plan.text())
    found = []
    if plan.circuits is not None:
        for row in table["circuits"]:
            plane = row.get("plane", 0)
            found += [ends(plan, plane, a, b) for a, b in row["cross_connects"]]
    else:
        for at, slot in enumerate(table["schedule"]["slots"]):
            found += [(at, *ends(plan, 0, a, b)[1:]) for a, b in slot["cross_connects"]]
    assert sorted(found) == wanted(plan)
    assert table["port_map"]["switch_size"] == f"{SIDE}x{SIDE}"
    assert plan.wiring is not None
    assert [
        (p["rack"], p["plane"], p["a_port"], p["b_port"]) for p in table["port_map"]["ports"]
    ] == [(port.rack, port.plane, port.a, port.b) for port in plan.wiring.ports]


@MANY
@given(demand=demands(), algorithm=st.sampled_from(["edmonds", "assignment", "rotation"]))
def test_without_ports_csv_names_racks(demand: control.Demand, algorithm: str) -> None:
    plan = control.plan(demand, algorithm)
    rows = list(csv.DictReader(io.StringIO(wiring.render(plan, "csv"))))
    place = {name: at for at, name in enumerate(wiring.names_of(demand))}
    key = "slot" if algorithm == "rotation" else "plane"
    assert sorted((int(r[key]), r["from"], r["to"]) for r in rows) == wanted(plan)
    if algorithm != "rotation":
        for row in rows:
            entry = demand.matrix[place[row["from"]], place[row["to"]]]
            assert int(row["demand_bytes"]) == entry
        assert "a_port" not in rows[0]
        return
    assert plan.schedule is not None
    for row in rows:
        slot = int(row["slot"])
        times = plan.schedule.starts_ps[slot], plan.schedule.days_ps[slot]
        assert (int(row["start_ps"]), int(row["day_ps"])) == times


def test_the_example_is_worked_out_by_hand() -> None:
    """gpu-0 sends at 1A, and gpu-3 receives at 8B; the reverse direction is from 7A to 2B.

    With 16x16 ports, 8B is SCPI's 24.
    """
    plan = control.plan(control.read_demand(EIGHT), "edmonds")
    wired = wiring.wired(plan, wiring.read_port_map(PORTS, size=SwitchSize(16, 16)))
    assert wiring.render(wired, "sonic").splitlines()[:2] == [
        "config ocs cross-connect add 1A-8B update",
        "config ocs cross-connect add 7A-2B update",
    ]
    assert wiring.render(wired, "sonic-generated").startswith(
        "config ocs-cross-connect add 1A-8B --a-side 1A --b-side 8B\n"
    )
    assert wiring.render(wired, "scpi") == (
        ":oxc:swit:conn:add (@1,7,3,5,11,12,14,13),(@24,18,22,20,28,27,30,29)\n"
    )
    assert json.loads(wiring.render(wired, "config-db"))["OCS_CROSS_CONNECT"]["1A-8B"] == {
        "a_side": "1A",
        "b_side": "8B",
    }


def test_long_lines_are_parted() -> None:
    """33 bidirectional circuits are 66 pairs of ports: two lines of 32 pairs, and one of 2."""
    demand = np.zeros((66, 66), int)
    demand[range(0, 66, 2), range(1, 66, 2)] = 1
    ports = [wiring.Port(str(rack), 0, rack + 1, rack + 1) for rack in range(66)]
    plan = wiring.wired(control.plan(demand, "edmonds"), PortMap(ports, SwitchSize(80, 80)))
    text = wiring.render(plan, "scpi")
    assert [line.count(",") for line in text.splitlines()] == [63, 63, 3]
    assert len(of_scpi(text, after=80)) == 66


@pytest.mark.parametrize(
    ("file", "begins"),
    [
        ("x.csv", "plane,from,to"),
        ("x.txt", "plane  A port"),
        ("x.scpi", ":oxc:swit"),
        ("x.sh", "#!/bin/sh\n# Stops at the first command"),
        ("config_db.json", '{\n  "OCS_CROSS_CONNECT"'),
        ("ocs.yang.json", '{\n  "ocp-ocs-optical-switch-connections'),
        ("x.json", '{\n  "format"'),
    ],
)
def test_a_file_s_ending_says_what_is_in_it(file: str, begins: str, tmp_path: Path) -> None:
    out = tmp_path / file
    given = ["--port-map", str(PORTS), "--switch-size", "16x16", "-o", str(out)]
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", *given])
    assert done.exit_code == 0, done.stderr
    assert done.stdout.endswith(f"wrote {out}\n")
    assert out.read_text().startswith(begins)


@pytest.mark.parametrize(
    ("named", "file"),
    [("scpi", "x.txt"), ("sonic-generated", "x.sh"), ("config-db", "x.json"), ("csv", None)],
)
def test_as_says_it_where_the_ending_does_not(named: str, file: str | None, tmp_path: Path) -> None:
    given = ["--port-map", str(PORTS), "--switch-size", "16x16", "--as", named]
    given += [] if file is None else ["-o", str(tmp_path / file)]
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", *given])
    assert done.exit_code == 0, done.stderr
    text = done.stdout if file is None else (tmp_path / file).read_text()
    assert len(PARSERS[named](text)) == 8


def test_as_many_planes_as_the_port_map_has(tmp_path: Path) -> None:
    """Paths of several circuits concern racks: the commands do not contain them, and a comment
    states this."""
    rows = PORTS.read_text().splitlines(keepends=True)
    second = [row.replace(",0,", ",1,", 1) for row in rows[3:]]
    (tmp_path / "p.csv").write_text("".join([*rows, *second]))
    given = ["--port-map", str(tmp_path / "p.csv"), "--plane", "1", "-o", str(tmp_path / "x.sh")]
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "hydra", *given])
    assert done.exit_code == 0, done.stderr
    assert "8 circuits on 2" in done.stdout
    assert "paths lead over several" in done.stdout
    assert len(PARSERS["sonic"]((tmp_path / "x.sh").read_text())) == 8


def test_a_script_stops_at_the_command_that_the_switch_refuses(tmp_path: Path) -> None:
    """A shell runs the script with a `config` that refuses the third command.

    The printed text has only the commands, because `set -e` would end an interactive session.
    """
    path, log = tmp_path / "x.sh", tmp_path / "log"
    given = ["--port-map", str(PORTS), "--as", "sonic"]
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", *given, "-o", str(path)])
    assert done.exit_code == 0, done.stderr
    config = tmp_path / "config"
    config.write_text(f'#!/bin/sh\necho >> "{log}"\n[ "$(wc -l < "{log}")" -lt 3 ]\n')
    config.chmod(0o755)
    path_there = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    ran = subprocess.run(["/bin/sh", str(path)], env=path_there, check=False, timeout=60)
    assert ran.returncode != 0
    assert len(log.read_text().splitlines()) == 3
    printed = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", *given])
    assert printed.stdout.startswith("config ocs cross-connect add ")


@pytest.mark.parametrize("module", [port_map, port_csv, outputs])
def test_the_examples_in_docstrings_work(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    outcome = doctest.testmod(module)
    assert outcome.attempted > 0
    assert outcome.failed == 0
