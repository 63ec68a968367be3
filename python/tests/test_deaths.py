"""Worker processes that die: their points run again, and what kills each is given up by name."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from cli_support import SMALL, command, lightloom, write
from test_inputs import assert_same

import lightloom as api
from lightloom import ConfigError
from lightloom.sweep import Failed, Job, run_jobs
from lightloom.sweep.executors import crew
from lightloom.sweep.executors.jobs import ALLOWED_DEATHS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")

#: Seconds that a busy machine may take for anything here.
PATIENCE_S = 120.0
#: Says who decides, and waits until it may; not where the command itself tries a point.
WAITING = """
import os, time
from multiprocessing import parent_process
from pathlib import Path

class Policy:
    def __init__(self, at=""):
        self.at = Path(at)
    def decide(self, demand, switch):
        if parent_process() is not None:
            (self.at / str(os.getpid())).touch()
            while not (self.at / "go").exists():
                time.sleep(0.02)
        return [(0, 1)]
"""
#: Ends its process as a system that is short of memory does, and says so before.
DEADLY = """
import os, signal
from multiprocessing import parent_process
from pathlib import Path

class Policy:
    def __init__(self, at="", kills=False, code=0):
        self.at, self.kills, self.code = Path(at), kills, code
    def decide(self, demand, switch):
        if parent_process() is None:
            return [(0, 1)]
        with open(self.at / "log", "a") as log:
            log.write("died " if self.kills else "decided ")
        if self.kills and self.code:
            os._exit(self.code)
        if self.kills:
            os.kill(os.getpid(), signal.SIGKILL)
        return [(0, 1)]
"""
HYBRID = """
[[fabric]]
kind = "hybrid"
interval = "1 ms"
settle = "10 us"
policy = {{ file = "policy.py:Policy", at = "{at}" }}
"""


def prepared(folder: Path, policy: str, sweep: str = "") -> Path:
    """An experiment that a policy in Python decides in, and a sweep of it."""
    write(folder / "policy.py", policy)
    cluster = SMALL.replace('rack_rate = "100 Gb/s"', 'server_rate = "10 Gb/s"')
    write(folder / "e.toml", cluster.replace("20 KB", "2 MB"), HYBRID.format(at=folder / "at"))
    (folder / "at").mkdir()
    write(folder / "s.toml", 'base = "e.toml"\nflows = true\n', sweep)
    return folder / "at"


def test_a_sweep_outlives_a_worker_that_is_killed(tmp_path: Path) -> None:
    """In the middle of a point: all points are done, to the byte as undisturbed."""
    at = prepared(tmp_path, WAITING, '[grid]\n"workload.load" = [0.2, 0.4, 0.6]\n')
    with subprocess.Popen(
        command("sweep", "s.toml", "-o", "killed", "--workers", "2"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            until = time.monotonic() + PATIENCE_S
            while len(workers := list(at.iterdir())) < 2:
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.02)
            os.kill(int(workers[0].name), signal.SIGKILL)
            (at / "go").touch()
            out, errors = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, errors) == (0, ""), out
    assert "3 points\n" in out
    assert len(list(at.iterdir())) > 1 + 2, "two workers, and those after the death"
    done = lightloom("sweep", "s.toml", "-o", "whole", "--workers", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    names = {folder.name for folder in (tmp_path / "whole/points").iterdir()}
    assert names == {folder.name for folder in (tmp_path / "killed/points").iterdir()}
    assert len(names) == 3
    for name in names:
        assert_same(tmp_path / "whole/points" / name, tmp_path / "killed/points" / name)


def test_what_kills_its_worker_each_time_has_failed_and_the_others_go_on(tmp_path: Path) -> None:
    grid = 'repeat = 2\n[grid]\n"fabric.hybrid.policy.kills" = [true, false]\n'
    at = prepared(tmp_path, DEADLY, grid)
    done = lightloom("sweep", "s.toml", "-o", "out", "--workers", "2", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "4 points, 2 failed" in done.stdout
    failed = done.stderr.splitlines()
    assert len(failed) == 2
    for line in failed:
        assert line.startswith("failed: hybrid-kills=True-seed=")
        assert line.endswith(
            " (fabric hybrid): 4 processes died of it, most likely for want of memory, the last of "
            "them (SIGKILL) with nothing beside it; free some, or make it smaller"
        )
    document = json.loads((tmp_path / "out/sweep.json").read_text())["points"]
    assert [("error" in p, p["grid"]["fabric.hybrid.policy.kills"]) for p in document] == [
        *[(True, True)] * 2,
        *[(False, False)] * 2,
    ]
    table = pq.read_table(tmp_path / "out/sweep.parquet").to_pylist()
    assert [row["error"] is None for row in table] == [False, False, True, True]
    assert len(list((tmp_path / "out/points").iterdir())) == 2
    log = (at / "log").read_text().split()
    assert Counter(log)["died"] == 2 * (ALLOWED_DEATHS + 1)
    assert log[-2 * ALLOWED_DEATHS :] == ["died"] * (2 * ALLOWED_DEATHS), "alone, at the end"


def jobs_of(folder: Path, *options: str) -> list[Job]:
    base = api.load(folder / "e.toml")
    each = [base.with_overrides([f"fabric.hybrid.policy.{one}"] if one else []) for one in options]
    return [Job(one, "hybrid", whole=False) for one in each]


def test_without_keep_going_it_is_raised(tmp_path: Path) -> None:
    """By the code that it ended with, where that is none of a want of memory."""
    prepared(tmp_path, DEADLY)
    base = api.load(tmp_path / "e.toml")
    deadly = base.with_overrides(["fabric.hybrid.policy.kills=true", "fabric.hybrid.policy.code=9"])
    jobs = [Job(one, "hybrid", whole=False) for one in (deadly, base)]
    came: list[int] = []
    with pytest.raises(ConfigError) as raised:
        run_jobs(jobs, 2, lambda index, _: came.append(index))
    assert str(raised.value) == (
        "4 processes died of it, the last of them (exit code 9) with nothing beside it; "
        "what it wrote may tell why"
    )
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
    """Of a script that each of them runs once more: a few try, whatever the number of jobs."""
    write(tmp_path / "e.toml", SMALL, '[[fabric]]\nkind = "clos"\n')
    write(tmp_path / "script.py", SCRIPT)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith(
        "ConfigError: --workers = 2: processes end before they begin (exit code 1); use fewer, if "
        'memory is short; a script needs `if __name__ == "__main__":`'
    )
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
