"""Comparisons: a run of every fabric, a run at each load, and the saturation search.

A comparison without cases first runs its fabrics one after another, because they may be large;
cases are many and small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lightloom.config.experiment import Experiment
from lightloom.policies import files as policies
from lightloom.results.files import Summary
from lightloom.results.result import Comparison, Result
from lightloom.results.saturation import Saturation, search
from lightloom.results.window_rules import Window, judged
from lightloom.simulation.pool import Place, Run, Task, Tell, prefix, run_all, side_by_side


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
            _Comparing(seeded, run, threads, prefix(seeded, cases, len(group) > 1))
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
