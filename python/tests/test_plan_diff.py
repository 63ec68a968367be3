"""Differences of plans: circuits to break, to make and to keep, by name; commands that never use a
port twice."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import ROOT
from dialect_support import NAMES, PARSERS, port_maps
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_support import a_folder
from typer.testing import CliRunner

import lightloom
from lightloom import control
from lightloom.cli import app
from lightloom.control import wiring
from lightloom.control.changes import changed, read_old_plan
from lightloom.control.wiring import Port, PortMap

EIGHT = ROOT / "examples" / "demand-8.csv"
PORTS = ROOT / "examples" / "ports-8.csv"
MANY = settings(max_examples=80, deadline=None, derandomize=True)
MS = 10**9
"""One millisecond [ps]."""


def call(*words: object) -> Any:
    return CliRunner().invoke(app, ["plan", *map(str, words)])


@st.composite
def two_plans(draw: st.DrawFn) -> tuple[control.Plan, control.Plan, PortMap]:
    """Draws two plans with added and removed racks, each in its own order, and a port map of
    all."""
    racks = draw(st.lists(NAMES, min_size=4, max_size=7, unique=True))
    algorithm = draw(st.sampled_from(["edmonds", "assignment", "hydra"]))
    options = {"planes": 2, "ports": 2} if algorithm == "hydra" else {}
    plans = []
    for _ in range(2):
        names = draw(st.permutations(racks))[: draw(st.integers(2, len(racks)))]
        entries = draw(st.lists(st.integers(0, 9), min_size=49, max_size=49))
        matrix = np.array(entries).reshape(7, 7)[: len(names), : len(names)] * 10**8
        np.fill_diagonal(matrix, 0)
        matrix[0, 1] += 10**8
        plans.append(control.plan(control.Demand(matrix, list(names)), algorithm, **options))
    ports = draw(port_maps(racks, *((2, 2) if options else (1, 1))))
    return plans[0], plans[1], ports


def saved(plan: control.Plan, folder: Path) -> Path:
    return plan.save(folder / "old.json")


def compared(
    old: control.Plan, new: control.Plan, ports: PortMap | None, *, wired: bool = True
) -> control.Plan:
    with a_folder() as folder:
        written = wiring.wired(old, ports) if ports is not None and wired else old
        assert new.circuits is not None
        read = read_old_plan(saved(written, folder), new.demand, directed=new.circuits.directed)
    return changed(new, read, switch_ps=20 * MS, over_ps=None, ports=ports)


def lit(plan: control.Plan) -> list[tuple[int, str, str]]:
    return sorted((at.plane, at.source, at.destination) for at in wiring.lights_of(plan))


def acted(plan: control.Plan, action: str) -> list[tuple[int, str, str]]:
    assert plan.change is not None
    found = [light for light, done in plan.change.lights if done == action]
    return sorted((light.plane, light.source, light.destination) for light in found)


@MANY
@given(plans=two_plans())
def test_what_stays_and_what_breaks_is_what_was(
    plans: tuple[control.Plan, control.Plan, PortMap],
) -> None:
    old, new, _ = plans
    plan = compared(old, new, None)
    assert sorted(acted(plan, "keep") + acted(plan, "break")) == lit(old)
    assert sorted(acted(plan, "keep") + acted(plan, "make")) == lit(new)
    assert not set(acted(plan, "break")) & set(acted(plan, "make"))
    change = plan.change
    assert change is not None
    assert set(change.came) == {*new.demand.names} - {*old.demand.names}
    assert set(change.went) == {*old.demand.names} - {*new.demand.names}


@MANY
@given(plans=two_plans(), wired=st.booleans(), dialect=st.sampled_from(["scpi", "sonic", "csv"]))
def test_commands_never_use_a_port_twice(
    plans: tuple[control.Plan, control.Plan, PortMap], wired: bool, dialect: str
) -> None:
    """A switch with the cross-connects of the old plan has those of the new plan after the
    commands, line by line; no command concerns circuits of both plans."""
    old, new, ports = plans
    before = {
        (light.plane, *light.ports)
        for light in wiring.lights_of(wiring.wired(old, ports))
        if light.ports
    }
    plan = compared(old, new, ports, wired=wired)
    after = {(light.plane, *light.ports) for light in wiring.lights_of(plan) if light.ports}
    assert len(after) == len(lit(new))
    rows = []
    for plane in range(plan.options.get("planes", 1)):
        text = wiring.render(plan, dialect, plane=plane)
        rows += [row._replace(plane=plane) for row in PARSERS[dialect](text)]
    held, touched = set(before), set()
    for row in rows:
        circuit = (row.plane, row.a, row.b)
        if row.action in ("sub", "delete", "break"):
            held.remove(circuit)
            touched.add(circuit)
        elif row.action in ("add", "make"):
            assert not any(p == row.plane and (a == row.a or b == row.b) for p, a, b in held)
            held.add(circuit)
            touched.add(circuit)
    assert held == after
    assert not touched & before & after


def test_breaks_come_before_what_is_made(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps([["gpu-0", "gpu-1"], ["gpu-2", "gpu-3"], ["cache", "web"]]))
    given = ["-a", "edmonds", "--port-map", PORTS, "--switch-size", "16x16", "--diff", old]
    done = call(EIGHT, *given, "--as", "scpi")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == (
        ":oxc:swit:conn:sub (@1,3,5,7),(@20,18,24,22)\n"
        ":oxc:swit:conn:add (@1,7,3,5,11,12),(@24,18,22,20,28,27)\n"
    )
    rows = list(csv.DictReader(io.StringIO(call(EIGHT, *given, "--as", "csv").stdout)))
    assert [row["action"] for row in rows] == ["break"] * 4 + ["make"] * 6 + ["keep"] * 2
    assert {row["from"] for row in rows if row["action"] == "keep"} == {"web", "cache"}


@pytest.mark.parametrize("dialect", ["config-db", "ocp-yang"])
def test_what_says_what_is_to_be_cannot_say_what_changes(dialect: str, tmp_path: Path) -> None:
    (tmp_path / "old.json").write_text("[[0, 1]]")
    given = ["--port-map", PORTS, "--diff", tmp_path / "old.json", "--as", dialect]
    done = call(EIGHT, "-a", "edmonds", *given)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "contains the new circuits" in done.stderr


def demand_of(entries: dict[tuple[str, str], int], names: list[str]) -> control.Demand:
    matrix = np.zeros((len(names), len(names)), int)
    for (a, b), amount in entries.items():
        matrix[names.index(a), names.index(b)] = amount
    return control.Demand(matrix, names)


def test_dark_time_and_bytes_are_worked_out_by_hand(tmp_path: Path) -> None:
    """a-b stays, c-d is removed, c-e is added; d has no circuit.

    In 20 ms of 1 s, a fiftieth of the 500 B between c and e would have been carried; all 90 B
    between c and d are affected.
    """
    entries = {("a", "b"): 700, ("b", "a"): 300, ("c", "e"): 400, ("e", "c"): 100, ("d", "c"): 90}
    plan = control.plan(demand_of(entries, ["a", "b", "c", "d", "e"]), "edmonds")
    (tmp_path / "old.json").write_text('[["b", "a"], ["d", "c"]]')
    old = read_old_plan(tmp_path / "old.json", plan.demand, directed=False)
    change = changed(plan, old, switch_ps=20 * MS, over_ps=1_000 * MS).change
    assert change is not None
    assert {(*sorted(c[1:3]), c.action, c.bytes) for c in change.circuits} == {
        ("c", "d", "break", 90),
        ("c", "e", "make", 500),
        ("a", "b", "keep", 1_000),
    }
    assert {(*sorted(p[:2]), *p[2:]) for p in change.pairs} == {
        ("c", "d", 90, None, 90),
        ("c", "e", 500, 20 * MS, 10),
        ("a", "b", 1_000, 0, 0),
    }
    assert change.joined == (1_090, 1_500)
    unknown = changed(plan, old, switch_ps=20 * MS, over_ps=None).change
    assert unknown is not None
    assert {p.dark_bytes for p in unknown.pairs if p.dark_ps == 20 * MS} == {None}


def test_a_pair_that_moves_to_other_ports_is_dark_meanwhile() -> None:
    entries = {("a", "b"): 700}
    plan = control.plan(demand_of(entries, ["a", "b"]), "edmonds")
    before = wiring.wired(plan, PortMap([Port("a", 0, 1, 1), Port("b", 0, 2, 2)]))
    after = PortMap([Port("a", 0, 9, 1), Port("b", 0, 2, 2)])
    with a_folder() as folder:
        old = read_old_plan(saved(before, folder), plan.demand, directed=False)
    made = changed(plan, old, switch_ps=20 * MS, over_ps=None, ports=after)
    # Only the direction from a has moved: it now sends at 9A.
    assert wiring.render(made, "sonic") == (
        "config ocs cross-connect delete 1A-2B\nconfig ocs cross-connect add 9A-2B update\n"
    )
    assert made.change is not None
    assert [pair.dark_ps for pair in made.change.pairs] == [20 * MS]


def test_circuits_that_stay_keep_their_ports(tmp_path: Path) -> None:
    """Rack a has two ports.

    Its circuit with c has the second one, and keeps it when the circuit with b is removed, although
    the first port is then free.
    """
    names = ["a", "b", "c"]
    ports = PortMap(
        [
            *(Port("a", 0, n, n) for n in (1, 2)),
            Port("b", 0, 3, 3),
            Port("b", 0, 5, 5),
            Port("c", 0, 4, 4),
            Port("c", 0, 6, 6),
        ]
    )
    options = {"planes": 1, "ports": 2, "threshold": "0 B"}
    both = control.plan(demand_of({("a", "b"): 9, ("a", "c"): 5}, names), "hydra", **options)
    one = control.plan(demand_of({("a", "c"): 5}, names), "hydra", **options)
    with a_folder() as folder:
        path = saved(wiring.wired(both, ports), folder)
        old = read_old_plan(path, one.demand, directed=False)
    made = changed(one, old, switch_ps=MS, over_ps=None, ports=ports)
    assert {light.ports for light in wiring.lights_of(made)} == {(2, 4), (4, 2)}
    assert made.change is not None
    assert [c.action for c in made.change.circuits].count("make") == 0


def test_the_json_has_what_is_told(tmp_path: Path) -> None:
    first = tmp_path / "old.json"
    assert call(EIGHT, "-a", "edmonds", "--port-map", PORTS, "-o", first).exit_code == 0
    given = ["-a", "edmonds", "--port-map", PORTS, "--pin", "gpu-0:web", "--diff", first]
    out = tmp_path / "new.json"
    done = call(EIGHT, *given, "--over", "10 s", "--dark", "50 ms", "-o", out)
    assert done.exit_code == 0, done.stderr
    assert "from old.json: 2 to break, 2 to make, 2 to keep" in done.stdout
    assert "joins: 23.9 GB before" in done.stdout
    assert ", 11.0 GB after" in done.stdout
    table = json.loads(out.read_text())["diff"]
    assert (table["dark_ps"], table["over_ps"]) == (50 * MS, 10_000 * MS)
    assert (table["old_bytes"], table["new_bytes"]) == (23_860_000_000, 11_000_000_000)
    assert (table["came"], table["went"]) == ([], [])
    assert [row["action"] for row in table["circuits"]].count("keep") == 2
    dark = {(row["a"], row["b"]): row["dark_ps"] for row in table["pairs"]}
    assert dark["gpu-0", "gpu-3"] is None
    assert dark["gpu-0", "web"] == 50 * MS
    assert dark["gpu-1", "gpu-2"] == 0


def test_racks_that_came_and_went_are_named(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text(json.dumps([["gpu-0", "gpu-9"], ["web", "cache"]]))
    done = call(EIGHT, "-a", "edmonds", "--diff", old)
    assert done.exit_code == 0, done.stderr
    assert "racks that went: gpu-9" in done.stdout
    wired = call(EIGHT, "-a", "edmonds", "--diff", old, "--port-map", PORTS)
    assert wired.exit_code == 2
    assert "`gpu-9` has a circuit" in wired.stderr
    assert "no port left in" in wired.stderr


PLAN = {"format": "lightloom-plan/1", "algorithm": "edmonds"}
OLD = {
    "no file": (None, "", "old.json: no such file or directory"),
    "no JSON": ("x", "", "old.json: no circuits in it that can be read; name a"),
    "no circuits": ("{}", "", "old.json: no circuits in it; name a file that `lightloom plan -o`"),
    "a schedule": (
        json.dumps({"schedule": {"slots": []}, "circuits": None}),
        "",
        "old.json: a schedule, which a switch follows as a whole; compare plans of permanent",
    ),
    "for a schedule": (
        "[]",
        "-a rotation",
        "old.json: rotation plans a schedule, which a switch follows as a whole; compare",
    ),
    "a word": ('["a"]', "", 'old.json: circuits[0] = "a": not two nodes; write'),
    "a rack and itself": ('[["web", "web"]]', "", "circuits[0]: joins web with itself"),
    "a node beyond": ("[[0, 8]]", "", "circuits[0]: node 8, where there are 8"),
    "no names": (
        json.dumps({**PLAN, "demand": {"nodes": 8, "names": None}, "circuits": [{"a": 0, "b": 1}]}),
        "",
        "old.json: the demand names its racks and the plan does not; name those of both, and plan",
    ),
    "half a circuit's ports": (
        json.dumps({"circuits": [{"a": "web", "b": "cache", "cross_connects": [[1, 2]]}]}),
        "",
        "circuits[0].cross_connects: not 2 of an A and a B port",
    ),
    "a port twice": (
        json.dumps(
            {
                "circuits": [
                    {"a": "web", "b": "cache", "cross_connects": [[1, 2], [2, 1]]},
                    {"a": "gpu-0", "b": "gpu-1", "cross_connects": [[1, 4], [4, 3]]},
                ]
            }
        ),
        "",
        "old.json: port 1A of plane 0 is in two circuits",
    ),
    "no time": ("[]", "--dark 20", '--dark = "20": `20` has no unit'),
    "no time at all": ("[]", "--dark '0 s'", "--dark = 0 s: above 0; give the time"),
}


@pytest.mark.parametrize("case", OLD)
def test_what_cannot_be_compared_is_refused(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, words, expected = OLD[case]
    monkeypatch.chdir(tmp_path)
    if text is not None:
        Path("old.json").write_text(text)
    words = words if "-a" in words else f"-a edmonds {words}"
    done = call(EIGHT, *shlex.split(words), "--diff", "old.json", "-o", "x.json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert expected in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("x.json").exists()


@pytest.mark.parametrize("option", ["--dark", "--over"])
def test_times_are_for_comparisons(option: str) -> None:
    done = call(EIGHT, "-a", "edmonds", option, "1 s")
    assert done.exit_code == 2
    assert f"{option} = 1 s: " in done.stderr
    assert "effect without --diff" in done.stderr


def test_a_list_of_names_is_none_for_a_demand_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("0,1\n1,0\n")
    (tmp_path / "old.json").write_text('[["a", "b"]]')
    done = call(tmp_path / "d.csv", "-a", "edmonds", "--diff", tmp_path / "old.json")
    assert done.exit_code == 2
    assert "it names racks" in done.stderr


def test_the_documentation_shows_what_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runs each command of the sections on ports, rules and changes, in order; a text below a
    command is part of the output of the last one."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "control.md").read_text(encoding="utf-8")
    part = text[text.index("## On the ports of a switch") : text.index("## The plan as JSON")]
    printed: list[str] = []
    ran = 0
    for kind, block in re.findall(r"```(sh|text)\n(.*?)```", part, re.DOTALL):
        if kind == "text" and not block.startswith("rack,"):
            assert {line.rstrip() for line in block.splitlines()} <= {*printed}
        for command in block.replace("\\\n", " ").splitlines() if kind == "sh" else []:
            words = shlex.split(command)
            assert words[:2] == ["lightloom", "plan"]
            if words[2] == "query.json":
                continue  # with an operator's own files; test_operator_path tests it
            done = call(*words[2:])
            assert done.exit_code == 0, done.stderr
            printed += [line.rstrip() for line in done.stdout.splitlines()]
            ran += 1
    assert ran == 5


ENDS = st.one_of(st.integers(-1, 9), st.sampled_from(["web", "cache", "x", "a\n"]), st.none())
ROWS = st.lists(
    st.lists(ENDS, max_size=3)
    | st.dictionaries(st.sampled_from(["a", "b", "plane"]), ENDS)
    | st.fixed_dictionaries(
        {"a": ENDS, "b": ENDS, "cross_connects": st.lists(st.lists(ENDS, max_size=2), max_size=2)}
    )
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    content=ROWS
    | st.fixed_dictionaries({"circuits": ROWS | ENDS}, optional={"directed": ENDS | st.booleans()})
)
def test_any_json_is_compared_or_refused(content: object) -> None:
    plan = control.plan(control.read_demand(EIGHT), "edmonds")
    with a_folder() as folder:
        (folder / "old.json").write_text(json.dumps(content))
        try:
            old = read_old_plan(folder / "old.json", plan.demand, directed=False)
            made = changed(plan, old, switch_ps=1, over_ps=1)
        except lightloom.ConfigError as problem:
            assert "\n" not in str(problem)
        else:
            json.loads(made.text())


def test_a_plan_for_another_switch_is_refused_with_both_sizes(tmp_path: Path) -> None:
    lines = (f"{name},0,{2 * at + 1},{2 * at + 2},\n" for at, name in enumerate("abcd"))
    ports = tmp_path / "p.csv"
    ports.write_text("rack,plane,A port,B port,transceiver\n" + "".join(lines), encoding="utf-8")
    demand = tmp_path / "d.csv"
    demand.write_text("src,dst,bytes\na,b,9\nc,d,9\n", encoding="utf-8")
    common = (demand, "-a", "edmonds", "--port-map", ports)
    old = tmp_path / "old.json"
    assert call(*common, "--switch-size", "32x32", "-o", old).exit_code == 0
    again = call(*common, "--switch-size", "32x32", "--diff", old)
    assert again.exit_code == 0, again.output
    assert call(*common, "--diff", old).exit_code == 0, "no size is any size of two sides"
    for size in ("32", "16x16"):
        found = call(*common, "--switch-size", size, "--diff", old, "-o", tmp_path / "x.csv")
        assert found.exit_code == 2
        limit = f"made for another switch: 32x32, but --switch-size is now {size}"
        assert f"{old}: {limit}; give --switch-size 32x32" in found.output
        assert not (tmp_path / "x.csv").exists()


@pytest.mark.parametrize("option", ["--diff", "--hysteresis", "--circuits"])
def test_numbers_in_a_list_are_not_taken_for_names_that_are_numbers(
    option: str, tmp_path: Path
) -> None:
    demand, listed = tmp_path / "d.csv", tmp_path / "l.json"
    demand.write_text("src,dst,bytes\n1,2,9\n3,4,9\n", encoding="utf-8")
    algorithm = "fixed" if option == "--circuits" else "edmonds"
    words = (demand, "-a", algorithm, option, listed)
    listed.write_text("[[1, 2], [3, 0]]", encoding="utf-8")
    found = call(*words)
    assert found.exit_code == 2
    limit = "numbers are places from 0, and the node called `1` is at 0"
    told = f'{listed}: circuits[0] = [1, 2]: {limit}; write names as text, like ["1", "2"]'
    assert told in found.output
    listed.write_text('[["1", "2"], ["3", "4"]]', encoding="utf-8")
    assert call(*words).exit_code == 0
    demand.write_text("src,dst,bytes\n0,1,9\n2,3,9\n", encoding="utf-8")
    listed.write_text("[[0, 1], [2, 3]]", encoding="utf-8")
    assert call(*words).exit_code == 0, "names that are the places of their nodes"


def test_a_plan_and_its_commands_are_written_in_one_run(tmp_path: Path) -> None:
    words = (EIGHT, "-a", "edmonds", "--port-map", PORTS)
    files = [tmp_path / name for name in ("a.json", "a.sh", "a.csv")]
    alone = []
    for path in files:
        assert call(*words, "-o", path).exit_code == 0
        alone.append(path.read_bytes())
        path.unlink()
    found = call(*words, *(word for path in files for word in ("-o", path)))
    assert found.exit_code == 0
    assert [path.read_bytes() for path in files] == alone


def test_of_several_files_all_are_written_or_none(tmp_path: Path) -> None:
    files = {name: tmp_path / name for name in ("a.json", "a.sh", "config_db.json", "a.xyz")}

    def refused(*names: str, words: tuple[object, ...] = ()) -> str:
        outs = (word for name in names for word in ("-o", files[name]))
        found = call(EIGHT, "-a", "edmonds", *words, *outs)
        assert found.exit_code == 2
        assert not list(tmp_path.glob("a.*"))
        return str(found.output)

    ports = ("--port-map", PORTS)
    assert "no known format" in refused("a.json", "a.xyz")
    assert f"-o = {files['a.json']}: " in refused("a.json", "a.json")
    assert "--as = sonic: " in refused("a.json", "a.sh")
    old = tmp_path / "old.json"
    assert call(EIGHT, "-a", "edmonds", *ports, "-o", old).exit_code == 0
    told = refused("a.json", "config_db.json", words=(*ports, "--diff", old))
    assert "contains the new circuits" in told


@pytest.mark.parametrize("text", ["1 h", "60 min", "3600 s"])
def test_times_may_be_minutes_and_hours(text: str, tmp_path: Path) -> None:
    old, out = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text("[[0, 1]]", encoding="utf-8")
    words = ("--diff", old, "--over", text, "--dark", "0.5 min", "-o", out)
    assert call(EIGHT, "-a", "edmonds", *words).exit_code == 0
    made = json.loads(out.read_text(encoding="utf-8"))["diff"]
    assert (made["over_ps"], made["dark_ps"]) == (3600 * 10**12, 30 * 10**12)


def test_a_rack_without_demand_is_told_how_to_keep_its_circuit(tmp_path: Path) -> None:
    demand, old = tmp_path / "d.csv", tmp_path / "old.json"
    demand.write_text("src,dst,bytes\na,b,9\nc,d,9\n", encoding="utf-8")
    assert call(demand, "-a", "edmonds", "-o", old).exit_code == 0
    words = (demand, "-a", "edmonds", "--diff", old)
    demand.write_text("src,dst,bytes\na,b,9\nc,e,1\n", encoding="utf-8")
    found = call(*words)
    assert found.exit_code == 0
    assert "circuit c:d is broken" in found.output
    demand.write_text("src,dst,bytes\na,b,9\nc,e,1\nd,a,0\n", encoding="utf-8")
    kept = call(*words, "--pin", "c:d")
    assert "0 to break, 0 to make, 2 to keep" in kept.output
    assert "no demand for" not in kept.output


def test_what_is_no_time_is_told_all_units(tmp_path: Path) -> None:
    old = tmp_path / "old.json"
    old.write_text("[[0, 1]]", encoding="utf-8")
    found = call(EIGHT, "-a", "edmonds", "--diff", old, "--over", "1 hour")
    assert found.exit_code == 2
    told = '--over = "1 hour": `hour` is not a unit of a duration: use one of min, h, d, s, ms,'
    assert told in found.output


def test_what_breaks_names_the_transceivers_of_the_port_map(tmp_path: Path) -> None:
    """Both ends of every row are named, for any kind of change, so that an operator can find the
    transceivers."""
    old = tmp_path / "old.json"
    wired = ("--port-map", PORTS)
    best = control.plan(EIGHT, "edmonds")
    assert best.circuits is not None
    first = ":".join(best.demand.names[ends[0]] for ends in (best.circuits.a, best.circuits.b))
    assert call(EIGHT, "-a", "edmonds", *wired, "--forbid", first, "-o", old).exit_code == 0
    new = tmp_path / "new.csv"
    assert call(EIGHT, "-a", "edmonds", *wired, "--diff", old, "-o", new).exit_code == 0
    ports = (line for line in PORTS.read_text().splitlines() if not line.startswith("#"))
    at = {row["rack"]: row["transceiver"] for row in csv.DictReader(ports)}
    rows = [*csv.DictReader(io.StringIO(new.read_text()))]
    assert {row["action"] for row in rows} >= {"break", "make"}
    for row in rows:
        assert row["from_transceiver"] == at[row["from"]] != ""
        assert row["to_transceiver"] == at[row["to"]] != ""


@pytest.mark.parametrize("rule", [[], ["--forbid", "a:b"]])
def test_a_change_leaves_circuits_alone_that_nothing_concerns(
    tmp_path: Path, rule: list[str]
) -> None:
    """a sends to b, or is kept apart from it; c to f, whose circuits are lit, have no demand in
    either case."""
    demand, lit = tmp_path / "demand.csv", tmp_path / "lit.json"
    demand.write_text("src,dst,bytes\na,b,1000\nc,d,0\ne,f,0\n")
    lit.write_text('[["a", "b"], ["c", "f"], ["d", "e"]]')
    found = call(demand, "-a", "edmonds", "--diff", lit, "--json", *rule)
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    names = document["demand"]["names"]
    kept = {(names[row["a"]], names[row["b"]]) for row in document["circuits"]}
    assert kept == {("c", "f"), ("d", "e"), *([] if rule else [("a", "b")])}
