"""Policies in Python: what `decide` gets and may return, and what is said of the rest.

Expected values come from policies of Rust that decide the same, from sums by hand, and
from what the runs themselves were told to record.
"""

import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import lightloom as command

import lightloom
from lightloom.policies import Circuits, Switch
from lightloom.policies import Path as Route
from lightloom.policies.answers import read
from lightloom.results import Comparison, Result

RACKS = 8
TABLE: dict[str, Any] = {
    "cluster": {
        "racks": RACKS,
        "servers_per_rack": 2,
        "server_rate": "10 Gb/s",
        "nic": "10 Gb/s",
    },
    "workload": {
        "arrivals": "poisson",
        "load": 0.5,
        "sizes": {"kind": "exponential", "mean": "20 MB"},
        "pattern": "uniform",
        "flows": 600,
    },
    "run": {"seed": 4, "stop": "drain"},
}
HYBRID = {"kind": "hybrid", "interval": "20 ms", "settle": "1 ms"}


def experiment(*fabrics: dict[str, Any], **tables: dict[str, Any]) -> dict[str, Any]:
    """The same traffic on some hybrids."""
    changed = {key: {**TABLE[key], **tables.get(key, {})} for key in TABLE}
    return {**changed, "fabric": [{**HYBRID, **fabric} for fabric in fabrics]}


def run(policy: Any, label: str | None = None, /, **keys: Any) -> Result:
    return lightloom.run(experiment({"policy": policy, **keys}), label)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Writes a class with this `decide`; returns how experiments name it."""

    def write(body: str, *, head: str = "", members: str = "", name: str = "mine.py") -> str:
        lines = "\n".join(f"        {line}" for line in body.splitlines())
        text = (
            f"import numpy as np\n{head}\n\nclass Mine:\n{members}\n"
            f"    def decide(self, demand, switch):\n{lines}\n"
        )
        (tmp_path / name).write_text(text, encoding="utf-8")
        return f"{tmp_path / name}:Mine"

    return write


Write = Callable[..., str]


def same(mine: Result, theirs: Result) -> None:
    """Every flow, sample and circuit is the same, to the picosecond."""
    assert mine.flows.equals(theirs.flows)
    assert mine.timeseries.equals(theirs.timeseries)
    assert mine.circuits is not None
    assert mine.circuits.equals(theirs.circuits)
    assert mine.circuits.num_rows > 0


# What it decides is what happens


def test_fixed_circuits_are_those_of_the_policy_in_rust(write: Write) -> None:
    pairs = [[0, 5], [1, 2], [3, 7]]
    mine = write(f"return {pairs}")
    same(run(mine), run({"kind": "fixed", "circuits": pairs}))


MATCHING = """
both = demand + demand.T
if not both.any():
    return []
up = [(a, b) for a, b, _ in switch.lit]
pairs = maximum_weight_matching(demand, up=up).pairs
return [pair for pair in pairs.tolist() if both[tuple(pair)] > 0]
"""


def test_c_throughs_matching_is_that_of_the_policy_in_rust(write: Write) -> None:
    head = "from lightloom.control import maximum_weight_matching"
    mine = run(write(MATCHING, head=head, members='    order = "all-dark"'))
    same(mine, run({"kind": "cthrough", "unrequested": "alone"}))
    # And the order counts: otherwise circuits that stay are never dark.
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
    same(run(mine), run(theirs))
    # Anything that has a schedule's columns is one.
    head = "import types"
    columns = write(
        "n = switch.racks\n"
        "rows = [[(a + t) % n for a in range(n)] for t in range(1, n)]\n"
        "return types.SimpleNamespace(permutations=rows, days_ps=[2 * 10**9] * (n - 1),\n"
        "                             night_ps=10**8)",
        head=head,
        name="columns.py",
    )
    same(run(columns), run(theirs))


def test_none_keeps_what_is_lit(write: Write) -> None:
    pairs = [(0, 5), (1, 2), (3, 7)]
    once = "    asked = 0\n"
    mine = write(f"self.asked += 1\nreturn {pairs} if self.asked == 1 else None", members=once)
    same(run(mine), run({"kind": "fixed", "circuits": [list(p) for p in pairs]}))
    head = "from lightloom.control import round_robin"
    body = (
        "self.asked += 1\nreturn None if self.asked > 1 else "
        'round_robin(switch.racks, day="2 ms", night="100 us")'
    )
    turns = write(body, head=head, members=once, name="turns.py")
    same(run(turns), run({"kind": "rotation", "day": "2 ms", "night": "100 us"}))


LINE = {
    "cluster": {"racks": 3, "servers_per_rack": 1, "server_rate": "10 Gb/s", "nic": "10 Gb/s"},
    "run": {"seed": 1, "stop": "drain", "limit": "100 ms"},
}


def by_way_of(write: Write, tmp_path: Path, routes: str) -> Result:
    """One flow of 12.5 MB from rack 0 to rack 2; circuits from both to rack 1."""
    trace = tmp_path / "one.csv"
    trace.write_text("src,dst,bytes,arrival_ps\n0,2,12500000,0\n", encoding="utf-8")
    head = "from lightloom.policies import Circuits, Path"
    mine = write(f"return Circuits([(0, 1, 0), (1, 2, 1)], routes={routes})", head=head)
    fabric = {**HYBRID, "policy": mine, "electrical": False, "planes": 2, "ramp": "0 s"}
    return lightloom.run({**LINE, "workload": {"trace": str(trace)}, "fabric": [fabric]})


@pytest.mark.parametrize("routes", ["[[0, 1, 2]]", "[Path([2, 1, 0], [1, 0])]"])
def test_routes_lead_over_several_circuits(write: Write, tmp_path: Path, routes: str) -> None:
    """One interval, one change, and 100 Mbit at 10 Gb/s, by hand."""
    result = by_way_of(write, tmp_path, routes)
    assert result.flows["finish_ps"].to_pylist() == [(20 + 1 + 10) * 10**9]
    assert result.flows["hops"].to_pylist() == [2.0]


@pytest.mark.parametrize("routes", ["None", "[[0, 1], [1, 2]]"])
def test_without_a_route_nobody_goes_over_two_circuits(
    write: Write, tmp_path: Path, routes: str
) -> None:
    assert by_way_of(write, tmp_path, routes).flows["finish_ps"].to_pylist() == [None]


def test_it_sees_demand_and_the_switch(write: Write, tmp_path: Path) -> None:
    """What it was given is written down and compared with the log of the controller."""
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


def heard(result: Result) -> list[dict[str, Any]]:
    assert result.controller_log is not None
    entries = map(json.loads, result.controller_log.splitlines())
    return [entry for entry in entries if "input" in entry]


def named(entry: dict[str, Any]) -> Any:
    found = entry["input"]
    return found if isinstance(found, dict) else {found: None}


# What it may not return


@pytest.mark.parametrize(
    ("returned", "shown", "said"),
    [
        ("[(0, 1), (1, 2)]", "[(0, 1), (1, 2)]", "rack 1 has no port left that is free"),
        ("[(0, 8)]", "[(0, 8)]", "racks are 0 to 7, planes 0 to 0"),
        ("[(0, 1, 1)]", "[(0, 1, 1)]", "racks are 0 to 7, planes 0 to 0"),
        ("[(3, 3)]", "[(3, 3)]", "joins a rack with itself"),
        ("[(0, -1)]", "[(0, -1)]", "racks and planes are counted from 0"),
        ("[(0, 2**40)]", "[(0, 1099511627776)]", "beyond what can be counted"),
        ("[(0, 1.5)]", "[(0, 1.5)]", "1.5 is not a whole number"),
        ("[(0, float('nan'))]", "[(0, nan)]", "nan is not a number"),
        ("np.array([[0.0, 1.0]])", "array([[0., 1.]])", "0.0 is not a whole number"),
        ("[(True, 2)]", "[(True, 2)]", "True is not a whole number"),
        ("[('a', 'b')]", "[('a', 'b')]", "'a' is not a whole number"),
        ("[(0, 1, 0, 0)]", "[(0, 1, 0, 0)]", "no circuit, which has two racks"),
        ("[0, 1]", "[0, 1]", "no circuit, which has two racks"),
        ("np.zeros((2, 4), int)", "array([[0, 0, 0, 0],", "an array of 2 × 4"),
        ("demand", "array([[", "an array of 8 × 8, not of 2 or 3 columns"),
        ("7", "7", "of type int"),
        ("'0-1'", "'0-1'", "of type str"),
        ("{0: 1}", "{0: 1}", "of type dict"),
        ("(p for p in [])", "<generator", "of type generator"),
        ("Circuits(3)", "Circuits(pairs=3", "of type int"),
        ("Circuits([(0, 1)], directed=2)", "Circuits(pairs=", "neither True nor False"),
        ("Circuits([(0, 1), (2, 1)], directed=True)", "Circuits(", "rack 1 has no port left"),
        ("Circuits([(0, 1)], routes=[[0, 2]])", "Circuits(", "no such circuit is to be lit"),
        ("Circuits([(0, 1)], routes=[[0]])", "Circuits(", "visits two racks or more"),
        ("Circuits([(0, 1)], routes=[[0, 1, 0]])", "Circuits(", "visits a rack twice"),
        ("Circuits([(0, 1)], routes=[Path([0, 1], [])])", "Circuits(", "1 circuits, on 0 planes"),
        ("Circuits([(0, 1)], routes=3)", "Circuits(", "no list of paths"),
        ("round_robin(5, day='1 ms', night='0 s')", "Schedule(", "the switch has 8 racks"),
        ("Schedule(np.zeros((1, 8), int), [10], 0)", "Schedule(", "slots[0].permutation[1]"),
        ("Schedule(np.arange(8)[None] * 1.0, [10], 0)", "Schedule(", "of type float64"),
        ("Schedule(np.arange(8)[None], [10, 20], 0)", "Schedule(", "days of shape (2,)"),
        ("Schedule(np.arange(8)[None], [0], 0)", "Schedule(", "a day is longer than nothing"),
        ("Schedule(np.arange(8)[None], [10], -1)", "Schedule(", "night"),
    ],
)
def test_what_it_may_not_return_is_refused_by_name(
    write: Write, returned: str, shown: str, said: str
) -> None:
    head = (
        "from lightloom.control import Schedule, round_robin\n"
        "from lightloom.policies import Circuits, Path"
    )
    mine = write(f"return {returned}", head=head)
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine)
    problem = refused.value
    assert problem.key == "fabric.policy"
    assert problem.value == f'"{mine}" at 20 ms'
    assert problem.limit is not None
    assert problem.limit.startswith(f"decide() = {shown}")
    assert said in problem.limit
    assert problem.remedy
    assert problem.__cause__ is None


def test_circuits_on_broken_ports_are_refused(write: Write) -> None:
    fault = {"element": "optical-port", "node": 5, "at": "30 ms"}
    table = {**experiment({"policy": write("return [(0, 5)]")}), "fault": [fault]}
    with pytest.raises(lightloom.ConfigError, match=r"at 40 ms.*port of rack 5 does not work"):
        lightloom.run(table)


def test_kinds_of_answers_are_not_mixed(write: Write) -> None:
    head = "from lightloom.policies import Circuits\nfrom lightloom.control import round_robin"
    members = "    asked = 0"
    body = "self.asked += 1\nreturn [(0, 1)] if self.asked == 1 else "
    turns = 'round_robin(switch.racks, day="1 ms", night="0 s")'
    for other, said in [
        (turns, "it decided on circuits before"),
        ("Circuits([(2, 3)], directed=True)", "it decided on circuits of both directions before"),
    ]:
        mine = write(body + other, head=head, members=members)
        with pytest.raises(lightloom.ConfigError, match=said):
            run(mine)


def test_the_order_of_a_change_is_one_that_there_is(write: Write) -> None:
    mine = write("return []", members='    order = "at-once"')
    with pytest.raises(lightloom.ConfigError, match="order = 'at-once' is no order; use"):
        run(mine)


def test_numbers_of_numpy_are_as_good_as_pythons() -> None:
    switch = Switch(racks=4, planes=2)
    rows = [(0, 1, 0), (2, 3, 0)]
    for pairs in (
        np.array([[0, 1], [2, 3]], np.uint8),
        [np.array([0, 1]), np.array([2, 3])],
        ((np.int64(0), 1), [2, np.int16(3)]),
        [(0, 1, 0), (2, 3)],
    ):
        assert read(pairs, switch) == (rows, (False, None))
    for nothing in ([], np.zeros((0, 2)), np.array([])):
        assert read(nothing, switch) == ([], (False, None))
    # A path without planes takes the lowest that joins its racks.
    found = read(Circuits([(0, 1, 1), (0, 1, 0), (1, 2, 1)], routes=[(0, 1, 2)]), switch)
    assert found is not None
    assert found[1] == (False, [([0, 1, 2], [0, 1])])
    found = read(Circuits([(0, 1, 1)], routes=[Route([0, 1], [1])]), switch)
    assert found is not None
    assert found[1] == (False, [([0, 1], [1])])


# What its file may not be


@pytest.mark.parametrize(
    ("policy", "key", "said"),
    [
        ("nowhere.py:Mine", "fabric.policy.file", "there is no file"),
        ("mine.py:", "fabric.policy.file", "names no class in a file"),
        ({"file": "mine.py"}, "fabric.policy.file", "names no class in a file"),
        ("mine.py:Mein", "fabric.policy.file", "did you mean Mine?"),
        ("mine.py:np", "fabric.policy.file", "no class np; it has Mine"),
        ("mine.py:Idle", "fabric.policy.file", "Idle has no method decide; add `def decide"),
        ({"file": "mine.py:Mine", "abvoe": 1}, "fabric.policy", "it takes (above=1)"),
        ({"file": "mine.py:Mine", "above": -1}, "fabric.policy", "ValueError: above 0, please"),
        ({"file": "mine.py:Mine", "kind": "fixed"}, "fabric.policy.file", "it has a kind, too"),
        (
            {"file": "mine.py:Mine", "sha256": "0" * 64},
            "fabric.policy.sha256",
            "is another by now",
        ),
    ],
)
def test_files_are_refused_by_name(
    write: Write, tmp_path: Path, policy: Any, key: str, said: str
) -> None:
    members = (
        "    def __init__(self, above=1):\n"
        "        if above < 0: raise ValueError('above 0, please')\n"
    )
    write("return []", head="class Idle: pass", members=members)
    path = tmp_path / "case.toml"
    table = experiment({"policy": policy})
    path.write_text(lightloom.config.to_toml(table), encoding="utf-8")
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.run(path)
    assert refused.value.key == key
    assert said in str(refused.value)


def test_paths_are_relative_to_the_experiment_or_to_where_they_are_set(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("return [(0, 1)]")
    path = tmp_path / "case.toml"
    path.write_text(
        lightloom.config.to_toml(experiment({"policy": "mine.py:Mine"})), encoding="utf-8"
    )
    loaded = lightloom.load(path)
    assert loaded.raw["fabric"][0]["policy"] == f"{tmp_path / 'mine.py'}:Mine"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    changed = loaded.with_overrides(['fabric.policy={file="mine.py:Mine"}'])
    assert changed.raw["fabric"][0]["policy"]["file"] == f"{elsewhere / 'mine.py'}:Mine"


def test_a_preset_gives_way_to_a_file(write: Write) -> None:
    """Its policy is a table with keys of its own, which are not the file's."""
    resolved = lightloom.load(
        experiment({"preset": "rotation", "policy": {"file": write("return []")}})
    ).resolved()
    assert set(resolved["fabric"][0]["policy"]) == {"file", "sha256"}


def test_results_say_which_file_ran_and_run_again(write: Write, tmp_path: Path) -> None:
    import hashlib

    mine = write("return [(0, 5), (1, 2)]")
    result = run(mine)
    source = (tmp_path / "mine.py").read_bytes()
    policy = result.experiment["fabric"][0]["policy"]
    assert policy == {"file": mine, "sha256": hashlib.sha256(source).hexdigest()}
    first = result.save(tmp_path / "first")
    again = lightloom.run(first / "experiment.toml").save(tmp_path / "again")
    for name in ("flows.parquet", "timeseries.parquet", "circuits.parquet", "experiment.toml"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    write("return [(0, 6)]")
    with pytest.raises(lightloom.ConfigError, match=r"is another by now.*remove sha256"):
        lightloom.run(first / "experiment.toml")


# What the user's code raises

BOOM = "x = demand.sum() * 0\nreturn self.divided(int(x))"
DIVIDED = "    def divided(self, x):\n        return 1 // x\n"


def test_what_it_raises_is_the_cause(write: Write) -> None:
    mine = write(BOOM, members=DIVIDED)
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine)
    problem = refused.value
    assert isinstance(problem.__cause__, ZeroDivisionError)
    assert problem.value == f'"{mine}" at 20 ms'
    said = "decide() raised ZeroDivisionError: integer division or modulo by zero"
    assert problem.limit == said
    assert problem.remedy == "correct line 6 of mine.py"
    frames = [line for line in str(problem.trace).splitlines() if line.startswith("  File")]
    assert [line.rpartition(" in ")[2] for line in frames] == ["decide", "divided"]
    assert all("mine.py" in line for line in frames)


def test_frames_of_lightloom_are_left_out(write: Write) -> None:
    head = "from lightloom.control import maximum_weight_matching"
    mine = write("return maximum_weight_matching(-demand - 1).pairs", head=head)
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine)
    assert isinstance(refused.value.__cause__, lightloom.ConfigError)
    frames = [line for line in str(refused.value.trace).splitlines() if "  File" in line]
    assert len(frames) == 1
    assert "mine.py" in frames[0]


@pytest.mark.parametrize(
    ("head", "line", "said"),
    [
        ("import nowhere_at_all", 2, "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("1 / 0", 2, "ZeroDivisionError"),
        ("def broken(:", 2, "SyntaxError"),
    ],
)
def test_what_its_file_raises_is_the_cause(write: Write, head: str, line: int, said: str) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        run(write("return []", head=head))
    assert refused.value.key == "fabric.policy.file"
    assert said in str(refused.value)
    assert refused.value.remedy == f"correct line {line} of mine.py"
    assert "lightloom/policies" not in str(refused.value.trace)


def test_the_command_shows_the_traceback_and_writes_nothing(write: Write, tmp_path: Path) -> None:
    write(BOOM, members=DIVIDED)
    path = tmp_path / "case.toml"
    two = experiment(
        {"policy": "fixed", "label": "sound"} | {"policy": "cthrough"},
        {"policy": "mine.py:Mine", "label": "mine"},
    )
    path.write_text(lightloom.config.to_toml(two), encoding="utf-8")
    for arguments in (["run", path, "--fabric", "mine"], ["compare", path]):
        done = command(*arguments, "-o", tmp_path / "out", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith("Traceback (most recent call last):\n  File ")
        assert "in divided\n    return 1 // x" in done.stderr
        error = " ".join(done.stderr.partition("error: ")[2].split())
        assert error.startswith(f'fabric.mine.policy = "{tmp_path / "mine.py"}:Mine" at 20 ms')
        assert "ZeroDivisionError" in error
        assert "lightloom/" not in done.stderr
        assert not (tmp_path / "out").exists()


def test_a_comparison_refuses_before_anything_runs(write: Write) -> None:
    told: list[str] = []
    two = experiment({"policy": "cthrough", "label": "sound"}, {"policy": write("return []") + "s"})
    with pytest.raises(lightloom.ConfigError, match="did you mean Mine"):
        lightloom.compare(two, progress=lambda label, *_: told.append(label))
    assert told == []


def test_it_is_asked_no_more_after_it_has_failed(write: Write, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    body = f"open({str(asked)!r}, 'a').write('.')\nraise RuntimeError('no')"
    with pytest.raises(lightloom.ConfigError):
        run(write(body))
    assert asked.read_text(encoding="utf-8") == "."


def test_ctrl_c_while_it_decides(write: Write) -> None:
    body = "signal.raise_signal(signal.SIGINT)\nreturn []"
    mine = write(body, head="import signal")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        run(mine)


def test_exit_is_refused_as_any_other_exception(write: Write) -> None:
    with pytest.raises(lightloom.ConfigError, match="SystemExit") as refused:
        run(write("raise SystemExit(0)"))
    assert isinstance(refused.value.__cause__, SystemExit)


# Side by side, and again

COUNTS = """
CALLS.append(1)
self.calls += 1
assert len(CALLS) == self.calls
a = self.calls % (switch.racks - 1)
return [(a, switch.racks - 1)]
"""
STATE = {"head": "CALLS = []", "members": "    calls = 0"}


def test_runs_share_no_state(write: Write) -> None:
    mine = write(COUNTS, **STATE)
    first, second = run(mine), run(mine)
    same(first, second)


def test_a_fault_that_is_tried_out_leaves_no_trace(write: Write) -> None:
    mine = write(COUNTS, **STATE)
    fault = {"element": "controller", "at": "10 s", "repair_at": "11 s"}
    tried = lightloom.run({**experiment({"policy": mine}), "fault": [fault]})
    same(tried, run(mine))


def test_threads_share_no_state(write: Write) -> None:
    mine = write(COUNTS, **STATE)
    fabrics = [{"policy": mine, "label": label} for label in "ab"]
    loads = [0.3, 0.4, 0.5, 0.6]
    table = {**experiment(*fabrics), "compare": {"loads": loads}}
    made = lightloom.compare(table)
    for at, load in enumerate(loads):
        alone = lightloom.load(experiment(fabrics[0])).with_load(load)
        expected = lightloom.run(alone).summary
        for label in "ab":
            found = made.loads[label][at]
            assert found["fct"] == expected["fct"]
            assert found["circuit_share"] == expected["circuit_share"]
    same(made.results["a"], made.results["b"])


def test_many_threads_do_not_lock_each_other_up(write: Write) -> None:
    head = "from lightloom.control import maximum_weight_matching"
    mine = write(MATCHING, head=head)
    results: list[Result] = []
    threads = [threading.Thread(target=lambda: results.append(run(mine))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == len(threads)
    assert all(result.flows.equals(results[0].flows) for result in results)


def test_sweeps_run_it_in_processes_and_notice_when_it_changes(
    write: Write, tmp_path: Path
) -> None:
    write(COUNTS, **STATE)
    base = tmp_path / "base.toml"
    base.write_text(
        lightloom.config.to_toml(experiment({"policy": "mine.py:Mine"})), encoding="utf-8"
    )
    grid = 'base = "base.toml"\n[grid]\n"fabric.interval" = ["20 ms", "40 ms"]\n'
    (tmp_path / "sweep.toml").write_text(grid, encoding="utf-8")
    arguments = ["sweep", "sweep.toml", "-o", "out", "--workers", 2, "--resume"]

    def points() -> set[str]:
        done = command(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return {path.name for path in (tmp_path / "out" / "points").iterdir()}

    first = points()
    assert len(first) == 2
    write(COUNTS + "# something else", **STATE)
    assert len(points() - first) == 2
    write(BOOM, members=DIVIDED)
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert "in divided\n    return 1 // x" in done.stderr
    assert "concurrent" not in done.stderr


# What decisions took


@pytest.mark.parametrize(
    "fabric",
    [
        {"kind": "cthrough", "reconfiguration_delay": "1 ms", "interval": "20 ms"},
        {"kind": "hydra", "interval": "200 ms"},
        {"kind": "hybrid", "policy": "cthrough", "interval": "20 ms", "settle": "1 ms"},
        {"kind": "hybrid", "policy": "mine.py:Mine", "interval": "20 ms", "settle": "1 ms"},
    ],
    ids=["cthrough", "hydra", "hybrid", "python"],
)
def test_what_was_measured_runs_again_to_the_same_bytes(
    write: Write, tmp_path: Path, fabric: dict[str, Any]
) -> None:
    # Long enough to be seen in what flows get.
    write(
        "time.sleep(2e-3)\nboth = demand + demand.T\n"
        "return [np.unravel_index(both.argmax(), both.shape)] if both.any() else []",
        head="import time",
    )
    path = tmp_path / "case.toml"
    table = {**TABLE, "fabric": [{**fabric, "computation_delay": "measured"}]}
    path.write_text(lightloom.config.to_toml(table), encoding="utf-8")
    measured = lightloom.run(path)
    times = measured.experiment["fabric"][0]["computation_delay"]
    assert isinstance(times, list)
    assert len(times) >= 3
    ps = [lightloom._core.control_time("time", time) for time in times]
    assert min(ps) > (2 * 10**9 if "mine" in str(fabric) else 0)
    assert len(set(ps)) > 1
    first = measured.save(tmp_path / "first")
    recorded = lightloom.run(first / "experiment.toml")
    again = recorded.save(tmp_path / "again")
    assert recorded.experiment == measured.experiment
    for name in ("flows.parquet", "timeseries.parquet", "circuits.parquet", "experiment.toml"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    # They count: without them it is another run.
    given = lightloom.load(path, ["fabric.computation_delay=0 s"])
    assert not lightloom.run(given).flows.equals(measured.flows)


def test_a_comparison_runs_again_with_what_was_measured(write: Write, tmp_path: Path) -> None:
    fabrics = [
        {"policy": write("return [(0, 1)]"), "label": "mine", "computation_delay": "measured"},
        {"policy": "cthrough", "label": "theirs"},
    ]
    made = lightloom.compare(experiment(*fabrics))
    directory = made.save(tmp_path / "first")
    kept = Comparison.load(directory).experiment["fabric"]
    assert isinstance(kept[0]["computation_delay"], list)
    assert kept[1]["computation_delay"] == "0 ps"
    again = lightloom.compare(directory / "experiment.toml").save(tmp_path / "again")
    for name in ("mine/flows.parquet", "theirs/flows.parquet", "experiment.toml"):
        assert (directory / name).read_bytes() == (again / name).read_bytes()
    # At other loads decisions take other times: there is no list that is right for all.
    table = {**experiment(*fabrics), "compare": {"loads": [0.3]}}
    kept = lightloom.compare(table).experiment["fabric"]
    assert kept[0]["computation_delay"] == "measured"


def test_times_that_do_not_suffice_are_refused(write: Write) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        run(write("return []"), computation_delay=["1 ms", "2 ms"])
    assert refused.value.key == "fabric.computation_delay"
    assert "decides more often than the one that was recorded" in str(refused.value)


def test_a_decision_that_takes_longer_than_the_interval_delays_the_next(write: Write) -> None:
    """It is asked after 20 ms, decides until 50 and changes until 51 what falls due at
    40; then it takes until 81 and 82, and so on."""
    joined = "self.asked += 1\nreturn [(0, 1)] if self.asked % 2 else [(2, 3)]"
    mine = write(joined, members="    asked = 0")
    table = experiment({"policy": mine}, run={"controller_log": True})
    table["fabric"][0]["computation_delay"] = ["30 ms"] * 2000
    result = lightloom.run(table)
    asked = [e["at_ps"] // 10**9 for e in heard(result) if "demand" in named(e)]
    assert asked[:4] == [20, 51, 82, 113]
    assert result.circuits is not None
    lit = result.circuits.slice(0, 3).to_pydict()
    assert [ps // 10**9 for ps in lit["from_ps"]] == [51, 82, 113]
    assert [ps // 10**9 for ps in lit["until_ps"]] == [81, 112, 143]


# The log of decisions


def test_a_log_is_kept_and_changes_no_result(write: Write, tmp_path: Path) -> None:
    pairs = [[0, 5], [1, 2]]
    mine = write(f"return {pairs}")
    table = experiment({"policy": mine})
    silent = lightloom.run(table)
    assert silent.controller_log is None
    told = lightloom.run({**table, "run": {**table["run"], "controller_log": True}})
    assert told.controller_log is not None
    one, other = silent.save(tmp_path / "one"), told.save(tmp_path / "other")
    for name in ("flows.parquet", "timeseries.parquet", "circuits.parquet"):
        assert (one / name).read_bytes() == (other / name).read_bytes()
    assert not (one / "controller.jsonl").exists()
    assert (other / "controller.jsonl").read_text(encoding="utf-8") == told.controller_log
    assert Result.load(other).controller_log == told.controller_log
    # A result without one that takes its place takes it away.
    silent.save(other)
    assert not (other / "controller.jsonl").exists()


def test_the_log_tells_the_first_change_step_by_step(write: Write) -> None:
    """Worked out by hand: wake after 20 ms, measure, compute at once, dark, light for
    1 ms, enter."""
    mine = write("return [[0, 5], [1, 2]]")
    result = lightloom.run(experiment({"policy": mine}, run={"controller_log": True}))
    assert result.controller_log is not None
    lines = [json.loads(line) for line in result.controller_log.splitlines()]
    assert lines[0]["format"] == "lightloom-controller/1"
    assert lines[0]["policy"]["file"] == mine
    assert lines[0]["timing"] == {"interval_ps": 20 * 10**9, "computation_delay_ps": 0}
    assert lines[-1] == {"end": len(lines) - 2}
    told = [(line["at_ps"] // 10**9, next(iter(kind(line)))) for line in lines[1:-1]]
    assert told[:2] == [(0, "tick"), (0, "wake_at")]
    assert told[2:14] == [
        (20, "tick"),
        (20, "wake_at"),
        (20, "measure"),
        (20, "demand"),
        (20, "wake_at"),
        (20, "tick"),
        (20, "dark"),
        (20, "done"),
        (20, "light"),
        (21, "done"),
        (21, "enter"),
        (21, "done"),
    ]
    lights = [line["action"]["light"][1] for line in lines if "light" in kind(line)]
    assert lights == [{"directed": False, "circuits": [[0, 5, 0], [1, 2, 0]]}]


def kind(line: dict[str, Any]) -> dict[str, Any]:
    found = line.get("input", line.get("action", {}))
    return found if isinstance(found, dict) else {found: None}


def test_the_command_writes_the_log_of_each_fabric(write: Write, tmp_path: Path) -> None:
    write("return [(0, 1)]")
    path = tmp_path / "case.toml"
    table = {
        **experiment({"policy": "mine.py:Mine", "label": "mine"}),
        "run": {"seed": 1, "stop": "60 ms"},
    }
    table["fabric"] += [{"kind": "cthrough", "interval": "20 ms"}, {"kind": "tree"}]
    path.write_text(lightloom.config.to_toml(table), encoding="utf-8")
    logged = ["--set", "run.controller_log=true", "-o", "out"]
    done = command("compare", path, *logged, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    hosts = [
        json.loads((tmp_path / "out" / label / "controller.jsonl").open().readline())["host"]
        for label in ("mine", "cthrough")
    ]
    assert hosts == ["mine", "cthrough"]
    assert not (tmp_path / "out" / "tree" / "controller.jsonl").exists()
    note = "note: tree: there is no controller of circuits in this fabric"
    assert note in done.stdout
    done = command("run", path, "--fabric", "mine", *logged, cwd=tmp_path)
    assert "out/controller.jsonl" in done.stdout.replace("\n", "")


# One decision, for a plan


def test_plan_asks_it_once(write: Write) -> None:
    """Weights by hand: a path counts for what its ends have for each other, and for
    nothing that is between."""
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


def test_the_page_shows_the_example_as_it_is() -> None:
    root = Path(__file__).parents[2]
    code = (root / "examples" / "policies" / "threshold.py").read_text(encoding="utf-8")
    page = (root / "docs" / "policies.md").read_text(encoding="utf-8")
    assert code[code.index("import numpy") :].rstrip() in page


def test_the_example_joins_the_heaviest_and_lets_the_rest_take_turns() -> None:
    from lightloom.policies.files import load

    file = Path(__file__).parents[2] / "examples" / "policies" / "threshold.py"
    policy = load(f"{file}:Threshold", {"above": "10 B", "times": 2}).policy
    demand = np.zeros((6, 6), np.int64)
    for a, b, size in [(0, 1, 30), (1, 2, 50), (2, 3, 20), (4, 5, 5), (3, 4, 10)]:
        demand[a, b] = size
    # 1-2 outweighs 0-1 and 2-3; of 0, 3, 4 and 5 turn 1 joins 3 with 4: 7 = 1 modulo 6.
    assert policy.decide(demand, Switch(racks=6)) == [(1, 2), (3, 4)]
    # Lit, 0-1 counts for 60; it is not the turn of 4 and 5, which is turn 3.
    lit = Switch(racks=6, lit=((0, 1, 0),))
    assert policy.decide(demand, lit) == [(0, 1), (2, 3)]
    assert policy.decide(demand, Switch(racks=6)) == [(1, 2), (4, 5)]
    broken = Switch(racks=6, works=np.array([[True, True, False, True, True, True]]))
    assert policy.decide(demand, broken)[0] == (0, 1)
