"""Ctrl-C while executors work: it is recorded, and raised where no lock is held."""

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lightloom import load
from lightloom.simulation import interrupts
from lightloom.sweep.executors import local as pool

TINY = {
    "cluster": {"racks": 2, "servers_per_rack": 2, "rack_rate": "20 Gb/s"},
    "workload": {"load": 0.5, "flows": 20, "sizes": {"kind": "fixed", "size": "2 KB"}},
    "fabric": [{"kind": "clos"}],
}


def strike(after: list[str], heed: bool) -> None:
    with interrupts.noted() as ctrl_c:
        signal.raise_signal(signal.SIGINT)
        after.append("struck")
        if heed:
            ctrl_c.heed()
            after.append("heeded")


def test_it_is_raised_where_it_is_heeded_and_not_where_it_strikes() -> None:
    after: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        strike(after, heed=True)
    assert after == ["struck"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_is_raised_at_the_end_if_nobody_heeds_it() -> None:
    after: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        strike(after, heed=False)
    assert after == ["struck"]


def test_handlers_of_others_and_other_threads_are_left_alone() -> None:
    seen = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with interrupts.noted() as ctrl_c:
            signal.raise_signal(signal.SIGINT)
            ctrl_c.heed()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [signal.SIGINT]

    def elsewhere() -> bool:
        with interrupts.noted() as ctrl_c:
            return ctrl_c.pressed

    with ThreadPoolExecutor(1) as executor:
        assert executor.submit(elsewhere).result() is False


def test_a_sweep_that_is_interrupted_amid_its_bookkeeping_ends(tmp_path: Path) -> None:
    """Regression: the command hung, because the interrupt came while a future's lock was held, for
    which the pool's own thread then waited forever."""
    whole = []

    def done(index: int, summary: pool.Summary) -> None:
        signal.raise_signal(signal.SIGINT)
        whole.append(index)

    jobs = [pool.Job(load(TINY), "clos") for _ in range(40)]
    with pytest.raises(KeyboardInterrupt):
        pool.run_jobs(jobs, 2, done)
    assert whole
    assert len(whole) < len(jobs)


INTERRUPTED_LOADING = """
import os, signal
import lightloom
from numpy.lib import NumpyVersion

begin = NumpyVersion.__init__

def strike(self, version):  # the core asks for the version when it loads NumPy
    NumpyVersion.__init__ = begin
    os.kill(os.getpid(), signal.SIGINT)
    begin(self, version)

NumpyVersion.__init__ = strike
experiment = {
    "cluster": {"racks": 2, "servers_per_rack": 1, "rack_rate": "10 Gb/s"},
    "workload": {
        "pattern": "permutation",
        "arrivals": "at-once",
        "sizes": {"kind": "fixed", "size": "1 KB"},
        "flows": 2,
    },
    "fabric": [{"kind": "clos"}],
}
try:
    lightloom.run(experiment)
except KeyboardInterrupt:
    print("interrupted", lightloom.run(experiment).flows.num_rows)
"""


def test_ctrl_c_while_the_core_loads_numpy_ends_the_run_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_LOADING], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted 2\n", done.stderr
