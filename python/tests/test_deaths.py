"""Worker processes that die: their points run again, and the point that kills its workers is
reported by name."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_support import SMALL, command, lightloom, write
from policy_support import hybrid
from test_inputs import assert_same

import lightloom as api
from lightloom import ConfigError
from lightloom.simulation import forecasts, trials
from lightloom.simulation.trials import Lost
from lightloom.sweep import Failed, Job, run_jobs
from lightloom.sweep.executors import crew, trying
from lightloom.sweep.executors.jobs import ALLOWED_DEATHS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")

#: Largest time for any step on a busy machine [s].
PATIENCE_S = 120.0
#: A policy that reports its process, and waits until all processes, or this one, may continue.
WAITING = """
import os, time
from pathlib import Path

class Policy:
    def __init__(self, at=""):
        self.at = Path(at)
    def decide(self, demand, switch):
        own = self.at / str(os.getpid())
        own.touch()
        while not ((self.at / "go").exists() or own.with_suffix(".go").exists()):
            time.sleep(0.02)
        return [(0, 1)]
"""
#: A policy that reports its process and then kills it, like a system that is short of memory.
DEADLY = """
import os, signal
from pathlib import Path

class Policy:
    def __init__(self, at="", kills=False, code=0):
        self.at, self.kills, self.code = Path(at), kills, code
    def decide(self, demand, switch):
        with open(self.at / "log", "a") as log:
            log.write("died " if self.kills else "decided ")
        if self.kills and self.code:
            os._exit(self.code)
        if self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        return [(0, 1)]
"""


#: A grid with a policy that kills its process, and one that does not.
DEADLY_GRID = '[grid]\n"fabric.hybrid.policy.kills" = [true, false]\n'
#: Messages about its trial, and about repeated points.
LOST = (
    r"note: the process of the trial of hybrid-kills=True-seed=3-\S+ died \(SIGKILL\): the point "
    "has no estimate and begins last\n"
)
AGAIN = (
    r"note: {}: its process died \({}\); it is tried again when the others are done, with nothing "
    "beside it: try {} of 4\n"
)


def prepared(folder: Path, policy: str, sweep: str = "") -> Path:
    """Writes an experiment with a policy in Python, and a sweep of it."""
    hybrid(folder, policy, f', at = "{folder / "at"}"')
    (folder / "at").mkdir()
    write(folder / "s.toml", 'base = "e.toml"\nflows = true\n', sweep)
    return folder / "at"


def deciding(at: Path, least: int, of: subprocess.Popen[str] | None = None) -> set[str]:
    """Returns the waiting processes of a command when there are at least this many."""
    until = time.monotonic() + PATIENCE_S
    while len(found := {one.name for one in at.iterdir() if one.name.isdecimal()}) < least:
        assert of is None or of.poll() is None
        assert time.monotonic() < until
        time.sleep(0.02)
    return found


def test_a_sweep_outlives_a_worker_that_is_killed(tmp_path: Path) -> None:
    """The worker is killed during a point: all points are completed with the same bytes as without
    the kill, and the death is reported."""
    at = prepared(tmp_path, WAITING, '[grid]\n"workload.load" = [0.2, 0.4, 0.6]\n')
    with subprocess.Popen(
        command("sweep", "s.toml", "-o", "killed", "--workers", "2"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            (trying,) = deciding(at, 1, process)
            (at / f"{trying}.go").touch()
            working = deciding(at, 3, process) - {trying}
            os.kill(int(working.pop()), signal.SIGKILL)
            (at / "go").touch()
            out, errors = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert process.returncode == 0, errors
    assert re.fullmatch(AGAIN.format(r"hybrid-load=0.[246]-\S+", "SIGKILL", 2), errors)
    assert "3 points\n" in out
    assert len(deciding(at, 4)) > 3, "the trials', two workers, and those after the death"
    done = lightloom("sweep", "s.toml", "-o", "whole", "--workers", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = {folder.name for folder in (tmp_path / "whole/points").iterdir()}
    assert names == {folder.name for folder in (tmp_path / "killed/points").iterdir()}
    assert len(names) == 3
    for name in names:
        assert_same(tmp_path / "whole/points" / name, tmp_path / "killed/points" / name)


#: A policy that kills its process once.
ONCE = """
import os, signal
from pathlib import Path

class Policy:
    def __init__(self, at=""):
        self.at = Path(at)
    def decide(self, demand, switch):
        try:
            (self.at / "died").mkdir()
        except FileExistsError:
            return [(0, 1)]
        os.kill(os.getpid(), signal.SIGKILL)
"""
CLAIM = """
title = "Toy"
[[claim]]
id = "goodput"
source = "none"
statement = "Some of it arrives."
command = "lightloom reproduce toy/one"
measures = "goodput"
expect = { at_least = 0.0001 }
exact = "arithmetic"
status = "reproduced"
"""
FIGURE = """
from pathlib import Path
import lightloom
from lightloom.validation.simulate import simulate
from matplotlib.figure import Figure

def measure(quick, workers):
    base = lightloom.load(Path(__file__).parents[1] / "e.toml")
    cases = {seed: (base.with_overrides([f"run.seed={seed}"]), "hybrid") for seed in (1, 2)}
    found = simulate(cases, workers)
    return {"data": [], "claims": {"goodput": found[1]["goodput_normalized"]}}

def figure(data):
    return Figure()
"""


def test_reproduce_says_what_is_tried_again(tmp_path: Path) -> None:
    toy = tmp_path / "toy"
    toy.mkdir()
    prepared(tmp_path, ONCE)
    write(toy / "claims.toml", CLAIM)
    write(toy / "one.py", FIGURE)
    words = ("reproduce", "toy", "-o", "out", "--workers", "2")
    done = lightloom(*words, cwd=tmp_path, LIGHTLOOM_VALIDATION=str(tmp_path))
    assert done.returncode == 0, done.stderr
    begins, again, took = done.stderr.splitlines(keepends=True)
    assert re.fullmatch(AGAIN.format("hybrid, seed [12]", "SIGKILL", 2), again)
    assert (begins[:15], took[:12]) == ("toy/one begins,", "toy/one took")


def test_what_kills_its_worker_each_time_has_failed_and_the_others_go_on(tmp_path: Path) -> None:
    at = prepared(tmp_path, DEADLY, f"repeat = 2\n{DEADLY_GRID}")
    done = lightloom("sweep", "s.toml", "-o", "out", "--workers", "2", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "4 points, 2 failed" in done.stdout
    tried, *lines = done.stderr.splitlines(keepends=True)
    assert re.fullmatch(LOST, tried)
    again = "|".join(AGAIN.format(r"hybrid-kills=True-seed=\S+", "SIGKILL", n) for n in (2, 3, 4))
    assert all(re.fullmatch(again, line) for line in lines[:6]), lines
    failed = [line.rstrip() for line in lines[6:]]
    assert len(failed) == 2
    for line in failed:
        assert line.startswith("failed: hybrid-kills=True-seed=")
        assert "(fabric hybrid): 4 processes" in line
        assert "lack of memory" in line
        assert "(SIGKILL)" in line
    document = json.loads((tmp_path / "out/sweep.json").read_text())["points"]
    assert [("error" in p, p["grid"]["fabric.hybrid.policy.kills"]) for p in document] == [
        *[(True, True)] * 2,
        *[(False, False)] * 2,
    ]
    table = pq.read_table(tmp_path / "out/sweep.parquet").to_pylist()
    assert [row["error"] is None for row in table] == [False, False, True, True]
    assert len(list((tmp_path / "out/points").iterdir())) == 2
    log = (at / "log").read_text().split()
    assert Counter(log)["died"] == 1 + 2 * (ALLOWED_DEATHS + 1), "the trial of both, and each"
    assert log[-2 * ALLOWED_DEATHS :] == ["died"] * (2 * ALLOWED_DEATHS), "alone, at the end"


def test_a_point_that_kills_its_trial_is_not_estimated(tmp_path: Path) -> None:
    """Regression: such a point ended the command before any run.

    Its time does not stand for that of a point without a trial either.
    """
    prepared(tmp_path, DEADLY, f"repeat = 2\n{DEADLY_GRID}")
    done = lightloom("sweep", "s.toml", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0
    assert re.fullmatch(LOST, done.stderr)
    assert done.stdout.startswith("estimate: 4 simulations, 2 ")
    assert "longest point: hybrid-kills=False" in done.stdout


def test_with_one_worker_the_others_are_done_before_it(tmp_path: Path) -> None:
    """The point runs last, and not in the process of the command, even if --resume runs only this
    point."""
    prepared(tmp_path, DEADLY, DEADLY_GRID)
    for options in ((), ("--resume",)):
        done = lightloom("sweep", "s.toml", "-o", "out", "--workers", "1", *options, cwd=tmp_path)
        assert done.returncode == 1
        assert "2 points" in done.stdout
        assert "1 failed" in done.stdout
        assert "failed: hybrid-kills=True" in done.stderr
        (point,) = (tmp_path / "out/points").iterdir()
        assert point.name.startswith("hybrid-kills=False-")


def test_a_trial_says_how_its_process_ended(tmp_path: Path) -> None:
    """The next trial has a new process."""
    prepared(tmp_path, DEADLY)
    base = api.load(tmp_path / "e.toml")
    deadly = base.with_overrides(["fabric.hybrid.policy.kills=true", "fabric.hybrid.policy.code=9"])
    with trying.apart() as tried:
        with pytest.raises(Lost, match="exit code 9"):
            tried(deadly, "hybrid", seconds=0.01)
        assert tried(base, "hybrid", seconds=0.01).flows == 400


def test_what_kills_its_worker_is_passed_over_for_those_not_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = api.load(write(tmp_path / "e.toml", SMALL, '[[fabric]]\nkind = "clos"\n'))
    points = [(base.with_overrides([f"workload.flows={n}"]), "clos") for n in (400, 300, 200)]
    monkeypatch.setattr(forecasts, "POINTS_MOST", 2)
    told: list[tuple[int, str]] = []

    def tried(experiment: api.Experiment, label: str, *, seconds: float) -> trials.Trial:
        if experiment.raw["workload"]["flows"] == 400:
            raise Lost("SIGKILL")
        return trials.tried(experiment, label, seconds=seconds)

    found = forecasts.of_points(points, tried, lambda *lost: told.append(lost))
    assert told == [(0, "SIGKILL")]
    assert [one.unknown for one in found] == [1, 0, 0]
    assert found[1] == found[2]
    assert found[2].memory_bytes > 0
    assert forecasts.one_by_one(found).unknown == 1


def test_without_keep_going_it_is_raised(tmp_path: Path) -> None:
    """The error states the exit code, if this is not that of a lack of memory."""
    prepared(tmp_path, DEADLY)
    base = api.load(tmp_path / "e.toml")
    deadly = base.with_overrides(["fabric.hybrid.policy.kills=true", "fabric.hybrid.policy.code=9"])
    jobs = [Job(one, "hybrid", whole=False) for one in (deadly, base)]
    came: list[int] = []
    with pytest.raises(ConfigError) as raised:
        run_jobs(jobs, 2, lambda index, _: came.append(index))
    said = str(raised.value)
    assert said.startswith("4 processes died")
    assert "(exit code 9)" in said
    assert came == [1]
    lost, kept = run_jobs(jobs, 2, keep_going=True)
    assert isinstance(lost, Failed)
    assert lost.message == str(raised.value)
    assert not isinstance(kept, Failed)


SCRIPT = """
import lightloom as api
from lightloom.sweep import Job, run_jobs
run_jobs([Job(api.load("e.toml").with_overrides([f"run.seed={seed}"]), "clos", whole=False)
          for seed in range(20)], 2)
"""


def test_processes_that_cannot_begin_charge_no_job(tmp_path: Path) -> None:
    """The cause is a script that each process runs again: a few processes are tried, for any number
    of jobs."""
    write(tmp_path / "e.toml", SMALL, '[[fabric]]\nkind = "clos"\n')
    write(tmp_path / "script.py", SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    last = done.stderr.rstrip().splitlines()[-1]
    assert "ConfigError: --workers = 2: " in last
    assert "(exit code 1)" in last
    assert last.endswith('`if __name__ == "__main__":`')
    tries = done.stderr.count("An attempt has been made to start a new process")
    assert ALLOWED_DEATHS < tries <= ALLOWED_DEATHS + 2


class Picky(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


def test_an_exception_that_does_not_travel_says_the_same() -> None:
    back = crew._portable(Picky("this", "that"))
    assert (type(back), str(back)) == (RuntimeError, "Picky: this and that")
    kept = ConfigError("as it is")
    assert crew._portable(kept) is kept


def test_as_many_die_here_as_on_a_cluster() -> None:
    pytest.importorskip("distributed", reason="Dask distributed is not installed")
    import dask

    assert dask.config.get("distributed.scheduler.allowed-failures") == ALLOWED_DEATHS
