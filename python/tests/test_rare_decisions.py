"""Intervals that are long for a run: its policy decides on circuits once or never, or only after
all flows have arrived, or flows of a job wait for it. Tests the first lines of the output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli_support import lightloom

import lightloom as ll
from lightloom.analysis.circuits import interval_finding
from lightloom.config.experiment import to_toml

CLUSTER = {"racks": 4, "servers_per_rack": 1, "server_rate": "10 Gb/s", "nic": "uncapped"}
WORKLOAD = {
    "arrivals": "poisson", "load": 0.3, "sizes": {"kind": "fixed", "size": "10 KB"},
    "pattern": "uniform", "flows": 1000,
}  # fmt: skip
SHORTEN = "shorten it, or "
NEVER, ONCE = "before the policy decides on circuits", "decides on circuits once"


def table(fabric: dict[str, Any], stop: str) -> dict[str, Any]:
    run = {"seed": 1, "stop": stop, "controller_log": True}
    return {"cluster": CLUSTER, "workload": WORKLOAD, "run": run, "fabric": [fabric]}


def decided(log: str, delay_ps: int, ended_s: float) -> int:
    """Returns the number of demand reports in a log that were early enough for a decision before
    the end."""
    lines = [json.loads(line) for line in log.splitlines()]
    heard = [
        line["at_ps"]
        for line in lines
        if isinstance(line.get("input"), dict) and "demand" in line["input"]
    ]
    return sum(at + delay_ps < ended_s * 1e12 for at in heard)


@pytest.mark.parametrize(
    ("kind", "interval_us", "share"),
    [
        *[("mordia", 1_000, share) for share in (0.0, 0.4, 1.7)],
        *[("cthrough", 10**6, share) for share in (0.0, 0.4)],
        *[("hydra", 10**8, share) for share in (0.0, 0.4)],
    ],
)
def test_decisions_are_those_of_the_log(kind: str, interval_us: int, share: float) -> None:
    """The decision takes this share of its interval."""
    counts, delay_us = set(), round(share * interval_us)
    for end in (0.9, 1.0, 1.3, 1.4, 1.5, 2.0, 2.001, 2.5, 2.7, 3.5, 4.5):
        fabric = {
            "kind": kind, "interval": f"{interval_us} us", "computation_delay": f"{delay_us} us",
        }  # fmt: skip
        result = ll.run(table(fabric, f"{round(end * interval_us)} us"))
        assert result.controller_log is not None
        ended_s = result.summary["simulated_s"]
        expected = decided(result.controller_log, delay_us * 10**6, ended_s)
        found = interval_finding(result.experiment["fabric"][0], ended_s)
        said = "" if found is None else found.effect
        assert (NEVER in said, ONCE in said) == (expected == 0, expected == 1), f"{end} intervals"
        counts.add(expected)
    assert {0, 1} < counts


@pytest.mark.parametrize(
    ("interval", "stop", "said"),
    [
        (
            "4 ms",
            "3 ms",
            "the run ended after 3.00 ms, before any circuit could be lit: the first decision on "
            "circuits comes "
            "after 4 ms, and lit 11.5 us later; lengthen run.stop, or shorten fabric.interval",
        ),
        (
            "2 ms",
            "3 ms",
            "fabric.interval = 2 ms: the policy decides on circuits once, and the run ends after "
            f"3.00 ms; {SHORTEN}lengthen run.stop",
        ),
        ("1 ms", "3 ms", None),
        (
            "10 ms",
            "drain",
            "fabric.interval = 10 ms: the policy first decides on circuits when all flows have "
            f"arrived, the last after 6.75 ms; {SHORTEN}offer traffic for longer",
        ),
        ("1 ms", "drain", None),
    ],
)
def test_the_first_line_of_a_run_says_so(
    interval: str, stop: str, said: str | None, tmp_path: Path
) -> None:
    experiment = to_toml(table({"kind": "mordia", "interval": interval}, stop))
    (tmp_path / "x.toml").write_text(experiment, encoding="utf-8")
    done = lightloom("run", tmp_path / "x.toml", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    first = done.stdout.splitlines()[0]
    assert first == (f"note: {said}" if said else first)
    assert first.startswith("note: ") == (said is not None)
    assert ("the policy" in done.stdout) == (said is not None and "the policy" in said)


@pytest.mark.parametrize("policy", ["rotation", {"kind": "rotation"}, {"kind": "fixed"}])
def test_policies_that_always_decide_the_same_are_not_rare(policy: Any) -> None:
    fabric = {"kind": "mordia", "interval": "1 s"}
    assert interval_finding({**fabric, "policy": policy}, 0.5) is None
    assert interval_finding({**fabric, "policy": "mordia"}, 0.5) is not None
    assert interval_finding({"kind": "clos"}, 0.5) is None


def test_the_verdict_of_a_comparison_says_so() -> None:
    several = table({"kind": "mordia", "interval": "2 ms", "label": "rare"}, "3 ms")
    several["fabric"] += [
        {"kind": "mordia", "interval": "500 us", "label": "often"},
        {"kind": "mordia", "policy": "rotation", "interval": "2 ms", "label": "round-robin"},
        {"kind": "clos"},
    ]
    several["run"].pop("controller_log")
    (first,) = ll.report.first([ll.compare(ll.load(several))]).values()
    assert first is not None
    answer = first.answer.replace("\u00a0", " ")
    assert "rare: fabric.interval = 2 ms: " in answer
    assert "after 3.00 ms; " in answer
    assert answer.count("decides on circuits") == 1


@pytest.mark.parametrize("verbose", [(), ("--verbose",)])
def test_a_comparison_says_it_once(verbose: tuple[str, ...], tmp_path: Path) -> None:
    several = table({"kind": "mordia", "interval": "2 ms"}, "3 ms")
    several["fabric"].append({"kind": "clos"})
    several["run"].pop("controller_log")
    (tmp_path / "x.toml").write_text(to_toml(several), encoding="utf-8")
    done = lightloom("compare", "x.toml", *verbose, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("fabric.interval = 2 ms") == 1


def test_flows_of_a_job_that_wait_for_a_circuit_name_the_interval(tmp_path: Path) -> None:
    """An all-to-all of 4 racks only over circuits: each rack has one circuit at a time, for an
    interval of 1 s. A flow of 1 MB takes 800 us at 10 Gb/s, and one of the last of three matchings
    takes over 2 s."""
    hybrid = {
        "kind": "hybrid", "electrical": False, "interval": "1 s", "policy": "cthrough",
        "circuit_rate": "10 Gb/s",
    }  # fmt: skip
    job = {"kind": "all-to-all-collective", "name": "shuffle", "bytes": "3 MB"}
    several = {
        "cluster": CLUSTER, "workload": {"jobs": [job]}, "run": {"seed": 1},
        "fabric": [hybrid, {"kind": "clos"}],
    }  # fmt: skip
    (tmp_path / "x.toml").write_text(to_toml(several), encoding="utf-8")
    done = lightloom("compare", "x.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert said.count("fabric.interval = 1 s: ") == 1
    assert "decides on circuits once" not in said
    several["fabric"][0]["electrical"] = True
    (tmp_path / "x.toml").write_text(to_toml(several), encoding="utf-8")
    assert "no circuit joins" not in lightloom("compare", "x.toml", cwd=tmp_path).stdout
