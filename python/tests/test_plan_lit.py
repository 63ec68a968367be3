"""Present circuits, read back: from every format that `plan` writes, and from the configuration or
output of a switch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_support import ROOT
from dialect_support import PARSERS, circuit_plans, wanted
from hypothesis import given, settings
from plan_support import a_folder
from typer.testing import CliRunner

from lightloom import ConfigError, control
from lightloom.cli import app
from lightloom.control import wiring
from lightloom.control.changes import OldPlan, read_old_plan
from lightloom.control.current import read_circuits
from lightloom.control.lit import Ports
from lightloom.control.wiring import SwitchSize

EIGHT = ROOT / "examples" / "demand-8.csv"
PORTS = ROOT / "examples" / "ports-8.csv"
SIZED = ["--port-map", str(PORTS), "--switch-size", "16x16"]
ENDINGS = {
    "json": "p.json",
    "csv": "p.csv",
    "table": "p.txt",
    "scpi": "p.scpi",
    "sonic": "p.sh",
    "sonic-generated": "p.sh",
    "config-db": "config_db.json",
    "ocp-yang": "p.yang.json",
}
"""The file of each dialect."""


def read_back(plan: control.Plan, dialect: str, plane: int | None) -> OldPlan:
    """Writes a plan, and reads it back."""
    assert plan.wiring is not None
    ports = Ports(plan.wiring.ports, plane)
    with a_folder() as folder:
        path = folder / ENDINGS[dialect]
        script = path.suffix == ".sh"
        text = wiring.render(plan, dialect, plane=plane, script=script)
        path.write_text(text, encoding="utf-8")
        directed = plan.circuits is not None and plan.circuits.directed
        return read_old_plan(path, plan.demand, directed=directed, ports=ports)


@pytest.mark.parametrize("dialect", ENDINGS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(plan=circuit_plans())
def test_every_dialect_comes_back(dialect: str, plan: control.Plan) -> None:
    """The circuits and ports are the same with independent parsers and with ours."""
    whole = dialect in ("json", "csv", "table")
    planes = [None] if whole else sorted({plane for plane, *_ in wanted(plan)})
    for plane in planes:
        found = read_back(plan, dialect, plane)
        lights = sorted((light.plane, light.source, light.destination) for light in found.lights)
        assert lights == [row for row in wanted(plan) if plane in (None, row[0])]
        if dialect in PARSERS:
            text = wiring.render(plan, dialect, plane=plane)
            ports = {(row.a, row.b) for row in PARSERS[dialect](text)}
            assert {light.ports for light in found.lights} == ports


@settings(max_examples=40, deadline=None, derandomize=True)
@given(plan=circuit_plans(sides=1))
def test_ports_of_one_side_come_back(plan: control.Plan) -> None:
    for dialect in ("scpi", "ocp-yang"):
        for plane in sorted({plane for plane, *_ in wanted(plan)}):
            found = read_back(plan, dialect, plane)
            lights = sorted((lit.plane, lit.source, lit.destination) for lit in found.lights)
            assert lights == [row for row in wanted(plan) if row[0] == plane]


# Configuration of a switch: gpu-0 sends at 1A, and gpu-3 receives at 8B; the reverse direction is
# from 7A to 2B. The other two cross-connects are at ports of no rack in the map.

CONFIG = """
id       a_side    b_side
-------  --------  --------
1A-8B    1A        8B
7A-2B    7A        2B
40A-41B  40A       41B
"""
STATUS = """
| ID      | A-side | B-side | A-status | B-status |
|---------|--------|--------|----------|----------|
| 1A-8B   | 1A     | 8B     | tuned    | tuned    |
| 7A-2B   | 7A     | 2B     | tuning   | tuned    |
| 40A-41B | 40A    | 41B    | tuned    | tuned    |
"""
SIDES = [("1A", "8B"), ("7A", "2B"), ("40A", "41B")]
ROWS = {f"{a}-{b}": {"a_side": a, "b_side": b} for a, b in SIDES}
ENTRIES = [
    {"name": f"x{at}", "state": {"input-port-name": a, "output-port-name": b, "status": status}}
    for at, ((a, b), status) in enumerate(zip(SIDES, ["CONNECTED"] * 3, strict=True))
]
REFUSED = {
    "name": "kept",
    "config": {"input-port-name": "1A", "output-port-name": "6B"},
    "state": {"status": "ocp-ocs-types:INVALID", "status-reason": "blocked"},
}
OF_A_SWITCH = {
    "show config": CONFIG,
    "show status": STATUS,
    "CONFIG_DB": json.dumps({"OCS_PORT": {"1A": {}}, "OCS_CROSS_CONNECT": ROWS}),
    "CONFIG_DB's table alone": json.dumps(ROWS),
    "sonic-db-dump": json.dumps(
        {"DEVICE_METADATA|localhost": {"type": "hash", "value": {}}}
        | {f"OCS_CROSS_CONNECT|{key}": {"type": "hash", "value": row} for key, row in ROWS.items()}
    ),
    "OCP YANG": json.dumps(
        {"ocp-ocs:optical-switch": {"connections": {"port-connection": [*ENTRIES, REFUSED]}}}
    ),
    "typed commands": "".join(f"config ocs cross-connect add {key} update\n" for key in ROWS),
}


@pytest.mark.parametrize("form", OF_A_SWITCH)
def test_what_a_switch_has_is_what_is_lit(form: str, tmp_path: Path) -> None:
    path = tmp_path / "now"
    path.write_text(OF_A_SWITCH[form])
    demand = control.read_demand(EIGHT)
    ports = Ports(wiring.read_port_map(PORTS))
    old = read_old_plan(path, demand, directed=False, ports=ports)
    assert {(lit.source, lit.destination, lit.ports) for lit in old.lights} == {
        ("gpu-0", "gpu-3", (1, 8)),
        ("gpu-3", "gpu-0", (7, 2)),
    }
    assert (old.directed, old.others) == (False, ((40, 41),))
    ((a, b),) = read_circuits(path, demand, ports=ports)
    assert {demand.names[a], demand.names[b]} == {"gpu-0", "gpu-3"}


def test_a_switch_without_circuits(tmp_path: Path) -> None:
    (tmp_path / "db").write_text('{"DEVICE_METADATA": {"localhost": {"type": "SonicOCS"}}}')
    ports = Ports(wiring.read_port_map(PORTS))
    demand = control.read_demand(EIGHT)
    old = read_old_plan(tmp_path / "db", demand, directed=False, ports=ports)
    assert list(old.lights) == []


@pytest.mark.parametrize("dialect", [name for name in ENDINGS if name != "json"])
def test_diff_and_hysteresis_read_what_plan_wrote(dialect: str, tmp_path: Path) -> None:
    """For the plan that is in force, no circuit is removed or added."""
    path = tmp_path / ENDINGS[dialect]
    first = ["plan", str(EIGHT), "-a", "edmonds", *SIZED]
    done = CliRunner().invoke(app, [*first, "--as", dialect, "-o", str(path)])
    assert done.exit_code == 0, done.stderr
    done = CliRunner().invoke(app, [*first, "--hysteresis", str(path), "--diff", str(path)])
    assert done.exit_code == 0, done.stderr
    assert f"from {path.name}: 0 to break, 0 to make, 4 to keep" in done.stdout
    fixed = ["plan", str(EIGHT), "-a", "fixed", "--circuits", str(path), *SIZED]
    done = CliRunner().invoke(app, [*fixed, "--diff", str(path)])
    assert done.exit_code == 0, done.stderr
    assert "0 to break, 0 to make, 4 to keep" in done.stdout


def test_an_undo_takes_a_change_back(tmp_path: Path) -> None:
    """The undo adds the cross-connects that the change deleted, and deletes those that it added;
    the switch then has its former ones."""
    db, change, undo = (tmp_path / name for name in ("config_db.json", "c.sh", "u.sh"))
    first = ["plan", str(EIGHT), "-a", "edmonds", *SIZED]
    assert CliRunner().invoke(app, [*first, "-o", str(db)]).exit_code == 0
    told = ["--pin", "gpu-0:web", "--diff", str(db), "-o", str(change), "--undo", str(undo)]
    done = CliRunner().invoke(app, [*first, *told])
    assert done.exit_code == 0, done.stderr
    state = {
        tuple(row.values()) for row in json.loads(db.read_text())["OCS_CROSS_CONNECT"].values()
    }
    was = {*state}
    for path in (change, undo):
        for row in PARSERS["sonic"](path.read_text().replace("# A change", "# ")):
            pair = (f"{row.a}A", f"{row.b}B")
            assert (pair in state) == (row.action == "delete")
            state = state - {pair} if row.action == "delete" else state | {pair}
        assert (state == was) == (path is undo)


@pytest.mark.parametrize("dialect", ["config-db", "ocp-yang"])
def test_an_undo_that_replaces_all_has_the_cross_connects_of_no_rack(
    dialect: str, tmp_path: Path
) -> None:
    """The file of the undo replaces the table of the switch; omitted cross-connects would be
    deleted."""
    db, change, undo = (tmp_path / name for name in ("db.json", "c.sh", f"u-{ENDINGS[dialect]}"))
    foreign = {"40A-41B": {"a_side": "40A", "b_side": "41B"}}
    first = ["plan", str(EIGHT), "-a", "edmonds", *SIZED[:2]]
    written = CliRunner().invoke(app, [*first, "--as", "config-db"])
    rows = json.loads(written.stdout)["OCS_CROSS_CONNECT"]
    db.write_text(json.dumps({"OCS_CROSS_CONNECT": foreign | rows}), encoding="utf-8")
    told = ["--pin", "gpu-0:web", "--diff", str(db), "-o", str(change), "--undo", str(undo)]
    done = CliRunner().invoke(app, [*first, *told])
    assert done.exit_code == 0, done.stderr
    assert "delete" in change.read_text()
    assert "40A-41B" not in change.read_text()
    restored = PARSERS[dialect](undo.read_text())
    before = {(row["a_side"], row["b_side"]) for row in (foreign | rows).values()}
    assert {(f"{row.a}A", f"{row.b}B") for row in restored} == before
    assert len(restored) == len(before)


def test_a_key_of_a_plan_that_is_not_ours_is_no_cross_connect(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text('{"circuits": [{"a": "gpu-0", "b": "web"}], "others": 3}', encoding="utf-8")
    old = read_old_plan(path, control.read_demand(EIGHT), directed=False)
    assert old.others == ()


def test_without_a_plan_before_an_undo_breaks_the_plan(tmp_path: Path) -> None:
    undo = tmp_path / "u.scpi"
    told = ["-o", str(tmp_path / "c.scpi"), "--undo", str(undo)]
    done = CliRunner().invoke(app, ["plan", str(EIGHT), "-a", "edmonds", *SIZED, *told])
    assert done.exit_code == 0, done.stderr
    came = {row[2:] for row in PARSERS["scpi"]((tmp_path / "c.scpi").read_text())}
    gone = PARSERS["scpi"](undo.read_text())
    assert {row[2:] for row in gone} == came
    assert {row.action for row in gone} == {"sub"}


def test_a_switch_saves_if_asked(tmp_path: Path) -> None:
    first = ["plan", str(EIGHT), "-a", "edmonds", *SIZED, "--as", "sonic"]
    assert "save" not in CliRunner().invoke(app, first).stdout
    done = CliRunner().invoke(app, [*first, "--save"])
    assert done.stdout.splitlines()[-1] == "config save -y"
    done = CliRunner().invoke(app, [*first[:-1], "scpi", "--save"])
    assert done.exit_code == 2
    assert "--save = (given): " in done.stderr


BAD = {
    "no port map": (CONFIG, None, "it names ports of a switch, not racks; map them to racks"),
    "one end unknown": ("1A-41B\n", 1, "1A-41B: no row of .* has port 41B of plane 0"),
    "one way": ("1A-8B 1A 8B\n", 1, "gpu-0 to gpu-3 is lit one way only; light its way back"),
    "twice": ("1A-8B\n1A-4B\n", 1, "now:2: 1A-4B takes a port of 1A-8B"),
    "another key": (
        '{"OCS_CROSS_CONNECT": {"1A-8B": {"a_side": "1A", "b_side": "6B"}}}',
        1,
        "OCS_CROSS_CONNECT.1A-8B: joins 1A with 6B; name it by its ports",
    ),
    "a change": ("config ocs cross-connect delete 1A-8B\n", 1, "now:1: lists changes"),
    "prose": ("nothing of the kind\n", 1, "now: no circuits in it that can be read"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_not_lit_is_refused(case: str, tmp_path: Path) -> None:
    text, mapped, expected = BAD[case]
    (tmp_path / "now").write_text(text)
    ports = Ports(wiring.read_port_map(PORTS, size=SwitchSize(64, 64)) if mapped else None)
    with pytest.raises(ConfigError, match=expected):
        read_circuits(tmp_path / "now", control.read_demand(EIGHT), ports=ports)
