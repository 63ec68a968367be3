"""Policies in Python: their decisions take effect, in a run and in a plan.

Expected values are those of Rust policies that make the same decisions, and sums by hand.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from cli_support import lightloom as command
from policy_support import (
    BOOM,
    DIVIDED,
    HYBRID,
    MATCHING,
    RACKS,
    Write,
    experiment,
    heard,
    named,
    run,
    same,
)

import lightloom
from lightloom.policies import Switch
from lightloom.results.result import Result


def test_fixed_circuits_are_those_of_the_policy_in_rust(write: Write) -> None:
    pairs = [[0, 5], [1, 2], [3, 7]]
    mine = write(f"return {pairs}")
    same(run(mine), run({"kind": "fixed", "circuits": pairs}, initial=[]))
    same(run(mine, initial=pairs), run({"kind": "fixed", "circuits": pairs}))


def test_c_throughs_matching_is_that_of_the_policy_in_rust(write: Write) -> None:
    head = "from lightloom.control import maximum_weight_matching"
    mine = run(write(MATCHING, head=head, members='    order = "all-dark"'))
    same(mine, run({"kind": "cthrough", "unrequested": "alone"}))
    # The order has an effect: with the other one, circuits that stay are never dark.
    kept = run(write(MATCHING, head=head, name="kept.py"))
    assert not kept.flows.equals(mine.flows)
    same(kept, run({"kind": "cthrough", "unrequested": "alone"}, order="delete-create"))


def test_circuits_of_one_direction_are_those_of_the_policy_in_rust(write: Write) -> None:
    head = "from lightloom.control import assignment\nfrom lightloom.policies import Circuits"
    mine = write(
        "found = assignment(demand).column_of\n"
        "pairs = [(a, b) for a, b in enumerate(found) if demand[a, b] > 0]\n"
        "return Circuits(pairs, directed=True)",
        head=head,
    )
    same(run(mine), run("assignment"))


def test_schedules_are_those_of_the_policy_in_rust(write: Write) -> None:
    head = "from lightloom.control import round_robin"
    mine = write('return round_robin(switch.racks, day="2 ms", night="100 us")', head=head)
    theirs = {"kind": "rotation", "day": "2 ms", "night": "100 us"}
    same(run(mine), run(theirs, initial=[]))
    # Any object with the columns of a schedule is accepted.
    head = "import types"
    columns = write(
        "n = switch.racks\n"
        "rows = [[(a + t) % n for a in range(n)] for t in range(1, n)]\n"
        "return types.SimpleNamespace(permutations=rows, days_ps=[2 * 10**9] * (n - 1),\n"
        "                             night_ps=10**8)",
        head=head,
        name="columns.py",
    )
    same(run(columns), run(theirs, initial=[]))


def test_none_keeps_what_is_lit(write: Write) -> None:
    pairs = [(0, 5), (1, 2), (3, 7)]
    once = "    asked = 0\n"
    mine = write(f"self.asked += 1\nreturn {pairs} if self.asked == 1 else None", members=once)
    fixed = {"kind": "fixed", "circuits": [list(p) for p in pairs]}
    same(run(mine), run(fixed, initial=[]))
    head = "from lightloom.control import round_robin"
    body = (
        "self.asked += 1\nreturn None if self.asked > 1 else "
        'round_robin(switch.racks, day="2 ms", night="100 us")'
    )
    turns = write(body, head=head, members=once, name="turns.py")
    rotation = {"kind": "rotation", "day": "2 ms", "night": "100 us"}
    same(run(turns), run(rotation, initial=[]))


LINE = {
    "cluster": {"racks": 3, "servers_per_rack": 1, "server_rate": "10 Gb/s", "nic": "10 Gb/s"},
    "run": {"seed": 1, "stop": "drain", "limit": "100 ms"},
}


def by_way_of(write: Write, tmp_path: Path, routes: str) -> Result:
    """Returns the time of one flow of 12.5 MB from rack 0 to rack 2, with circuits from both to
    rack 1."""
    trace = tmp_path / "one.csv"
    trace.write_text("src,dst,bytes,arrival_ps\n0,2,12500000,0\n", encoding="utf-8")
    head = "from lightloom.policies import Circuits, Path"
    mine = write(f"return Circuits([(0, 1, 0), (1, 2, 1)], routes={routes})", head=head)
    fabric = {**HYBRID, "policy": mine, "electrical": False, "planes": 2, "ramp": "0 s"}
    return lightloom.run({**LINE, "workload": {"trace": str(trace)}, "fabric": [fabric]})


@pytest.mark.parametrize("routes", ["[[0, 1, 2]]", "[Path([2, 1, 0], [1, 0])]"])
def test_routes_lead_over_several_circuits(write: Write, tmp_path: Path, routes: str) -> None:
    """By hand: one interval, one change, and 100 Mbit at 10 Gb/s; three racks store the last packet
    of 1,500 B for 1.2 us each."""
    result = by_way_of(write, tmp_path, routes)
    assert result.flows["finish_ps"].to_pylist() == [(20 + 1 + 10) * 10**9 + 3 * 1_200_000]
    assert result.flows["hops"].to_pylist() == [2.0]


@pytest.mark.parametrize("routes", ["None", "[[0, 1], [1, 2]]"])
def test_without_a_route_nobody_goes_over_two_circuits(
    write: Write, tmp_path: Path, routes: str
) -> None:
    assert by_way_of(write, tmp_path, routes).flows["finish_ps"].to_pylist() == [None]


def test_it_sees_demand_and_the_switch(write: Write, tmp_path: Path) -> None:
    """The inputs of the policy are recorded and compared with the log of the controller."""
    seen = tmp_path / "seen.json"
    mine = write(
        "assert demand.dtype == np.int64 and not demand.flags.writeable\n"
        "assert not switch.works.flags.writeable\n"
        "self.seen.append([demand.tolist(), list(switch.lit), switch.works.tolist()])\n"
        "self.seen[-1] += [switch.racks, switch.planes, switch.rate_bps, switch.interval_s]\n"
        f"open({str(seen)!r}, 'w').write(__import__('json').dumps(self.seen))\n"
        "works = switch.works[0]\n"
        "return [p for p in [(0, 5), (1, 2)] if works[p[0]] and works[p[1]]]",
        members="    def __init__(self): self.seen = []",
    )
    fault = {"element": "optical-port", "node": 5, "at": "30 ms", "repair_at": "70 ms"}
    table = experiment({"policy": mine}, run={"controller_log": True})
    result = lightloom.run({**table, "fault": [fault]})
    calls = json.loads(seen.read_text(encoding="utf-8"))
    works = [call[2][0] for call in calls]
    down = [at for at, row in enumerate(works) if not row[5]]
    # Decisions fall due after 20, 40, 60, 80 ms.
    assert down == [1, 2]
    alone, both = [[1, 2, 0]], [[0, 5, 0], [1, 2, 0]]
    assert [sorted(call[1]) for call in calls[:5]] == [[], alone, alone, alone, both]
    assert calls[0][3:] == [RACKS, 1, 10_000_000_000, 0.02]
    demands = [entry["input"]["demand"] for entry in heard(result) if "demand" in named(entry)]
    assert len(demands) == len(calls)
    for queues, call in zip(demands, calls, strict=True):
        matrix = np.zeros((RACKS, RACKS), np.int64)
        for server, rack, size in queues:
            matrix[server // 2, rack] += size
        assert matrix.tolist() == call[0]


# One decision, for a plan


def test_plan_asks_it_once(write: Write) -> None:
    """Weights by hand: a path counts for the demand between its ends, not for that of racks on the
    way."""
    from lightloom.control import plan

    demand = np.array([[0, 7, 3], [1, 0, 0], [4, 0, 0]])
    joined = plan(demand, write("return [(0, 1)]"))
    assert joined.figures["weight"] == 8
    assert joined.figures["coverage"] == 8 / 15
    assert joined.figures["bound"] is None
    head = "from lightloom.policies import Circuits"
    line = "Circuits([(0, 1, 1), (1, 2, 0)], routes=[[0, 1, 2]])"
    led = plan(demand, write(f"return {line}", head=head), planes=2)
    assert led.figures["weight"] == 7
    assert led.circuits is not None
    assert led.circuits.carried.tolist() == [7, 7]
    one_way = "Circuits([(0, 1), (2, 0)], directed=True)"
    assert plan(demand, write(f"return {one_way}", head=head)).figures["weight"] == 11
    nothing = plan(demand, write("return []"))
    assert (nothing.figures["weight"], nothing.figures["circuits"]) == (0, 0)
    head = "from lightloom.control import round_robin"
    turns = write('return round_robin(switch.racks, day="8 ns", night="0 s")', head=head)
    assert plan(demand, turns, rate="1 Gb/s").figures["carried_bytes"] == 4


def test_what_it_prints_is_no_output_of_the_command(write: Write, tmp_path: Path) -> None:
    """The JSON output contains only JSON, and no printed text is lost; the same holds in sweeps."""
    body = "print('deciding')\nsys.stdout.write('deciding\\n')\nreturn [(0, 1)]"
    members = "    def __init__(self, word='making'): print(word)"
    write(body, head="import sys\nprint('loading')", members=members)
    fabric = {"policy": "mine.py:Mine", "label": "mine"}
    table = experiment(fabric, {"policy": "cthrough", "label": "other"}, workload={"flows": 20})
    text = lightloom.config.experiment.to_toml(table)
    (tmp_path / "case.toml").write_text(text, encoding="utf-8")
    (tmp_path / "demand.csv").write_text("0,7\n1,0\n", encoding="utf-8")
    case, log = "case.toml", "run.controller_log=true"
    for arguments in (
        ["run", case, "--fabric", "mine", "--json", "-o", "out", "--set", log],
        ["compare", case, "--json"],
        ["plan", "demand.csv", "-a", "mine.py:Mine", "--json"],
        ["plan", "--replay", "out/controller.jsonl", "-a", "mine.py:Mine", "--json"],
    ):
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert isinstance(json.loads(done.stdout), dict)
        told = done.stderr.splitlines()
        assert told[:2] == ["loading", "making"]
        assert told.count("deciding") >= 2
    grid = 'base = "case.toml"\nfabrics = ["mine"]\n[grid]\n"run.seed" = [1, 2]\n'
    (tmp_path / "sweep.toml").write_text(grid, encoding="utf-8")
    for workers in (1, 2):
        done = command("sweep", "sweep.toml", "-o", "sweep", "--workers", workers, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert not {"loading", "making", "deciding"} & {*done.stdout.splitlines()}
        assert done.stderr.count("deciding") >= 4


def test_plan_takes_its_options_and_what_is_lit(write: Write, tmp_path: Path) -> None:
    from lightloom.control import plan

    mine = write(
        "return [self.pair] if switch.lit == ((0, 2, 0),) and switch.rate_bps == 10**9 else []",
        members="    def __init__(self, pair=(0, 1)): self.pair = pair",
    )
    demand = [[0, 7, 3], [1, 0, 5], [4, 0, 0]]
    made = plan(demand, mine, pair=[1, 2], up=[(0, 2)], rate="1 Gb/s")
    assert made.figures["weight"] == 5
    with pytest.raises(lightloom.ConfigError, match="it takes") as refused:
        plan(demand, mine, other=1)
    assert refused.value.key == "algorithm"
    (tmp_path / "demand.csv").write_text("0,7\n1,0\n", encoding="utf-8")
    done = command(
        *("plan", "demand.csv", "-a", "mine.py:Mine", "--set", "pair=[0,1]", "--json"),
        *("--rate", "1 Gb/s"),
        cwd=tmp_path,
    )
    assert json.loads(done.stdout)["options"]["pair"] == [0, 1]
    write(BOOM, members=DIVIDED)
    done = command("plan", "demand.csv", "-a", "mine.py:Mine", "-o", "x.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "in divided\n    return 1 // x" in done.stderr
    assert not (tmp_path / "x.json").exists()


# The example


@pytest.mark.parametrize("name", ["threshold", "shares"])
def test_the_page_shows_the_example_as_it_is(name: str) -> None:
    root = Path(__file__).parents[2]
    code = (root / "examples" / "policies" / f"{name}.py").read_text(encoding="utf-8")
    page = (root / "docs" / "policies.md").read_text(encoding="utf-8")
    assert code[code.index("import numpy") :].rstrip() in page


def test_the_example_joins_the_heaviest_and_lets_the_rest_take_turns() -> None:
    from lightloom.policies.files import load

    file = Path(__file__).parents[2] / "examples" / "policies" / "threshold.py"
    policy = load(f"{file}:Threshold", {"above": "10 B", "times": 2}).policy
    demand = np.zeros((6, 6), np.int64)
    for a, b, size in [(0, 1, 30), (1, 2, 50), (2, 3, 20), (4, 5, 5), (3, 4, 10)]:
        demand[a, b] = size
    # 1-2 outweighs 0-1 and 2-3; among 0, 3, 4 and 5, turn 1 connects 3 with 4: 7 = 1 modulo 6.
    assert policy.decide(demand, Switch(racks=6)) == [(1, 2), (3, 4)]
    # If it is lit, 0-1 counts as 60; 4 and 5 are not connected, because their turn is turn 3.
    lit = Switch(racks=6, lit=((0, 1, 0),))
    assert policy.decide(demand, lit) == [(0, 1), (2, 3)]
    assert policy.decide(demand, Switch(racks=6)) == [(1, 2), (4, 5)]
    broken = Switch(racks=6, works=np.array([[True, True, False, True, True, True]]))
    assert policy.decide(demand, broken)[0] == (0, 1)


def test_the_example_of_schedules_shares_time_out_by_the_longest_queue() -> None:
    from lightloom.policies.files import load

    file = Path(__file__).parents[2] / "examples" / "policies" / "shares.py"
    policy = load(f"{file}:Shares", {}).policy
    demand = np.zeros((4, 4), np.int64)
    demand[0, 1], demand[2, 3], demand[3, 2] = 300, 100, 500  # steps 1, 1 and 3
    switch = Switch(racks=4, interval_ps=1_000, night_ps=10, shortest_slot_ps=100)
    found = policy.decide(demand, switch)
    # 800 ps remain, which are shared 300 : 500, in addition to a slot of 100 ps each.
    assert found.permutations.tolist() == [[1, 2, 3, 0], [3, 0, 1, 2]]
    assert (list(found.days_ps), found.night_ps) == ([390, 590], 10)
    # No rack has demand: three slots alike, of 333 ps.
    found = policy.decide(np.zeros((4, 4), np.int64), switch)
    assert list(found.days_ps) == [323] * 3


def test_the_example_of_schedules_runs_on_mordia() -> None:
    file = Path(__file__).parents[2] / "examples" / "policies" / "shares.py"
    table = experiment()
    fabric = {"kind": "mordia", "policy": f"{file}:Shares", "interval": "2 ms"}
    result = lightloom.run({**table, "fabric": [fabric]})
    assert result.summary["flows_completed"] == result.summary["flows_offered"]
    # Eight racks have at most seven steps, and a slot is cut off when another schedule begins: in 2
    # ms, at most eight nights of 11.5 us are dark.
    assert 1 - 8 * 11.5 / 2000 <= result.summary["duty_cycle"] < 1
