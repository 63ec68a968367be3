"""Runs with policies in Python: in parallel, repeated, with measured decision times, and from their
log.
"""

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom as command
from policy_support import (
    BOOM,
    DIVIDED,
    MATCHING,
    TABLE,
    Write,
    experiment,
    heard,
    named,
    run,
    same,
)

import lightloom
from lightloom.results.result import Comparison, Result

# Parallel and repeated runs

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
        lightloom.config.experiment.to_toml(experiment({"policy": "mine.py:Mine"})),
        encoding="utf-8",
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
    assert done.returncode == 1
    assert "in divided\n    return 1 // x" in done.stderr
    assert "concurrent" not in done.stderr


# The times of decisions


@pytest.mark.parametrize(
    "fabric",
    [
        {"kind": "cthrough", "reconfiguration_delay": "1 ms", "interval": "100 ms"},
        {"kind": "hydra", "interval": "200 ms", "link_up": "10 ms", "retag": "10 ms"},
        {"kind": "hybrid", "policy": "cthrough", "interval": "100 ms", "settle": "1 ms"},
        {"kind": "hybrid", "policy": "mine.py:Mine", "interval": "100 ms", "settle": "1 ms"},
    ],
    ids=["cthrough", "hydra", "hybrid", "python"],
)
def test_what_was_measured_runs_again_to_the_same_bytes(
    write: Write, tmp_path: Path, fabric: dict[str, Any]
) -> None:
    # Long enough to affect the rates of flows.
    write(
        "time.sleep(2e-3)\nboth = demand + demand.T\n"
        "return [np.unravel_index(both.argmax(), both.shape)] if both.any() else []",
        head="import time",
    )
    path = tmp_path / "case.toml"
    table = {**TABLE, "fabric": [{**fabric, "computation_delay": "measured"}]}
    path.write_text(lightloom.config.experiment.to_toml(table), encoding="utf-8")
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
    # The times have an effect: without them the run differs.
    given = lightloom.load(path, ["fabric.computation_delay=0 s"])
    assert not lightloom.run(given).flows.equals(measured.flows)


def test_a_comparison_runs_again_with_what_was_measured(write: Write, tmp_path: Path) -> None:
    # Longer than a busy machine may delay a decision, because a longer decision is refused.
    often = {"interval": "300 ms"}
    mine = {"policy": write("return [(0, 1)]"), "computation_delay": "measured"}
    fabrics = [
        {"label": "mine", **mine, **often},
        {"label": "theirs", "policy": "cthrough", **often},
    ]
    made = lightloom.compare(experiment(*fabrics))
    directory = made.save(tmp_path / "first")
    kept = Comparison.load(directory).experiment["fabric"]
    assert isinstance(kept[0]["computation_delay"], list)
    assert kept[1]["computation_delay"] == "0 ps"
    again = lightloom.compare(directory / "experiment.toml").save(tmp_path / "again")
    for name in ("mine/flows.parquet", "theirs/flows.parquet", "experiment.toml"):
        assert (directory / name).read_bytes() == (again / name).read_bytes()
    # Decisions take other times at other loads, so no list is valid for all.
    table = {**experiment(*fabrics), "compare": {"loads": [0.3]}}
    kept = lightloom.compare(table).experiment["fabric"]
    assert kept[0]["computation_delay"] == "measured"


def test_times_that_do_not_suffice_are_refused(write: Write) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        run(write("return []"), computation_delay=["1 ms", "2 ms"])
    assert refused.value.key == "fabric.computation_delay"
    assert "decides more often" in str(refused.value)


def test_a_decision_measured_to_take_too_long_is_named_with_what_it_was(write: Write) -> None:
    mine = write("time.sleep(0.05)\nreturn [(0, 5), (1, 2)]", head="import time")
    with pytest.raises(lightloom.ConfigError) as refused:
        run(mine, computation_delay="measured")
    problem = refused.value
    assert (problem.key, problem.value) == ("fabric.policy", f'"{mine}" at 20 ms')
    told = re.fullmatch(
        r"decision = \[\(0, 5\), \(1, 2\)\]: it took ([\d.]+) ms, longer than the interval, 20 ms",
        problem.limit or "",
    )
    assert told is not None
    # The time has three digits and is at least the time of the sleep.
    assert len(told[1].replace(".", "")) <= 3
    assert float(told[1]) >= 50


@pytest.mark.parametrize(
    "fabric",
    [
        {"kind": "cthrough", "reconfiguration_delay": "1 ms"},
        {"kind": "hydra", "link_up": "10 ms", "retag": "10 ms"},
        {"kind": "hybrid", "policy": "rotation"},
    ],
    ids=["cthrough", "hydra", "hybrid"],
)
def test_a_record_holds_nothing_that_cannot_have_been_measured(fabric: dict[str, Any]) -> None:
    def resolve(times: list[str], interval: str) -> None:
        table = {**fabric, "interval": interval, "computation_delay": times}
        lightloom.load({**TABLE, "fabric": [table]}).resolved()

    resolve(["1 s", "1 s", "3 us"], "1 s")
    for long in ("1.000001 s", "4000 s", "9223371 s"):
        with pytest.raises(lightloom.ConfigError, match="the interval, 1 s") as refused:
            resolve(["3 us", long], "1 s")
        assert refused.value.key == "fabric.computation_delay[1]"
    with pytest.raises(lightloom.ConfigError, match="at most 3600 s"):
        resolve(["4000 s"], "5000 s")


def test_a_decision_that_takes_longer_than_the_interval_delays_the_next(write: Write) -> None:
    """The policy is called after 20 ms, decides until 50 ms, and the change ends at 51 ms; the
    decision that is due at 40 ms then lasts until 81 ms and its change until 82 ms, and so on."""
    joined = "self.asked += 1\nreturn [(0, 1)] if self.asked % 2 else [(2, 3)]"
    mine = write(joined, members="    asked = 0")
    table = experiment({"policy": mine}, run={"controller_log": True})
    table["fabric"][0]["computation_delay"] = "30 ms"
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
    # A result without a log that replaces this result removes the log.
    silent.save(other)
    assert not (other / "controller.jsonl").exists()


def test_the_log_tells_the_first_change_step_by_step(write: Write) -> None:
    """By hand: wake after 20 ms, measure, compute at once, go dark, light for 1 ms, enter."""
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
    path.write_text(lightloom.config.experiment.to_toml(table), encoding="utf-8")
    logged = ["--set", "run.controller_log=true", "-o", "out"]
    done = command("compare", "--verbose", path, *logged, cwd=tmp_path)
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
