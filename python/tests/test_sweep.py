"""Sweeps: order, errors, resuming, interruption."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cli_support import CLOS, SIRIUS, SMALL, command, lightloom, write
from typer.testing import CliRunner

from lightloom import ConfigError, sweep
from lightloom.cli import app
from lightloom.storage import signals
from lightloom.sweep.executors import process

SWEEP = """
base = "e.toml"
fabrics = ["clos"]
repeat = 2

[grid]
"workload.load" = [0.2, 0.4]
"fabric.clos.oversubscription" = [1, 2]
"""
TIMINGS = ("kernel_s", "wall_s", "peak_rss_bytes")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    return write(tmp_path / "s.toml", SWEEP)


def without_timings(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key not in TIMINGS}


def test_points_come_in_the_order_written_seeds_fastest(study: Path) -> None:
    points = sweep.expand(sweep.read(study))
    taken = [(*point.grid.values(), point.seed) for point in points]
    assert taken == [(a, b, s) for a in (0.2, 0.4) for b in (1, 2) for s in (3, 4)]
    assert len({point.id for point in points}) == 8
    loads = [point.experiment.resolved()["workload"]["load"] for point in points]
    assert loads == [a for a in (0.2, 0.4) for _ in range(4)]


def test_dotted_keys_need_no_quotes(study: Path) -> None:
    quoted = sweep.read(study).grid
    study.write_text(SWEEP.replace('"workload.load"', "workload.load"))
    assert sweep.read(study).grid == quoted


def test_the_table_has_the_grid_and_the_summary_as_columns(study: Path, tmp_path: Path) -> None:
    outcome = sweep.run_sweep(sweep.read(study), tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "sweep.parquet").to_pylist()
    assert [row["workload.load"] for row in table] == [0.2] * 4 + [0.4] * 4
    for row, summary, point in zip(table, outcome.summaries, outcome.points, strict=True):
        assert row["fct.short.p99_us"] == summary["fct"]["short"]["p99_us"]
        assert row["seed"] == point.seed
        folder = tmp_path / "out" / "points" / point.id
        assert json.loads((folder / "summary.json").read_text()) == summary
    document = json.loads((tmp_path / "out" / "sweep.json").read_text())
    assert [p["summary"] for p in document["points"]] == outcome.summaries


def test_processes_change_nothing(study: Path, tmp_path: Path) -> None:
    here = sweep.run_sweep(sweep.read(study), tmp_path / "a", workers=1)
    there = sweep.run_sweep(sweep.read(study), tmp_path / "b", workers=2)
    assert [without_timings(s) for s in here.summaries] == [
        without_timings(s) for s in there.summaries
    ]


def test_resuming_runs_what_is_missing_or_changed(study: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = sweep.run_sweep(sweep.read(study), out)
    again = sweep.run_sweep(sweep.read(study), out, resume=True)
    assert again.reused == 8
    assert again.summaries == first.summaries  # including timings, because nothing was run
    (out / "points" / first.points[5].id / "summary.json").unlink()
    assert sweep.run_sweep(sweep.read(study), out, resume=True).reused == 7
    study.write_text(SWEEP.replace("0.4]", "0.5]"))
    assert sweep.run_sweep(sweep.read(study), out, resume=True).reused == 4
    study.write_text("flows = true\n" + SWEEP)
    kept = sweep.run_sweep(sweep.read(study), out, resume=True)
    assert kept.reused == 0
    assert (out / "points" / kept.points[0].id / "flows.parquet").is_file()


def test_values_of_mixed_types_share_a_column(study: Path, tmp_path: Path) -> None:
    study.write_text(
        'base = "e.toml"\nfabrics = ["clos"]\n[grid]\n'
        '"workload.sizes" = ["rpc", { kind = "fixed", size = "2 KB" }]\n'
    )
    sweep.run_sweep(sweep.read(study), tmp_path / "out")
    column = pq.read_table(tmp_path / "out" / "sweep.parquet")["workload.sizes"].to_pylist()
    assert column == ["rpc", '{"kind": "fixed", "size": "2 KB"}']


BAD = {
    "typo": ("bass = 1\n" + SWEEP, 'bass = 1: no such key; did you mean "base"?'),
    "no base": (SWEEP.replace('base = "e.toml"', ""), "base = (missing): required; add it"),
    "lost base": (SWEEP.replace("e.toml", "f.toml"), "no such file; name an experiment file"),
    "no grid": (SWEEP.partition("[grid]")[0], "grid = (missing): required"),
    "empty": (SWEEP.replace("[0.2, 0.4]", "[]"), "no values for workload.load"),
    "no list": (SWEEP.replace("[0.2, 0.4]", "0.2"), "grid.workload.load = 0.2: "),
    "repeat": (SWEEP.replace("repeat = 2", "repeat = 0"), "repeat = 0: "),
    "label": (SWEEP.replace('["clos"]', '["close"]'), "fabrics = close: no such label"),
    "value": (SWEEP.replace("0.4]", "-1]"), "workload.load = -1"),
    "size": (SWEEP.replace("repeat = 2", "repeat = 10_000").replace("1, 2", "1, 2, 3, 4, 5, 6"),
             "at most 100000; vary fewer keys"),
    "twice": (SWEEP.replace("[0.2, 0.4]", "[0.2, 0.2]"),
              "grid.workload.load = 0.2: is there twice; leave one out"),
    "seeds": (SWEEP + '"run.seed" = [1, 2]\n',
              "grid.run.seed = [1, 2]: with repeat = 2 seed 2 is there twice; leave out repeat"),
    "syntax": ("base = \n", "s.toml:1:8: "),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_sweep_is_refused_before_anything_runs(
    case: str, study: Path, tmp_path: Path
) -> None:
    text, expected = BAD[case]
    study.write_text(text)
    with pytest.raises(ConfigError) as refused:
        sweep.run_sweep(sweep.read(study), tmp_path / "out")
    assert expected in str(refused.value)
    assert not (tmp_path / "out").exists()


def test_the_command_prints_a_table_and_the_paths(study: Path, tmp_path: Path) -> None:
    done = lightloom("sweep", "s.toml", "-o", "out", "--workers", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "out/sweep.parquet" in done.stdout
    assert "0.4" in done.stdout
    missing = lightloom("sweep", "t.toml", cwd=tmp_path)
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "there are e.toml, s.toml" in missing.stderr


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows cannot hold signals")
def test_ctrl_c_waits_until_the_workers_are_started() -> None:
    seen = []

    def start() -> None:
        with process.started():
            signal.raise_signal(signal.SIGINT)
            seen.append("started")

    with pytest.raises(KeyboardInterrupt):
        start()
    assert seen == ["started"]


def test_an_interrupted_sweep_keeps_whole_points(study: Path, tmp_path: Path) -> None:
    loads = ", ".join(f"{0.2 + i / 1000}" for i in range(200))
    study.write_text(SWEEP.replace("0.2, 0.4", loads))
    points = tmp_path / "out" / "points"
    with subprocess.Popen(
        command("sweep", "s.toml", "-o", "out", "--workers", "2"),
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            begun = time.monotonic()
            while not points.is_dir() or len(list(points.iterdir())) < 4:
                assert process.poll() is None
                assert time.monotonic() < begun + 120
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=60)
        finally:
            process.kill()  # otherwise leaving would wait for this process
    assert process.returncode == 130, errors
    stay = "points that are done stay in out/points, and --resume goes on from there"
    assert errors == f"interrupted: {stay}\n"
    assert not (tmp_path / "out" / "sweep.parquet").exists()
    left = list(points.iterdir())
    assert 4 <= len(left) < 800
    for folder in left:
        assert not folder.name.startswith(".")
        assert json.loads((folder / "summary.json").read_text())["label"] == "clos"


def test_a_sweep_that_goes_on_says_what_stays_before_it_has_done_more(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def struck(*given: object) -> None:
        raise signals.Ended

    sweep.run_sweep(sweep.read(study), tmp_path / "out")
    assert signals._State.left == signals.LEFT_NOTHING, "it is whole"
    monkeypatch.setattr("lightloom.simulation.forecasts.of_points", struck)
    monkeypatch.setattr(signals._State, "left", signals.LEFT_NOTHING)
    monkeypatch.chdir(tmp_path)
    for options, said in (
        ((), "nothing unfinished was written"),
        (("--resume",), "points that are done stay in out/points, and --resume goes on from there"),
    ):
        done = CliRunner().invoke(app, ["sweep", "s.toml", "-o", "out", *options])
        assert (done.exit_code, done.stderr) == (130, f"interrupted: {said}\n")


def test_the_table_has_the_columns_of_every_fabric(study: Path, tmp_path: Path) -> None:
    study.write_text(
        SWEEP.split("[grid]")[0].replace('["clos"]', '["clos", "sirius"]')
        + '[grid]\n"workload.load" = [0.2]\n'
    )
    sweep.run_sweep(sweep.read(study), tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "sweep.parquet").to_pylist()
    epochs = {row["fabric"]: row["derived.epoch_slots"] for row in table}
    assert epochs == {"clos": None, "sirius": 4}
