"""Mordia as users run it: schedules from plans, decisions that are measured, refusals."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_support import lightloom

DEMAND = """,a,b,c,d
a,0,900000,40000,10000
b,70000,0,800000,60000
c,30000,20000,0,700000
d,850000,50000,90000,0
"""
EXPERIMENT = """
[cluster]
hosts = 4
server_rate = "10 Gb/s"

[workload]
arrivals = "poisson"
load = 0.3
flows = 1_000
sizes = {{ kind = "pareto", shape = 1.5, mean = "30 KB" }}
pattern = "uniform"

[run]
seed = 1
stop = "{stop}"

[[fabric]]
{fabric}
"""


def experiment(folder: Path, fabric: str, stop: str = "drain") -> Path:
    """An experiment of Mordia in a file."""
    path = folder / "experiment.toml"
    path.write_text(EXPERIMENT.format(fabric='kind = "mordia"\n' + fabric, stop=stop))
    return path


def summary(folder: Path) -> dict[str, Any]:
    """What a run says of itself."""
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text())
    return found


def test_a_schedule_is_planned_and_followed(tmp_path: Path) -> None:
    """The acceptance: `plan --algorithm tms -o`, then `schedule = …`."""
    (tmp_path / "demand.csv").write_text(DEMAND)
    frame = ["--night", "11.5 us", "--shortest", "61 us", "--period", "2 ms"]
    command = ["plan", "demand.csv", "--algorithm", "tms", *frame, "-o", "schedule.json"]
    assert lightloom(*command, cwd=tmp_path).returncode == 0
    planned = json.loads((tmp_path / "schedule.json").read_text())["schedule"]
    path = experiment(tmp_path, 'schedule = "schedule.json"', "last-arrival")
    out = tmp_path / "out"
    done = lightloom("run", path, "-o", out, cwd=Path("/"))
    assert done.returncode == 0, done.stderr
    circuits = pq.read_table(out / "circuits.parquet").to_pydict()
    # The first period, day by day: each slot begins with its night.
    start, lit = 0, set()
    for slot in planned["slots"]:
        dawn = start + planned["night_ps"]
        start = dawn + slot["day_ps"]
        ports = enumerate(slot["permutation"])
        lit |= {(a, b, dawn, start) for a, b in ports if a != b}
    rows = zip(*(circuits[key] for key in ("a", "b", "from_ps", "until_ps")), strict=True)
    seen = {row for row in rows if row[3] <= start}
    assert seen == lit
    dark = planned["night_ps"] * len(planned["slots"])
    assert summary(out)["duty_cycle"] == pytest.approx(1 - dark / start, abs=2e-3)
    # And what was resolved runs again from elsewhere, as long as the file is the same.
    file = tmp_path / "schedule.json"
    policy = tomllib.loads((out / "experiment.toml").read_text())["fabric"][0]["policy"]
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (policy["schedule"], policy["sha256"]) == (str(file), digest)
    again = tmp_path / "again"
    assert lightloom("run", out / "experiment.toml", "-o", again, cwd=Path("/")).returncode == 0
    assert (again / "flows.parquet").read_bytes() == (out / "flows.parquet").read_bytes()
    file.write_text(file.read_text() + "\n")
    done = lightloom("run", out / "experiment.toml", "-o", tmp_path / "other", cwd=Path("/"))
    assert done.returncode == 2
    assert "fabric.policy.sha256" in done.stderr
    assert not (tmp_path / "other").exists()


def test_measured_decisions_come_out_the_same_again(tmp_path: Path) -> None:
    """Even where they take longer than the interval: the next is late."""
    path = experiment(tmp_path, 'policy = "tms"\ninterval = "200 us"')
    first, again = tmp_path / "first", tmp_path / "again"
    measured = ["--set", 'fabric.computation_delay="measured"']
    assert lightloom("run", path, "-o", first, *measured, cwd=tmp_path).returncode == 0
    resolved = first / "experiment.toml"
    assert lightloom("run", resolved, "-o", again, cwd=tmp_path).returncode == 0
    assert (again / "flows.parquet").read_bytes() == (first / "flows.parquet").read_bytes()


@pytest.mark.parametrize(
    ("fabric", "words"),
    [
        ('schedule = "none.json"', ["fabric.schedule", "none.json", "cannot be read"]),
        ("wavelengths = 3", ["cluster.racks", "a ring of 3 wavelengths has 3 ports", "rings"]),
        ('night = "70 us"', ["fabric.night", "70 us", "61 us", "shortest_slot"]),
        ('packet = "60 KB"\nstack_rate = "1 Gb/s"', ["fabric.slot", "a packet takes 480 us"]),
        ('policy = "cthrough"', ["fabric.policy", '"cthrough"', "follows schedules", "hybrid"]),
        ('policy = { kind = "tms", night = "2 us" }\ninterval = "1 ms"', []),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, fabric: str, words: list[str]) -> None:
    """By key, value, limit and remedy; nothing is written."""
    out = tmp_path / "out"
    done = lightloom("run", experiment(tmp_path, fabric), "-o", out, cwd=tmp_path)
    if not words:
        words = ["fabric.policy", "night = 2 us", "the switch is dark for 11.5 us"]
    assert done.returncode == 2, done.stdout
    for word in words:
        assert word in " ".join(done.stderr.split()), done.stderr
    assert not out.exists()
