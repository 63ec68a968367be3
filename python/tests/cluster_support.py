"""A Dask cluster as users start it: a scheduler and workers, which are separate processes that
communicate over TCP. The system selects the ports; processes are ended by their id."""

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

#: Longest wait on a busy machine [s]; waits end as soon as their condition holds.
PATIENCE_S = 120.0
#: An expression for a worker: the number of simulations that it runs. An abandoned simulation
#: counts until it has stopped.
ACTIVE = "[len(w.active_threads) for w in __import__('distributed').worker.Worker._instances][0]"


class Dask:
    """A scheduler with its workers, whose files are in a folder."""

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
        """Whether the scheduler's file exists and is complete; it is empty for a moment."""
        return self.file.is_file() and self.file.read_text().rstrip().endswith("}")

    def worker(self, name: str, **environment: str) -> None:
        """Starts a worker with one thread in its own folder, and waits until it has joined."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        self._start("worker", self.address, *options, name=name, environment=environment)
        until(lambda: "Registered to" in self.log(name), lambda: self.log(name))

    def log(self, name: str) -> str:
        """Returns the output of a process."""
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
        """Ends the processes that were started here."""
        for process in self.processes.values():
            process.kill()
        for process in self.processes.values():
            process.wait(PATIENCE_S)
        for log in self._logs:
            log.close()


@contextmanager
def dask(folder: Path, *workers: str, **environment: str) -> Iterator[Dask]:
    """A scheduler with named workers."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Dask(folder, environment)
    try:
        for name in workers:
            made.worker(name)
        yield made
    finally:
        made.end()


def until(there: Callable[[], Any], why: Callable[[], str] = lambda: "") -> float:
    """Waits until a condition holds; returns the waiting time [s]."""
    begun = time.monotonic()
    while not there():
        assert time.monotonic() < begun + PATIENCE_S, why()
        time.sleep(0.02)
    return time.monotonic() - begun
