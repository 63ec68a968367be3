"""Runs simulations in parallel threads.

The simulations release the interpreter's lock, so no data has to be sent between processes. Runs
with several seeds run in parallel, as many as processors and memory allow.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lightloom.config.experiment import Experiment
from lightloom.simulation import interrupts
from lightloom.simulation.machine import memory, processors
from lightloom.simulation.trials import tried

if TYPE_CHECKING:
    from lightloom.results.result import Result

Tell = Callable[[str, float, float, float], object]


class Run(Protocol):
    """A function with the arguments of `lightloom.run`."""

    def __call__(
        self,
        experiment: Experiment,
        fabric: str | None = None,
        *,
        threads: int = 1,
        progress: Tell | None = None,
    ) -> Result:
        """Simulates one fabric."""


class Place(Protocol):
    """A place outside this process where simulations run, such as a cluster."""

    @property
    def at_once(self) -> int:
        """Number of simulations that run in parallel on a worker."""

    @property
    def simulate(self) -> Run:
        """A function like `lightloom.run` that simulates there."""


@dataclass(frozen=True)
class Task:
    """Simulations that run one after another."""

    name: str
    do: Callable[[Tell], Any]


def run_seeds(
    seeds: Sequence[Experiment], label: str, run: Run, threads: int, progress: Tell | None
) -> list[Result]:
    """The results of a fabric in experiments that differ in their seeds."""
    if len(seeds) == 1:
        return [run(seeds[0], label, threads=threads, progress=progress)]
    results: dict[int, Result] = {}

    def task(place: int, seeded: Experiment) -> Task:
        def do(heed: Tell) -> None:
            results[place] = run(seeded, label, threads=threads, progress=heed)

        return Task(prefix(seeded, False, True) + label, do)

    tasks = [task(place, seeded) for place, seeded in enumerate(seeds)]
    run_all(tasks, side_by_side([seeds[0].only(label)], threads), progress)
    return [results[place] for place in range(len(seeds))]


def side_by_side(repeated: Sequence[Experiment], threads: int, place: Place | None = None) -> int:
    """Returns the number of simulations with that many threads that run in parallel: enough to keep
    the processors busy; for repeated experiments, at most as many as fit into free memory. At a
    `place`, one more is queued for each that runs, so that the place does not wait for this
    machine."""
    if place is not None:
        return 2 * place.at_once
    workers = max(1, processors() // threads)
    free = memory() if workers > 1 and repeated else None
    if free is None:
        return workers
    needs = [
        tried(experiment, label, seconds=0.0, threads=threads).memory_bytes
        for experiment in repeated
        for label in experiment.labels
    ]
    return max(1, min(workers, free // max(*needs, 1)))


def prefix(experiment: Experiment, case: bool, seeded: bool) -> str:
    """The prefix that distinguishes a simulation from those of other cases and seeds."""
    parts = [experiment.name] if case else []
    parts += [f"seed {experiment.raw['run']['seed']}"] if seeded else []
    return "".join(f"{part}: " for part in parts)


def run_all(tasks: Sequence[Task], workers: int, progress: Tell | None) -> None:
    """Runs all tasks, at most `workers` at a time."""
    stopped = threading.Event()

    def heed(label: str, now_s: float, end_s: float, delivered: float, /) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt

    with interrupts.noted() as ctrl_c, ThreadPoolExecutor(workers) as pool:
        pending: dict[Future[Any], Task] = {pool.submit(t.do, heed): t for t in tasks}
        try:
            while pending:
                for future in ctrl_c.finished(pending):
                    task = pending.pop(future)
                    future.result()
                    if progress is not None:
                        progress(task.name, 1.0, 1.0, 1.0)
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
