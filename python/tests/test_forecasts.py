"""Forecasts of time and memory before a run, against the measured values."""

import json
import math
import sys
from pathlib import Path

import pytest
from cli_support import CLOS, ROOT, SIRIUS, SMALL, lightloom, write

import lightloom as ll
from lightloom.cli import forecast as told
from lightloom.simulation import forecasts, trials
from lightloom.simulation.forecasts import COMMAND_BYTES, WORKER_BYTES, Forecast
from lightloom.simulation.trials import Reached, Trial
from lightloom.units import formats

EXAMPLES = ROOT / "examples"


def piece(**changes: object) -> Trial:
    """Returns a trial with 1,000 B: 50 B after 0.4 s, at 1 s of simulated time; 250 B after 0.5 s,
    at 2 s."""
    made = {
        "flows": 10,
        "bytes": 1_000,
        "memory_bytes": 64,
        "prepared_s": 1.0,
        "early": Reached(0.4, 1.0, 50),
        "whole": Reached(0.5, 2.0, 250),
        "end_s": None,
        "hops": 20,
        "finished": False,
    }
    return Trial(**{**made, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "seconds", "hops"),
    [
        ({"finished": True}, 1.5, 20.0),
        # 750 B remain, at 0.1 s for 200 B.
        ({}, 1.5 + 0.375, 80.0),
        # By time, 60 s remain, at 0.1 s for 1 s.
        ({"end_s": 62.0, "measured": True}, 1.5 + 6.0, 20.0 * 31),
        ({"end_s": 62.0}, 1.5 + 0.1 * (3.75 * 60) ** 0.5, 20 * (1 + (3 * 30) ** 0.5)),
        # By bytes, 950 B remain at 0.5 s for 50 B, which is 19 times the trial; by time once the
        # trial: the forecast is 4 times. If the whole trial was the beginning, all of it is used:
        # 0.5 s for 250 B.
        ({"early": Reached(0.5, 2.0, 250)}, 1.5 + 1.5, 80.0),
        ({"whole": Reached(0.5, 2.0, 50), "end_s": 4.0}, 1.5 + 0.2, 20 * (1 + 4**0.5)),
    ],
)
def test_a_piece_is_carried_on_to_the_whole(
    changes: dict[str, object], seconds: float, hops: float
) -> None:
    found = forecasts.of_trial(piece(**changes))
    written = 10 * forecasts.WRITTEN_S
    assert found.seconds == pytest.approx(seconds + written)
    assert found.hops == pytest.approx(hops)


#: In closed loops, later jobs differ from the first ones.
@pytest.mark.parametrize(
    ("example", "label", "factor"),
    [
        ("sirius.toml", "sirius", 1.5),
        ("clos.toml", "clos", 2.0),
        ("failures.toml", "sirius", 1.5),
        ("lions.toml", "dlb", 1.1),
        ("lions.toml", "butterfly-basic", 1.2),
        ("collectives.toml", "clos", 3.0),
    ],
)
def test_hops_are_foretold(example: str, label: str, factor: float) -> None:
    overrides = {"sirius.toml": ["workload.flows=20000"], "clos.toml": ["run.repeat=1"]}.get(
        example, []
    )
    case = ll.load(EXAMPLES / example, overrides).cases()[0]
    found = forecasts.of_runs([(case, label)]).hops
    summary = ll.run(case, label).summary
    counted = summary["cell_hops"] or summary["packet_hops"]
    assert found is not None
    assert counted / factor < found < counted * factor


def test_what_takes_long_is_tried_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first trial of 0.1 s forecasts 100 s, because memory is touched for the first time.

    The second trial has 2 s, 5 % of this but not more than AGAIN_S, and forecasts 5 s: the ratio of
    20 is the uncertainty of the forecast. If both agree, it is a factor of 2.
    """
    asked: list[float] = []

    def trial(rate: float) -> Trial:
        busy = 0.1
        reached = Reached(busy, 1.0, round(1_000 * busy / rate))
        return piece(prepared_s=0.0, early=Reached(busy, 1.0, 0), whole=reached)

    costs = iter([100.0, 5.0, 100.0, 100.0])

    def once(*_: object, seconds: float, threads: int = 1) -> Trial:
        asked.append(seconds)
        return trial(next(costs))

    monkeypatch.setattr(forecasts, "tried", once)
    found = forecasts.twice_tried(ll.load({}), "x", seconds=0.1)
    assert asked == [0.1, 2.0]
    assert found.seconds == pytest.approx(5.0 + 10 * forecasts.WRITTEN_S)
    assert found.within == pytest.approx(20.0, rel=1e-5)
    assert forecasts.twice_tried(ll.load({}), "x", seconds=0.1).within == 2.0
    assert found.and_(Forecast(1, 1.0, 1.0, 0, None)).within == found.within


def test_all_that_a_comparison_runs_is_counted(tmp_path: Path) -> None:
    loads = "\n[compare]\nloads = [0.2, 0.5, 0.8]\n"
    repeated = SMALL.replace("seed = 3", "seed = 3\nrepeat = 5")
    plain = ll.load(write(tmp_path / "a.toml", SMALL, SIRIUS, CLOS))
    # The load of the experiment itself, 0.5, does not run again.
    curve = ll.load(write(tmp_path / "b.toml", SMALL, loads, SIRIUS, CLOS))
    seeds = ll.load(write(tmp_path / "c.toml", repeated, loads, SIRIUS, CLOS))
    counts = [forecasts.of_comparisons([e]).simulations for e in (plain, curve, seeds)]
    assert counts == [2, 6, 30]
    assert forecasts.of_runs([(seeds, "clos")]).simulations == 5


def test_the_longest_simulation_bounds_the_time_of_many_processors() -> None:
    some = Forecast(4, 40.0, 25.0, 100, 10.0)
    assert [some.wall_s(workers) for workers in (1, 2, 8)] == [40.0, 25.0, 25.0]
    both = some.and_(Forecast(1, 2.0, 2.0, 300, None))
    assert both == Forecast(5, 42.0, 25.0, 300, None)


def test_a_dry_run_says_and_writes_nothing(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    write(tmp_path / "s.toml", 'base = "e.toml"\nrepeat = 3\n[grid]\nworkload.load = [0.2, 0.4]\n')
    before = sorted(tmp_path.rglob("*"))
    for arguments, count in (
        (("run", "e.toml", "--fabric", "clos"), 1),
        (("compare", "e.toml"), 2),
        (("sweep", "s.toml"), 12),
    ):
        done = lightloom(*arguments, "--dry-run", cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(f"estimate: {count} simulation")
        assert "under 1 s" in done.stdout
    found = json.loads(lightloom("compare", "e.toml", "--dry-run", "--json", cwd=tmp_path).stdout)
    assert found["simulations"] == 2
    ratio = found["seconds_most"] / found["seconds_least"]
    assert ratio >= forecasts.WITHIN_TWICE**2 - 1e-9
    assert sorted(tmp_path.rglob("*")) == before
    styles = ("--figures", "slide,ieee-column", "--physics", "ideal,realistic")
    for options, on_top in (
        ((), "; report comes on top, about 2 s\n"),
        (styles, "; report and figures come on top, about 19 s\n"),
    ):
        told = lightloom("compare", "e.toml", "--dry-run", *options, cwd=tmp_path).stdout
        assert on_top in told, told
    refused = lightloom("run", "e.toml", "--fabric", "c", "--dry-run", cwd=tmp_path)
    assert refused.returncode == 2


def test_what_takes_long_is_announced_before_it_begins(capsys: pytest.CaptureFixture[str]) -> None:
    told.before(lambda: Forecast(3, 240.0, 100.0, 2_000_000_000, 5e9), 2)
    parts = capsys.readouterr().err.rstrip("\n").split("; ")
    assert [parts[0], parts[-1]] == ["estimate: 3 simulations", "5 G hops"]
    assert parts[1].startswith("2 min (60 s to")
    assert "4 min), 2 " in parts[1]
    assert " 4.20 GB " in parts[2]
    told.before(lambda: Forecast(3, 29.0, 10.0, 2_000, None), 1)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="measured there")
@pytest.mark.parametrize(
    ("flows", "within"), [(400, 1.6), pytest.param(400_000, 2.5, marks=pytest.mark.long)]
)
def test_workers_take_the_memory_that_is_foretold(
    tmp_path: Path, flows: int, within: float
) -> None:
    """Two processes at the same time need at most the forecast memory, and at least a part of it.

    Memory is measured before results are written, so that the smallest runs need less than the
    forecast for Python.
    """
    write(tmp_path / "e.toml", SMALL, CLOS)
    write(tmp_path / "s.toml", 'base = "e.toml"\n[grid]\n"run.seed" = [1, 2]\n')
    asked = ("sweep", "s.toml", "--set", f"workload.flows={flows}", "--workers", "2")
    told = lightloom(*asked, "--dry-run", cwd=tmp_path)
    base = ll.load(tmp_path / "e.toml", [f"workload.flows={flows}"])
    core = trials.tried(base, "clos", seconds=0.0).memory_bytes
    foretold = 2 * (core + WORKER_BYTES)
    assert f"{formats.size(foretold + COMMAND_BYTES)} of memory" in told.stdout, told
    done = lightloom(*asked, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    peaks = [
        json.loads(file.read_text())["peak_rss_bytes"]
        for file in (tmp_path / "out/points").glob("*/summary.json")
    ]
    assert len(peaks) == 2
    print(f"{sum(peaks) / 1e6:.0f} MB of {foretold / 1e6:.0f} MB")
    assert foretold / within < sum(peaks) < foretold


def test_a_trial_of_no_time_knows_the_memory(tmp_path: Path) -> None:
    experiment = ll.load(write(tmp_path / "e.toml", SMALL, CLOS))
    found = trials.tried(experiment, "clos", seconds=0.0)
    assert found.flows == 400
    assert found.memory_bytes >= 400 * 58


def test_what_delivers_nothing_in_its_trial_is_said_not_to_be_estimated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Regression: the output was "inf days (inf days to inf days) … nan hops", and a traceback with
    --json."""
    endless = Forecast(3, math.inf, math.inf, 2_000, math.nan)
    assert told.line(endless, 2).startswith("3 simulations; the time")
    told.instead(lambda: endless, 2, json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["seconds"] is None
    assert found["hops"] is None
    assert found["memory_bytes"] == 4_000 + COMMAND_BYTES
    told.before(lambda: endless, 2)
    assert "cannot be estimated" in capsys.readouterr().err
