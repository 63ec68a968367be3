"""Arrivals from a file: flows arrive at these times, results keep them, and errors name the
place."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_support import CLOS, lightloom, write

from lightloom.config.experiment import load
from lightloom.report import describe

HOSTS, RATE = 16, 50e9
EXPERIMENT = """
[cluster]
racks = 8
servers_per_rack = 2
server_rate = "50 Gb/s"

[workload]
arrivals = { kind = "file", file = "arrivals.csv" }
sizes = { kind = "fixed", size = "20 KB" }
"""
TIMES = "# by hand\narrival_us\n40\n0.25\n7.000001\n40\n0\n"
PS = [0, 250_000, 7_000_001, 40_000_000, 40_000_000]


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub" / "arrivals.csv", TIMES)
    return write(tmp_path / "sub" / "e.toml", EXPERIMENT, CLOS)


def test_flows_arrive_when_the_file_says(experiment: Path, tmp_path: Path) -> None:
    done = lightloom("run", "sub/e.toml", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    flows = pq.read_table(tmp_path / "out" / "flows.parquet")
    assert flows["arrival_ps"].to_pylist() == PS
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["flows_completed"] == len(PS)  # until all bytes are delivered, as with a trace
    offered = len(PS) * 20_000 * 8 / (HOSTS * RATE * PS[-1] * 1e-12)
    assert summary["load_offered"] == pytest.approx(offered)
    kept = load(tmp_path / "out" / "experiment.toml").raw
    assert kept["workload"]["flows"] == len(PS)
    assert kept["workload"]["arrivals"]["file"] == str(experiment.parent / "arrivals.csv")
    assert describe.workload(kept).startswith("recorded arrivals (file ")
    again = lightloom("run", "experiment.toml", "-o", "again", cwd=tmp_path / "out")
    assert again.returncode == 0, again.stderr
    first, second = (p / "flows.parquet" for p in (tmp_path / "out", tmp_path / "out" / "again"))
    assert first.read_bytes() == second.read_bytes()


def test_fewer_flows_take_the_earliest(experiment: Path, tmp_path: Path) -> None:
    done = lightloom("run", experiment, "-o", "out", "--set", "workload.flows=3", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    flows = pq.read_table(tmp_path / "out" / "flows.parquet")
    assert flows["arrival_ps"].to_pylist() == PS[:3]


@pytest.mark.parametrize(
    ("text", "override", "expected"),
    [
        (
            "arrival_us\n0\n1.5x\n",
            "",
            "line 3, column 1: arrival_us is `1.5x`, not a number from 0 on",
        ),
        ("12\n13\n", "", "line 1, column 1: `12` is not a column; begin with a heading"),
        ("arrival_ns\n0,1\n", "", "line 2, column 3: `1` is a second value, but a line has one"),
        (TIMES, "workload.flows=6", "workload.flows = 6: the file of workload.arrivals has times"),
        (TIMES, "workload.load=0.5", "workload.load = 0.5: has no effect on file arrivals"),
        (TIMES, "workload.arrivals.file=no.csv", 'no.csv": cannot be read'),
        (TIMES, 'workload.arrivals="file"', "workload.arrivals.file = (missing)"),
    ],
)
def test_what_is_wrong_is_refused_by_place(
    text: str, override: str, expected: str, experiment: Path, tmp_path: Path
) -> None:
    write(experiment.parent / "arrivals.csv", text)
    overrides = ("--set", override) if override else ()
    done = lightloom("run", experiment, "-o", "out", *overrides, cwd=tmp_path)
    assert done.returncode == 2
    assert expected in done.stderr
    assert not (tmp_path / "out").exists()
