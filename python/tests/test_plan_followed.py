"""A fabric follows a planned schedule: from the file of a plan to bytes on circuits."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from cli_support import lightloom as command
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_support import a_folder

import lightloom
from lightloom import control
from lightloom.control.planned import as_table, read_schedule
from lightloom.control.plans import Plan

RACKS = 4
NAMES = ["web", "db", "log", "gpu"]
DEMAND = np.array(
    [
        [0, 900_000, 40_000, 3_001],
        [2_000, 0, 700_000, 80_000],
        [0, 55_555, 0, 1_200_000],
        [650_000, 0, 9_999, 0],
    ]
)
BYTE_PS = 800
"""Time of a byte at 10 Gb/s [ps]."""

EXPERIMENT = """
[cluster]
racks = 4
servers_per_rack = 1
server_rate = "40 Gb/s"
nic = "40 Gb/s"

[workload]
trace = "demand-as-flows.csv"

[run]
stop = "{stop} ps"
controller_log = true

[[fabric]]
kind = "hybrid"
electrical = false
circuit_rate = "10 Gb/s"
ramp = "0 s"
dip = "0 s"
interval = "1 ms"
forwarding = "cut-through"  # a plan counts bytes of days, not what switches store
policy = {{ kind = "fixed", schedule = "{schedule}" }}
"""
FOLLOWED_PS = 0
"""Start of the schedule: the start of the run [ps]."""
LONG_PS = 2 * 10**9
"""A time longer than any schedule here [ps]."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Writes a demand as a matrix with names, and as flows that all arrive at once."""
    rows = ["," + ",".join(NAMES)]
    rows += [f"{name}," + ",".join(map(str, row)) for name, row in zip(NAMES, DEMAND, strict=True)]
    (tmp_path / "demand.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    pairs = np.argwhere(DEMAND)
    flows = ["src,dst,bytes,arrival_ps", *(f"{a},{b},{DEMAND[a, b]},0" for a, b in pairs)]
    (tmp_path / "demand-as-flows.csv").write_text("\n".join(flows) + "\n", encoding="utf-8")
    return tmp_path


def planned(folder: Path, *options: str) -> dict[str, Any]:
    """Returns the plan that the command writes to schedule.json."""
    told = ["demand.csv", "--algorithm", "tms", "-o", "schedule.json", *options]
    done = command("plan", *told, cwd=folder)
    assert done.returncode == 0, done.stderr
    made: dict[str, Any] = json.loads((folder / "schedule.json").read_text(encoding="utf-8"))
    return made


def experiment(folder: Path, stop_ps: int = LONG_PS, schedule: str = "schedule.json") -> Path:
    path = folder / "case.toml"
    path.write_text(EXPERIMENT.format(stop=stop_ps, schedule=schedule), encoding="utf-8")
    return path


def served(plan: dict[str, Any]) -> np.ndarray:
    """Returns the demand that one period serves [bytes], computed day by day as in the paper."""
    left = DEMAND.copy()
    for slot in plan["schedule"]["slots"]:
        for source, output in enumerate(slot["permutation"]):
            if source != output:
                left[source, output] -= min(left[source, output], slot["day_ps"] // BYTE_PS)
    return np.asarray(DEMAND - left)


@pytest.mark.parametrize(
    "options",
    [
        ["--period", "700 us", "--night", "1 us"],
        ["--period", "2 ms", "--night", "20 us", "--max-slots", "2"],
        ["--scaling", "quickstuff"],
    ],
    ids=["a short period", "two slots", "all"],
)
def test_a_period_carries_what_its_plan_says(folder: Path, options: list[str]) -> None:
    plan = planned(folder, *options)
    schedule, figures = plan["schedule"], plan["figures"]
    case = experiment(folder, FOLLOWED_PS + schedule["period_ps"])
    ran = command("run", case, "-o", "out", cwd=folder)
    assert ran.returncode == 0, ran.stderr
    expected = served(plan)
    assert expected.sum() == figures["carried_bytes"]
    summary = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    # A plan counts the whole bytes of each day, and a switch the total of a pair's days.
    days = sum(int((np.array(s["permutation"]) != range(RACKS)).sum()) for s in schedule["slots"])
    assert 0 <= summary["bytes_delivered"] - figures["carried_bytes"] <= days
    flows = pq.read_table(folder / "out" / "flows.parquet").to_pylist()
    done = {(flow["src"], flow["dst"]) for flow in flows if flow["finish_ps"] is not None}
    assert done == {tuple(pair) for pair in np.argwhere((expected == DEMAND) & (DEMAND > 0))}
    assert (len(done) < len(flows)) == (figures["coverage"] < 1)


def test_a_run_says_what_it_followed_and_runs_again(folder: Path) -> None:
    plan = planned(folder)
    first = lightloom.run(experiment(folder)).save(folder / "first")
    policy = lightloom.load(first / "experiment.toml").raw["fabric"][0]["policy"]
    file = folder / "schedule.json"
    assert policy == {
        "kind": "fixed",
        "directed": False,
        "schedule": str(file),
        "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
    }
    again = lightloom.run(first / "experiment.toml").save(folder / "again")
    for name in ("flows.parquet", "circuits.parquet", "experiment.toml", "controller.jsonl"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    # The same schedule as a table, without a file.
    table = as_table(read_schedule(folder / "schedule.json", control.Demand(DEMAND, NAMES)))
    assert table["slots"] == [
        {key: slot[key] for key in ("permutation", "day_ps")} for slot in plan["schedule"]["slots"]
    ]
    inline = lightloom.load(experiment(folder)).raw
    inline["fabric"][0]["policy"]["schedule"] = table
    assert lightloom.run(inline).flows.equals(lightloom.run(first / "experiment.toml").flows)
    # The log is replayed without the file of the policy.
    (folder / "schedule.json").unlink()
    done = command("plan", "--replay", first / "controller.jsonl", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    replayed = json.loads(done.stdout)
    assert replayed["is_recorded"]
    assert replayed["replay"]["parted"] is None


def test_what_ran_does_not_run_with_another_schedule(folder: Path) -> None:
    planned(folder)
    first = lightloom.run(experiment(folder)).save(folder / "first")
    file = folder / "schedule.json"
    was, wanted = file.read_bytes(), hashlib.sha256(file.read_bytes()).hexdigest()
    edited(lambda plan: plan["schedule"]["slots"].pop())(file)
    now = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.run(first / "experiment.toml")
    key, value = "fabric.policy.sha256", f'"{wanted[:12]}…"'
    assert (refused.value.key, refused.value.value) == (key, value)
    assert refused.value.limit.startswith(f"{file} has changed")
    assert refused.value.limit.endswith(f" {now[:12]}…")
    assert refused.value.remedy == "restore it, or remove sha256"
    # The whole experiment is accepted again, and so is the one that never ran.
    file.write_bytes(was)
    lightloom.run(first / "experiment.toml")
    resolved = lightloom.load(experiment(folder)).resolved()
    assert resolved["fabric"][0]["policy"]["sha256"] == wanted
    # A digest without a file is an unknown key.
    inline = lightloom.load(first / "experiment.toml").raw
    inline["fabric"][0]["policy"] = {"kind": "rotation", "sha256": wanted}
    with pytest.raises(lightloom.ConfigError, match="no such key"):
        lightloom.load(inline).resolved()


def test_paths_are_relative_to_the_experiment_or_to_where_they_are_set(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    loaded = lightloom.load(experiment(folder))
    assert loaded.raw["fabric"][0]["policy"]["schedule"] == str(folder / "schedule.json")
    lightloom.run(loaded)
    changed = loaded.with_overrides(['fabric.policy.schedule="other.json"'])
    assert changed.raw["fabric"][0]["policy"]["schedule"] == str(elsewhere / "other.json")


def edited(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    """Returns a change of a plan."""

    def edit(path: Path) -> None:
        plan = json.loads(path.read_text(encoding="utf-8"))
        change(plan)
        path.write_text(json.dumps(plan), encoding="utf-8")

    return edit


def of_three(plan: dict[str, Any]) -> None:
    plan["demand"]["names"] = None
    plan["schedule"] |= {"ports": 3, "slots": [{"permutation": [1, 2, 0], "day_ps": 5}]}


REFUSED: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "no file": (Path.unlink, "cannot be read (No such file", "; check the path"),
    "a folder": (
        lambda path: (path.unlink(), path.mkdir()),
        "a folder or a device, no file",
        "; name a file that `lightloom plan -o` wrote",
    ),
    "no text": (lambda path: path.write_bytes(b"\xff"), "is not UTF-8 text", "; name a file"),
    "no JSON": (
        lambda path: path.write_text("from,web,db\n"),
        "not JSON (expected ident at line 1 column 2)",
        "; name a file that `lightloom plan -o` wrote",
    ),
    "no plan": (
        lambda path: path.write_text("[[0, 1], [2, 3]]"),
        "not a plan, but a list",
        "; name a file that `lightloom plan -o` wrote",
    ),
    "another format": (
        edited(lambda plan: plan.update(format="lightloom-plan/7")),
        'format = "lightloom-plan/7": only plans of the format "lightloom-plan/1" can be read',
        "; create the plan again with this version",
    ),
    "circuits": (
        edited(lambda plan: plan.update(schedule=None, algorithm="edmonds")),
        "schedule = null: a plan of permanent circuits (edmonds)",
        "; use an algorithm that makes schedules, such as tms, or give circuits",
    ),
    "no permutation": (
        edited(lambda plan: plan["schedule"]["slots"][1].update(permutation=[1, 0, 1, 3])),
        "schedule.slots[1].permutation[2] = 1: input 0 has this output",
        "; give each output to one input; -1 is an idle input",
    ),
    "no day": (
        edited(lambda plan: plan["schedule"]["slots"][0].update(day_ps=0)),
        "schedule.slots[0].day_ps = 0 ps: a day must be longer than 0",
        "; remove the slot, or lengthen it",
    ),
    "no slots": (
        edited(lambda plan: plan["schedule"].update(slots=[])),
        "schedule.slots = []: no circuit is ever lit",
        "; give at least one slot",
    ),
    "another cluster": (
        edited(of_three),
        "schedule.ports = 3: a schedule for another cluster: this one has 4 racks",
        "; plan for the demand of this cluster",
    ),
}


@pytest.mark.parametrize(("spoil", "limit", "remedy"), REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_be_followed_is_refused_by_name(
    folder: Path, spoil: Callable[[Path], Any], limit: str, remedy: str
) -> None:
    planned(folder)
    path = folder / "schedule.json"
    spoil(path)
    done = command("run", experiment(folder), "-o", "out", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f'error: fabric.policy.schedule = "{path}": {limit}')
    assert remedy in line
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ["fabric.policy.circuits=[[0, 1]]"],
            "fabric.policy.circuits = [[0, 1]]: a schedule is also given; give one of them",
        ),
        (
            ['fabric.policy={kind="fixed"}'],
            "fabric.policy.circuits = []: no circuit is given; "
            "list some, like [[0, 1], [2, 3]], or give a schedule",
        ),
        (
            ["fabric.policy.directed=true"],
            "fabric.policy.directed = true: the circuits of a schedule are always directed; "
            "leave it out",
        ),
        (
            ["fabric.planes=2"],
            "fabric.planes = 2: fixed, with a schedule, decides for one port of each rack; use 1",
        ),
        (
            ['fabric.policy.schedule="/dev/zero"'],
            'fabric.policy.schedule = "/dev/zero": a folder or a device, no file; '
            "name a file that `lightloom plan -o` wrote",
        ),
        (
            ["cluster.racks=3", 'workload.trace="three.csv"'],
            "schedule.ports = 4 (web, db, log, … 1 more): a schedule for another cluster: this "
            "one has 3 racks; plan for the demand of this cluster",
        ),
    ],
)
def test_what_does_not_go_with_a_schedule_is_refused(
    folder: Path, settings: list[str], said: str
) -> None:
    planned(folder)
    (folder / "three.csv").write_text("src,dst,bytes,arrival_ps\n0,1,5,0\n", encoding="utf-8")
    sets = [part for setting in settings for part in ("--set", setting)]
    done = command("run", experiment(folder), *sets, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.endswith(said)


# For another demand


def test_a_schedule_is_tried_on_another_demand_by_name(folder: Path) -> None:
    plan = planned(folder, "--period", "700 us", "--night", "1 us")
    order = [2, 0, 3, 1]
    turned = DEMAND[np.ix_(order, order)]
    rows = ["," + ",".join(NAMES[at] for at in order)]
    rows += [
        f"{NAMES[at]}," + ",".join(map(str, row)) for at, row in zip(order, turned, strict=True)
    ]
    (folder / "turned.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    options = ["turned.csv", "-a", "fixed", "--schedule", "schedule.json", "--json"]
    done = command("plan", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    again = json.loads(done.stdout)
    assert again["figures"]["carried_bytes"] == plan["figures"]["carried_bytes"]
    for old, new in zip(plan["schedule"]["slots"], again["schedule"]["slots"], strict=True):
        moved = [order.index(old["permutation"][at]) for at in order]
        assert (new["permutation"], new["day_ps"]) == (moved, old["day_ps"])
    (folder / "others.csv").write_text(
        ",web,db,log,tpu\n" + "web,0,1,1,1\ndb,1,0,1,1\nlog,1,1,0,1\ntpu,1,1,1,0\n"
    )
    done = command("plan", "others.csv", *options[1:], cwd=folder)
    assert done.returncode == 2
    said = "a schedule for other nodes than the demand's ('gpu' is in one only)"
    assert done.stderr.startswith(f"error: --schedule = schedule.json: {said}")
    (folder / "three.csv").write_text("0,1,1\n1,0,1\n1,1,0\n")
    done = command("plan", "three.csv", *options[1:], cwd=folder)
    assert done.returncode == 2
    assert "schedule for 4 nodes" in done.stderr


@given(
    st.integers(2, 9).flatmap(
        lambda ports: st.tuples(
            st.lists(st.permutations(range(ports)), min_size=1, max_size=12),
            st.integers(0, 2**50),
            st.integers(1, 2**50),
        )
    )
)
@settings(max_examples=60, deadline=None)
def test_what_a_plan_writes_is_what_is_read(drawn: tuple[list[list[int]], int, int]) -> None:
    slots, night, day = drawn
    days = np.array([day + at for at in range(len(slots))])
    schedule = control.Schedule(np.array(slots), days, night)
    demand = control.Demand(1 - np.eye(schedule.ports, dtype=np.int64))
    carried = np.zeros_like(schedule.permutations)
    made = Plan("tms", demand, {}, {}, schedule=schedule, details={"carried": carried})
    with a_folder() as folder:
        read = read_schedule(made.save(folder / "plan.json"), demand)
    assert np.array_equal(read.permutations, schedule.permutations)
    assert np.array_equal(read.days_ps, schedule.days_ps)
    assert read.night_ps == night


def test_an_idle_input_may_be_written_as_minus_one(tmp_path: Path) -> None:
    """Racks 2 and 3 are idle in the first slot.

    The flows are the same as with their own numbers, the notation of `plan`, and only traffic of
    pairs that a slot connects is delivered.
    """

    def finished(idle: tuple[int, int]) -> list[tuple[int, int, int | None]]:
        rows = [[1, 0, *idle], [2, 3, 0, 1]]
        slots = [{"permutation": row, "day_ps": 10**9} for row in rows]
        lit = {"ports": 4, "night_ps": 10**6, "period_ps": 2 * 10**9 + 2 * 10**6, "slots": slots}
        path = tmp_path / "schedule.json"
        path.write_text(json.dumps({"format": "lightloom-plan/1", "schedule": lit}))
        flows = lightloom.run(
            {
                "cluster": {"racks": 4, "servers_per_rack": 1, "server_rate": "10 Gb/s"},
                "workload": {
                    "sizes": {"kind": "fixed", "size": "1 MB"},
                    "pattern": "all-to-all",
                    "arrivals": "at-once",
                },
                "run": {"stop": "1 s"},
                "fabric": [
                    {
                        "kind": "hybrid",
                        "electrical": False,
                        "policy": {"kind": "fixed", "schedule": str(path)},
                        "interval": "1 s",
                        "ramp": "0 s",
                    }
                ],
            }
        ).flows
        columns = (flows[name].to_pylist() for name in ("src", "dst", "finish_ps"))
        return list(zip(*columns, strict=True))

    found = finished((-1, -1))
    assert found == finished((2, 3))
    joined = {(src, dst) for src, dst, at in found if at is not None}
    assert joined == {(0, 1), (1, 0), (0, 2), (1, 3), (2, 0), (3, 1)}
