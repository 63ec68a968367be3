#!/usr/bin/env python3
"""Compares a grid of 64 points of at least a second on one Dask worker and on two, which must need
at most 0.6 of the time.

    python benches/workers.py                  prints the seconds, the load, and their ratio
    python benches/workers.py --rounds 3       one and two workers in turns; the best of each counts

The script starts a scheduler and the workers on loopback, and ends them. It needs two cores without
other load; the load averages before and after are printed. Exits with 1 if two workers take more
than 0.6 of the time of one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

POINTS = 64
MOST = 0.6
BASE = """
[cluster]
racks = 32
servers_per_rack = 8
server_rate = "10 Gb/s"

[workload]
load = 0.5
flows = FLOWS
sizes = { kind = "fixed", size = "20 KB" }

[[fabric]]
kind = "clos"
"""
SWEEP = 'base = "base.toml"\n[grid]\n"run.seed" = [SEEDS]\n'


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Path]:
    """Starts a scheduler and workers with one thread each; returns the file that names the
    scheduler."""
    file = folder / "scheduler.json"
    local = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0")
    begun = [start(folder, "scheduler", *local, "--scheduler-file", str(file))]
    try:
        wait_until(file.exists)
        for number in range(workers):
            options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", str(number))
            begun.append(start(folder, "worker", "--scheduler-file", str(file), *options))
        log = folder / "worker.log"
        wait_until(lambda: log.read_text().count("Registered to") >= workers)
        yield file
    finally:
        for process in begun:
            process.kill()
        for process in begun:
            process.wait()


def start(folder: Path, role: str, *options: str) -> subprocess.Popen[bytes]:
    """Starts a part of Dask."""
    with (folder / f"{role}.log").open("ab") as log:
        command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *options]
        return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)


def wait_until(there: Callable[[], bool], patience_s: float = 120.0) -> None:
    """Waits until a condition holds."""
    begun = time.monotonic()
    while not there():
        if time.monotonic() > begun + patience_s:
            raise SystemExit("the cluster does not start; is the extra [cluster] installed?")
        time.sleep(0.05)


def measured(workers: int, flows: int) -> tuple[float, list[float]]:
    """Returns the elapsed time of the whole sweep and of each simulation [s]."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "base.toml").write_text(BASE.replace("FLOWS", str(flows)))
        seeds = ", ".join(map(str, range(1, POINTS + 1)))
        (folder / "sweep.toml").write_text(SWEEP.replace("SEEDS", seeds))
        with cluster(folder, workers) as file:
            sweep = ["sweep", "sweep.toml", "-o", "out", "--scheduler-file", str(file)]
            begun = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-m", "lightloom", *sweep],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
            seconds = time.monotonic() - begun
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        summaries = (folder / "out" / "points").glob("*/summary.json")
        points = [json.loads(file.read_text())["wall_s"] for file in summaries]
    if len(points) != POINTS:
        raise SystemExit(f"{len(points)} points of {POINTS}")
    return seconds, points


def main() -> int:
    """Measures one and two workers in turns."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--rounds", type=int, default=1)
    asked.add_argument("--flows", type=int, default=400_000, help="of each point")
    given = asked.parse_args()
    best: dict[int, float] = {}
    for _ in range(given.rounds):
        for workers in (1, 2):
            before = os.getloadavg()[0]
            seconds, points = measured(workers, given.flows)
            best[workers] = min(seconds, best.get(workers, seconds))
            figures = {
                "workers": workers,
                "seconds": round(seconds, 1),
                "shortest_point_s": round(min(points), 2),
                "median_point_s": round(statistics.median(points), 2),
                "load_before": round(before, 2),
                "load_after": round(os.getloadavg()[0], 2),
            }
            print(json.dumps(figures), flush=True)
    ratio = best[2] / best[1]
    print(f"two workers take {ratio:.3f} of the time of one; at most {MOST} is asked")
    return 0 if ratio <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
