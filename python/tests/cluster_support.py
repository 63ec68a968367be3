"""A cluster of Dask as its users start it: a scheduler and workers, each a process of its own
that talks over TCP. Ports are chosen by the system, processes ended by their id."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

pytest.importorskip("distributed", reason="Dask distributed is not installed")

#: Seconds that anything may take on a busy machine; waits end as soon as it is there.
PATIENCE_S = 120.0
#: What says, in a worker, how many simulations it runs; a simulation given up counts until it
#: has really stopped.
ACTIVE = "[len(w.active_threads) for w in __import__('distributed').worker.Worker._instances][0]"


class Dask:
    """A scheduler with its workers, below a folder."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self._environment = folder, environment
        self.file = folder / "scheduler.json"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: list[IO[bytes]] = []
        options = ("--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0")
        self._start("scheduler", *options, "--scheduler-file", str(self.file))
        until(self._is_told, lambda: self.log("scheduler"))
        self.address: str = json.loads(self.file.read_text())["address"]

    def _is_told(self) -> bool:
        """Whether the scheduler's file is there and whole: it is empty for a moment."""
        return self.file.is_file() and self.file.read_text().rstrip().endswith("}")

    def worker(self, name: str, **environment: str) -> None:
        """Starts a worker of one thread in a folder of its own, and waits until it is there."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        self._start("worker", self.address, *options, name=name, environment=environment)
        until(lambda: "Registered to" in self.log(name), lambda: self.log(name))

    def log(self, name: str) -> str:
        """What a process has said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def _start(
        self, role: str, *options: str, name: str = "", environment: dict[str, str] | None = None
    ) -> None:
        name = name or role
        place = self.folder / name
        place.mkdir(parents=True)
        log = (self.folder / f"{name}.log").open("wb")
        self._logs.append(log)
        self.processes[name] = subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{role}", *options],
            cwd=place,
            env={**os.environ, **self._environment, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )

    def end(self) -> None:
        """Ends all processes: no more than were started here."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait(PATIENCE_S)
        for log in self._logs:
            log.close()


@contextmanager
def dask(folder: Path, *workers: str, **environment: str) -> Iterator[Dask]:
    """A scheduler and so many workers."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Dask(folder, environment)
    try:
        for name in workers:
            made.worker(name)
        yield made
    finally:
        made.end()


def until(there: Callable[[], Any], why: Callable[[], str] = lambda: "") -> float:
    """Waits until something is there; returns how long that took [s]."""
    begun = time.monotonic()
    while not there():
        assert time.monotonic() < begun + PATIENCE_S, why()
        time.sleep(0.02)
    return time.monotonic() - begun
