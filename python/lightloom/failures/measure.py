"""Simulates every fabric of a comparison with one failed part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lightloom import _core
from lightloom.config import physics
from lightloom.config.experiment import Experiment
from lightloom.costs.book import Book
from lightloom.errors import ConfigError, within
from lightloom.failures import plan
from lightloom.failures.elements import Part, Population
from lightloom.failures.figures import Reader
from lightloom.failures.sample import Traffic
from lightloom.failures.search import SLOWER, Search, book_of, search_of
from lightloom.results.failures import Figures, OfFabric, OfKind, Resilience, Run
from lightloom.results.result import Comparison, Result
from lightloom.simulation.pool import Place, Task, Tell, run_all, side_by_side
from lightloom.simulation.pool import Run as Simulate

PS = 1e-12


def with_worst_failures(
    comparisons: Sequence[Comparison],
    experiments: Sequence[Experiment],
    simulate: Simulate,
    *,
    threads: int = 1,
    progress: Tell | None = None,
    asked: Search | bool | None = True,
    place: Place | None = None,
) -> list[Comparison]:
    """Adds single failures to comparisons that request them. Each fabric runs once for each part
    that is tried, with the same flows and the same seed as in the comparison.

    Args:
            comparisons, experiments: the comparisons, and their experiments.
        simulate: `lightloom.run`.
        asked: the options; None: those of each experiment.
        place: where the runs take place, if not in this process.

    Raises:
        ConfigError: if a run fails; it names the fabric and the part.
    """
    several = len(comparisons) > 1
    simulate = simulate if place is None else place.simulate
    made = [
        _Breaking(comparison, experiment, simulate, threads, search, named=several)
        if (search := search_of(experiment, asked))
        else None
        for comparison, experiment in zip(comparisons, experiments, strict=True)
    ]
    tasks = [task for one in made if one for task in one.tasks()]
    failing = [one.heaviest() for one in made if one]
    workers = side_by_side([e for e in failing if e.raw["fault"]], threads, place)
    run_all(tasks, workers, progress)
    return [
        replace(comparison, resilience=one.outcome()) if one else comparison
        for one, comparison in zip(made, comparisons, strict=True)
    ]


@dataclass
class _OfFabric:
    """The runs of one fabric; tasks write to different keys."""

    plan: plan.Fabric
    sample: Sequence[tuple[Population, list[Part], str]]
    set: Sequence[str]
    """The settings of all runs of the fabric."""
    sound: Figures | None = None
    figures: dict[Part, Figures] = field(default_factory=dict)
    unlit: bool = False
    """Whether the fabric has circuits and none carried data in the fault-free run."""

    def dead(self, part: Part) -> list[str]:
        """Returns the settings of the run in which a part has failed."""
        return [*self.set, *self.plan.dead(part)]


class _Breaking:
    """The single failures of one comparison."""

    def __init__(
        self,
        comparison: Comparison,
        experiment: Experiment,
        simulate: Simulate,
        threads: int,
        search: Search,
        *,
        named: bool,
    ) -> None:
        self.comparison, self.experiment = comparison, experiment
        self._simulate, self._threads, self._tries = simulate, threads, search.tries
        self._prefix = f"{comparison.name}: " if named else ""
        summaries = [result.summary for result in comparison.results.values()]
        self._reader = Reader.of(summaries)
        book = book_of(experiment)
        self.fabrics = {
            label: self._of_fabric(label, result, book)
            for label, result in comparison.results.items()
        }

    def _of_fabric(self, label: str, result: Result, book: Book) -> _OfFabric:
        found = plan.fabric(self.experiment, label, book)
        made = _OfFabric(
            found,
            list(found.sample(_traffic(found, result), self._tries)),
            _limit(found.experiment, result),
            unlit=result.summary.get("circuit_share") == 0,
        )
        if not found.own_faults:
            made.sound = self._reader.read(result)
        return made

    def tasks(self) -> list[Task]:
        """The tasks of all runs."""
        made = []
        for label, fabric in self.fabrics.items():
            if fabric.sound is None:
                made.append(self._task(label, fabric, None))
            for _, parts, _ in fabric.sample:
                made += [self._task(label, fabric, part) for part in parts]
        return made

    def heaviest(self) -> Experiment:
        """The experiment with a failed part in each fabric, for the estimate of memory."""
        faults = [
            fault
            for label, fabric in self.fabrics.items()
            for _, parts, _ in fabric.sample[:1]
            for fault in parts[0].faults(label)
        ]
        found = next(iter(self.fabrics.values())).plan.experiment
        return replace(found, raw={**found.raw, "fault": faults})

    def _task(self, label: str, fabric: _OfFabric, part: Part | None) -> Task:
        """The task of a run with a failed part, or without any of the experiment's own faults."""
        what = "sound" if part is None else f"{part.name} dead"
        overrides = fabric.set if part is None else fabric.dead(part)

        def do(heed: Tell) -> None:
            broken = fabric.plan.experiment.with_overrides(overrides)
            try:
                result = self._simulate(broken, label, threads=self._threads, progress=heed)
            except ConfigError as problem:
                raise within(problem, f"{self._prefix}{label}, {what}") from None
            found = self._reader.read(result)
            if part is None:
                fabric.sound = found
            else:
                fabric.figures[part] = found

        return Task(f"{self._prefix}{label}: {what}", do)

    def outcome(self) -> Resilience:
        """Returns the results after all tasks are done."""
        first = next(iter(self.fabrics.values())).plan.experiment
        return Resilience(
            seed=int(first.resolved()["run"]["seed"]),
            tries=self._tries,
            goodput=self._reader.goodput,
            p99=self._reader.p99,
            fabrics={label: _outcome(label, made) for label, made in self.fabrics.items()},
        )


def _outcome(label: str, made: _OfFabric) -> OfFabric:
    """The results of one fabric."""
    assert made.sound is not None, "it was read, or its task has run"
    kinds = [
        OfKind(
            population.kind.name,
            population.members,
            how,
            population.kind.takes_servers,
            [Run(part.name, made.dead(part), made.figures[part]) for part in parts],
        )
        for population, parts, how in made.sample
    ]
    found = made.plan
    return OfFabric(
        label,
        made.sound,
        kinds,
        found.parts.refused,
        found.parts.why_none,
        _assumed(made) if kinds else "",
        [str(tier) for tier in found.switches] if kinds else [],
    )


def _assumed(made: _OfFabric) -> str:
    """The assumptions, and a note if the run cannot show the effect of a failure."""
    resolved = made.plan.experiment.resolved()
    told: str = physics.assumptions_of(resolved, made.plan.label)["failures"]
    unlit = "no circuit carried anything in this run, so it does not show the effect of a failure"
    return f"{unlit}; {told}" if made.unlit else told


def _traffic(found: plan.Fabric, result: Result) -> Traffic:
    """The traffic between racks in a result."""
    cluster = found.experiment.resolved()["cluster"]
    return Traffic.of(
        result.flows,
        int(cluster["racks"]),
        int(cluster.get("servers_per_rack", 1)),
        int(found.table().get("racks_per_pod", 1)),
    )


def _limit(experiment: Experiment, result: Result) -> list[str]:
    """The time limit of a run that otherwise ends when all flows are delivered."""
    run = experiment.resolved()["run"]
    if run["stop"] != "drain":
        return []
    most = round(SLOWER * result.summary["simulated_s"] / PS)
    given = run.get("limit")
    if given is not None and most >= _core.control_time("run.limit", given):
        return []
    return [f'run.limit="{_core.control_time_text(most)}"']
