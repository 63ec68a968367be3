"""Comparisons: a run of every fabric, a run at each load, and the saturation search.

The simulations run in parallel threads. They release the interpreter's lock, so no data has to be
sent between processes. A comparison without cases first runs its fabrics one after another, because
they may be large; cases are many and small. Repeated runs also run in parallel, as far as memory
allows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from lightloom.config.experiment import Experiment
from lightloom.policies import files as policies
from lightloom.results.files import Summary
from lightloom.results.result import Comparison, Result
from lightloom.results.saturation import Saturation, Window, search
from lightloom.results.window_rules import judged
from lightloom.simulation import interrupts
from lightloom.simulation.machine import memory, processors
from lightloom.simulation.trials import tried

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
    """Another place than this process where simulations run: a cluster."""

    @property
    def at_once(self) -> int:
        """How many simulations run there in parallel."""

    @property
    def simulate(self) -> Run:
        """A function as `lightloom.run` that simulates there."""


@dataclass(frozen=True)
class Task:
    """Simulations that run one after another."""

    name: str
    do: Callable[[Tell], Any]


def compare_all(
    experiments: Sequence[Experiment],
    run: Run,
    threads: int,
    progress: Tell | None,
    place: Place | None = None,
) -> list[Comparison]:
    """Returns a comparison for each experiment; if a `place` is given, all run there at once."""
    run = run if place is None else place.simulate
    groups = [experiment.seeds() for experiment in experiments]
    cases = len(groups) > 1
    comparisons = [
        [
            _Comparing(seeded, run, threads, _prefix(seeded, cases, len(group) > 1))
            for seeded in group
        ]
        for group in groups
    ]
    flat = [c for group in comparisons for c in group]
    if len(flat) == 1 and place is None:
        flat[0].run_fabrics(progress)
    tasks = [task for c in flat for task in c.tasks()]
    # Saturation searches take longest, so they begin first.
    tasks.sort(key=lambda task: "saturation" not in task.name)
    repeated = [group[0] for group in groups if len(group) > 1]
    run_all(tasks, side_by_side(repeated, threads, place), progress)
    return [Comparison.of_seeds([c.made() for c in group]) for group in comparisons]


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

        return Task(_prefix(seeded, False, True) + label, do)

    tasks = [task(place, seeded) for place, seeded in enumerate(seeds)]
    run_all(tasks, side_by_side([seeds[0].only(label)], threads), progress)
    return [results[place] for place in range(len(seeds))]


def side_by_side(repeated: Sequence[Experiment], threads: int, place: Place | None = None) -> int:
    """Returns how many simulations of that many threads run in parallel: enough to keep the
    processors busy; of repeated experiments, at most as many as fit into free memory. At a `place`,
    one simulation is queued for each that runs, so that none waits for this machine."""
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


def _prefix(experiment: Experiment, case: bool, seeded: bool) -> str:
    """The prefix that distinguishes a simulation from those of other cases and seeds."""
    parts = [experiment.name] if case else []
    parts += [f"seed {experiment.raw['run']['seed']}"] if seeded else []
    return "".join(f"{part}: " for part in parts)


class _Comparing:
    """One comparison while it is computed; its tasks write to different keys."""

    def __init__(self, experiment: Experiment, run: Run, threads: int, prefix: str) -> None:
        self.experiment = experiment
        self.resolved = experiment.resolved()
        policies.check(self.resolved["fabric"])
        self.compare = self.resolved.get("compare", {})
        self.known = self.resolved["workload"].get("load")
        self.results: dict[str, Result] = {}
        self.at_load: dict[tuple[str, float], Summary] = {}
        self.saturation: dict[str, Saturation] = {}
        self._run, self._threads = run, threads
        self._prefix = prefix

    def run_fabrics(self, progress: Tell | None) -> None:
        """Runs every fabric, one after another."""
        for label in self.experiment.labels:
            self.results[label] = self._run(
                self.experiment, label, threads=self._threads, progress=progress
            )

    def tasks(self) -> list[Task]:
        """The simulations that have not run yet."""
        labels = self.experiment.labels
        loads = [load for load in self.compare.get("loads", []) if load != self.known]
        made = [self._task(label, "", self._whole(label)) for label in labels]
        made = [] if self.results else made
        made += [
            self._task(label, f" at load {load:g}", self._load(label, load))
            for label in labels
            for load in loads
        ]
        if self.compare.get("saturation"):
            made += [self._task(label, ": saturation", self._search(label)) for label in labels]
        return made

    def made(self) -> Comparison:
        """Returns the comparison after all tasks are done."""
        loads = self.compare.get("loads", [])
        labels = self.experiment.labels
        return Comparison(
            name=self.experiment.name,
            experiment=self._as_run(),
            results={label: self.results[label] for label in labels},
            loads={label: [self._at(label, load) for load in loads] for label in labels},
            saturation={label: self.saturation[label] for label in labels if self.saturation},
        )

    def _as_run(self) -> dict[str, Any]:
        """Returns the resolved experiment. If every fabric ran once and the computation times of
        decisions were measured, it contains them; at other loads the times differ."""
        table = {key: value for key, value in self.resolved.items() if key != "name"}
        if not self.at_load and not self.saturation:
            table["fabric"] = [
                self.results[f["label"]].experiment["fabric"][0] for f in table["fabric"]
            ]
        return table

    def _at(self, label: str, load: float) -> Summary:
        known = load == self.known
        return self.results[label].summary if known else self.at_load[label, load]

    def _task(self, label: str, what: str, do: Callable[[Tell], None]) -> Task:
        return Task(f"{self._prefix}{label}{what}", do)

    def _whole(self, label: str) -> Callable[[Tell], None]:
        def do(heed: Tell) -> None:
            self.results[label] = self._run(
                self.experiment, label, threads=self._threads, progress=heed
            )

        return do

    def _simulated(self, label: str, load: float, heed: Tell) -> Summary:
        at_load = self.experiment.with_load(load)
        return self._run(at_load, label, threads=self._threads, progress=heed).summary

    def _load(self, label: str, load: float) -> Callable[[Tell], None]:
        def do(heed: Tell) -> None:
            self.at_load[label, load] = self._simulated(label, load, heed)

        return do

    def _search(self, label: str) -> Callable[[Tell], None]:
        def do(heed: Tell) -> None:
            def measure(load: float) -> Window:
                return judged(self._simulated(label, load, heed))

            up_to, tolerance = self.compare["up_to"], self.compare["tolerance"]
            self.saturation[label] = search(measure, up_to, tolerance)

        return do


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
