"""Jobs and circuits: output, files and errors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_support import ROOT
from cli_support import lightloom as cli
from typer.testing import CliRunner

import lightloom
from lightloom.cli import app
from lightloom.cli.jobs import job_tables, update_tables
from lightloom.results.tables import circuit_table
from lightloom.units import formats

JOBS = """
[cluster]
racks = 8
servers_per_rack = 2
server_rate = "100 Gb/s"
nic = "100 Gb/s"

[workload]
jobs = [
  { kind = "all-reduce", name = "[gradients]", bytes = "100 KB", hosts = 4 },
  { kind = "gridmix", jobs = 5, uncompressed = "100 KB", compressed = "50 KB" },
]

[[fabric]]
kind = "sirius"
uplinks = 8

[[fabric]]
kind = "clos"
"""


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("jobs") / "jobs.toml"
    path.write_text(JOBS, encoding="utf-8")
    return path


def test_compare_prints_how_long_each_job_took(experiment: Path) -> None:
    done = cli(
        "compare", "--verbose", experiment, "-o", experiment.parent / "out", cwd=experiment.parent
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("job "))
    assert lines[head].split() == ["job", "sirius", "clos"]
    comparison = json.loads((experiment.parent / "out" / "comparison.json").read_text())
    took = [comparison[label]["jobs"]["[gradients]"]["seconds"] for label in ("sirius", "clos")]
    assert lines[head + 1].split("  ")[0] == "[gradients]"
    assert all(formats.seconds(s) in lines[head + 1] for s in took)
    # The members of the mix are only in the summary.
    assert lines[head + 2].startswith("gridmix ")
    assert "gridmix/" not in done.stdout
    assert len(comparison["clos"]["jobs"]) == 7


def test_run_prints_job_times_and_those_that_are_not_done(experiment: Path) -> None:
    done = CliRunner().invoke(
        app, ["run", str(experiment), "--fabric", "clos", "-o", str(experiment.parent / "one")]
    )
    assert "job [gradients]" in done.stdout
    part = lightloom.run(lightloom.load(experiment, ["run.limit=10 us"]), "clos")
    (table,) = job_tables({"clos": part.summary}, 80)
    assert list(table.columns[1].cells) == ["unfinished", "not begun"]
    # Flows that depend on undelivered flows never arrived.
    assert part.flows["arrival_ps"].null_count > 0
    assert part.summary["flows_offered"] < part.flows.num_rows


def test_groups_and_a_resolved_experiment_that_runs_again(experiment: Path) -> None:
    result = lightloom.run(experiment, "clos")
    groups = set(result.flows["group"].to_pylist())
    assert "[gradients]" in groups
    assert sum(group.startswith("gridmix/") for group in groups) == 5
    again = lightloom.run(result.experiment)
    assert again.flows.equals(result.flows)
    assert result.experiment["run"]["limit"] == "100000 s"


def test_of_very_many_groups_a_few_are_shown() -> None:
    jobs = {f"g{i}": {"start_s": 0.0, "finish_s": 1.0, "seconds": 1.0} for i in range(1000)}
    table, more = job_tables({"clos": {"jobs": jobs}}, 80)
    assert len(list(table.columns[0].cells)) == 20
    assert more.startswith("980 more")


def test_no_table_without_jobs() -> None:
    assert list(job_tables({"clos": {"jobs": {}}}, 80)) == []
    assert list(job_tables({}, 80)) == []
    assert list(update_tables({"clos": {"updates": {}}}, 80)) == []


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ('workload.jobs=["srot"]', 'workload.jobs[0] = "srot": must be one of'),
        ("workload.jobs.0.hosts=17", "workload.jobs[0].hosts = 17: the cluster has 16 servers"),
        ('workload.jobs.0.bytes="0 B"', "workload.jobs[0].bytes = 0 B: must be at least 4 B"),
        ("workload.load=0.5", "workload.load = (set): jobs define the flows"),
        ('run.stop="last-arrival"', 'run.stop = "last-arrival": flows of jobs arrive'),
    ],
)
def test_refusals(override: str, message: str, experiment: Path) -> None:
    with pytest.raises(lightloom.ConfigError) as refused:
        lightloom.run(lightloom.load(experiment, [override]), "clos")
    assert str(refused.value).startswith(message)


def test_every_job_is_listed_and_explained() -> None:
    def call(*arguments: str) -> str:
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "80"}).stdout

    kinds = ["vm-migration", "sort", "gridmix", "fft", "all-reduce", "pipeline"]
    listed = call("workloads")
    for kind in [*kinds, "all-to-all-collective"]:
        assert kind in listed
        assert call("explain", f"workload.jobs.{kind}").startswith(f"workload.jobs.{kind}")
    assert "c-Through §6.1" in call("explain", "vm-migration")
    assert '"halving-doubling"' in call("explain", "workload.jobs.all-reduce.algorithm")
    assert "Hadoop's default: 2" in call("explain", "workload.jobs.sort.hadoop.map_slots")


def circuits() -> dict[str, Any]:
    return {
        "a": np.array([0, 1], np.uint32),
        "b": np.array([3, 2], np.uint32),
        "plane": np.array([0, 0], np.uint16),
        "from_ps": np.array([10, 10]),
        "until_ps": np.array([500, 600]),
    }


def test_circuits_are_kept_where_there_are_any(experiment: Path, tmp_path: Path) -> None:
    plain = lightloom.run(experiment, "clos")
    assert plain.circuits is None
    assert plain.summary["circuit_share"] is None
    lit = replace(plain, circuits=circuit_table(circuits(), plain.experiment))
    loaded = lightloom.Result.load(lit.save(tmp_path))
    assert loaded.circuits is not None
    assert loaded.circuits.equals(lit.circuits)
    assert loaded.circuits.schema.types == ["uint32", "uint32", "uint16", "int64", "int64"]
    # Another result in the same folder does not have them.
    assert lightloom.Result.load(plain.save(tmp_path)).circuits is None
    assert not (tmp_path / "circuits.parquet").exists()


def test_the_example_of_a_ring_is_lit_from_the_start() -> None:
    """40 GB around a ring of 512 accelerators of 800 Gb/s: 2 × 511 ÷ 512 × 40 GB at 100 GB/s, on
    MEMS switches as on a Clos. Regression: the circuits were dark for the first 110 ms."""
    comparison = lightloom.compare(ROOT / "examples" / "ai-cluster.toml")
    ideal = 2 * 511 / 512 * 40 / 100
    for label, result in comparison.results.items():
        assert result.summary["jobs"]["ring"]["seconds"] == pytest.approx(ideal, rel=1e-3), label
