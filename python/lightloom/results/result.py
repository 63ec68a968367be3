"""Results of runs: tables, figures, and the files that hold them.

A result is written under temporary names and renamed at the end, so that no file with its final
name is ever incomplete. A repeated run has one folder for each seed, such as `seed-1`, which is a
complete result, and the means beside these folders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from lightloom.config import identity, inputs
from lightloom.config.experiment import read_toml
from lightloom.results import repeats
from lightloom.results.failures import Resilience
from lightloom.results.files import (
    CIRCUITS,
    CONTROLLER,
    COST_FILES,
    LINKS,
    RESILIENCE,
    RESULT_FILES,
    SATURATION,
    Copies,
    Summary,
    Table,
    check_parts,
    drop_seeds,
    folder_of,
    labels_there,
    read_experiment,
    read_json,
    read_table,
    repeating,
    seeds_of,
    stage_experiment,
    stage_record,
)
from lightloom.results.saturation import Saturation
from lightloom.results.tables import mean_over_time
from lightloom.results.views import Runs
from lightloom.storage.lock import settle
from lightloom.storage.staging import Staging
from lightloom.units import bounds
from lightloom.units.intervals import Interval


class _Saved:
    """A result that is written into a directory completely or not at all."""

    experiment: Table

    def stage(self, staging: Staging, directory: Path, *, copy_inputs: bool = False) -> None:
        """Stages the files that `save` writes, as part of a larger transaction."""
        copies = inputs.copied(self.experiment, directory, staging) if copy_inputs else {}
        self._stage(staging, directory, copies)

    def _save(self, directory: Path, copy_inputs: bool) -> Path:
        with Staging(directory) as staging:
            self.stage(staging, directory, copy_inputs=copy_inputs)
        return directory

    def _stage(self, staging: Staging, directory: Path, copies: Copies) -> None:
        raise NotImplementedError


@dataclass(repr=False)
class Result(_Saved, Runs):
    """One simulation.

    >>> result = Result.load("results/sirius/sirius")  # doctest: +SKIP
    >>> import pyarrow.compute as pc
    >>> fct = pc.subtract(result.flows["finish_ps"], result.flows["arrival_ps"])  # doctest: +SKIP
    """

    label: str
    """The fabric's label in its experiment."""
    flows: pa.Table
    """One row for each flow: flow, src, dst, bytes, arrival_ps (null if a flow that it depends on
    was not delivered), start_ps (null if it was never served), finish_ps (null if unfinished), hops
    (null if unknown), group. If some flows send until the run ends, also delivered [B] and endless;
    the bytes of an endless flow are those that a link carries until then."""
    timeseries: pa.Table
    """One row for each sample. Counters are cumulative; `goodput_normalized` and `utilisation` are
    means over the interval that ends at the row."""
    summary: Summary
    """The figures, with the same keys for every fabric; None if a fabric does not have the
    figure."""
    experiment: Table
    """The resolved experiment with this fabric alone; running it again gives the same flows."""
    circuits: pa.Table | None = None
    """One row for each circuit, by the time at which it came up: racks a and b (a < b) were
    connected on `plane` during [from_ps, until_ps). None if the fabric does not change circuits."""
    links: pa.Table | None = None
    """One row for each group of parallel links in one direction of an electrical network: tier,
    from and to (numbers of servers, racks, pods or routers; null in the core), links, rate_bps of
    each, bytes carried, utilisation over the whole run. None if the fabric does not count them."""
    controller_log: str | None = None
    """The inputs and actions of the circuit controller, one line of JSON each, if
    `run.controller_log` is set. None if the fabric has no controller."""

    @property
    def utilisation(self) -> float | None:
        """Share of the capacity of all links that was used, over the whole run; None for a run
        without samples."""
        return mean_over_time(self.timeseries, "utilisation")

    def save(self, directory: str | Path, *, copy_inputs: bool = False) -> Path:
        """Writes `experiment.toml`, `flows.parquet`, `timeseries.parquet` and `summary.json`; also
        `circuits.parquet` if there are circuits, `links.parquet` if links are counted, and
        `controller.jsonl` if a log of the controller was requested. Returns the directory.

        With `copy_inputs`, the files that the experiment reads are copied into `inputs` there, so
        that it can run again wherever the directory is moved."""
        return self._save(Path(directory), copy_inputs)

    def _stage(self, staging: Staging, directory: Path, copies: Copies) -> None:
        drop_seeds(staging, directory)
        staging.parquet(directory / "flows.parquet", self.flows)
        staging.parquet(directory / "timeseries.parquet", self.timeseries)
        if self.circuits is not None:
            staging.parquet(directory / CIRCUITS, self.circuits)
        else:
            staging.absent(directory / CIRCUITS)
        if self.links is not None:
            staging.parquet(directory / LINKS, self.links)
        else:
            staging.absent(directory / LINKS)
        if self.controller_log is not None:
            staging.text(directory / CONTROLLER, self.controller_log)
        else:
            staging.absent(directory / CONTROLLER)
        staging.json(directory / "summary.json", self.summary)
        stage_experiment(staging, directory, self.experiment, copies)
        stage_record(staging, directory, self.experiment, self.summary)

    @staticmethod
    def load(directory: str | Path) -> Result:
        """Reads what `save` wrote."""
        directory = Path(directory)
        settle(directory)
        summary = read_json(directory / "summary.json")
        circuits, links = directory / CIRCUITS, directory / LINKS
        log = directory / CONTROLLER
        return Result(
            label=summary["label"],
            flows=read_table(directory / "flows.parquet"),
            timeseries=read_table(directory / "timeseries.parquet"),
            summary=summary,
            experiment=read_experiment(directory),
            circuits=read_table(circuits) if circuits.exists() else None,
            links=read_table(links) if links.exists() else None,
            controller_log=log.read_text(encoding="utf-8") if log.exists() else None,
        )


@dataclass(repr=False)
class Repeated(Runs):
    """One fabric, simulated with several seeds.

    >>> repeated = Repeated.load("results/sirius/sirius")  # doctest: +SKIP
    >>> repeated.interval("fct.short.p99_us").half_width  # doctest: +SKIP
    """

    label: str
    """The fabric's label in its experiment."""
    results: list[Result]
    """One result for each seed, in order of the seeds; each can run again by itself."""

    @property
    def seeds(self) -> list[int]:
        """The seeds."""
        return [result.summary["seed"] for result in self.results]

    @property
    def summary(self) -> Summary:
        """The figures with the keys of a single summary; each is a table of `mean`, `half_width`
        and `n`."""
        return repeats.gathered([result.summary for result in self.results])

    @property
    def means(self) -> Summary:
        """A summary in which every figure is its mean over the seeds."""
        return repeats.means([result.summary for result in self.results])

    def interval(self, path: str) -> Interval | None:
        """Returns the mean over the seeds of the figure at a dotted path, with half of its 95 %
        interval; None if no seed has the figure. Figures of flows (`fct`, `slowdown`, latencies of
        the window) are those of all flows offered, or their lower bound if some flows were
        unfinished."""
        of = bounds.interval if bounds.is_of_flows(path) else repeats.interval
        return of([result.summary for result in self.results], path)

    @property
    def experiment(self) -> Table:
        """The resolved experiment with this fabric alone; running it again gives the same
        results."""
        return repeating(self.results[0].experiment, len(self.results))

    def save(self, directory: str | Path, *, copy_inputs: bool = False) -> Path:
        """Writes `seed-N/` for each seed, as `Result.save` does, and beside them `summary.json`
        with the means, `experiment.toml` and, with `copy_inputs`, `inputs`. Returns the
        directory."""
        directory = Path(directory)
        with Staging(directory) as staging:
            copies = inputs.copied(self.experiment, directory, staging) if copy_inputs else {}
            drop_seeds(staging, directory, keep=self.seeds)
            for name in set(RESULT_FILES) - {"summary.json", "experiment.toml"}:
                staging.absent(directory / name)
            for seed, result in zip(self.seeds, self.results, strict=True):
                result._stage(staging, directory / folder_of(seed), copies)
            staging.json(directory / "summary.json", self.summary)
            stage_experiment(staging, directory, self.experiment, copies)
            stage_record(staging, directory, self.experiment, self.summary)
        return directory

    @staticmethod
    def load(directory: str | Path) -> Repeated:
        """Reads what `save` wrote."""
        directory = Path(directory)
        settle(directory)
        check_parts(directory)
        seeds = seeds_of(read_toml(directory / "experiment.toml"))
        results = [Result.load(directory / folder_of(seed)) for seed in seeds]
        return Repeated(results[0].label, results)


@dataclass(repr=False)
class Comparison(_Saved, Runs):
    """Several fabrics on the same workload.

    If it is repeated, `seeds` holds one comparison for each seed, and `results`, `loads` and
    `saturation` are those of the first seed.
    """

    name: str
    """The name that reports use."""
    experiment: Table
    """The resolved experiment with all its fabrics."""
    results: dict[str, Result]
    """Label → result, in the order of the experiment."""
    loads: dict[str, list[Summary]] = field(default_factory=dict)
    """Label → one summary per load of `[compare].loads`; without flows."""
    saturation: dict[str, Saturation] = field(default_factory=dict)
    """Label → saturation load, if `[compare].saturation` is set."""
    seeds: list[Comparison] = field(default_factory=list)
    """One comparison for each seed, in order of the seeds; empty if nothing is repeated."""
    resilience: Resilience | None = None
    """Each fabric with one failed part, for the first seed; None if failures were not tried."""

    @staticmethod
    def of_seeds(seeds: Sequence[Comparison]) -> Comparison:
        """Combines one comparison for each seed into one; returns a single comparison unchanged."""
        first = seeds[0]
        if len(seeds) == 1:
            return first
        table = repeating(first.experiment, len(seeds))
        return replace(first, experiment=table, seeds=list(seeds))

    @property
    def summaries(self) -> dict[str, Summary]:
        """Label → summary; if the run is repeated, each figure is a table of `mean`, `half_width`
        and `n`."""
        if not self.seeds:
            return {label: result.summary for label, result in self.results.items()}
        return {label: repeats.gathered(self.of_label(label)) for label in self.results}

    @property
    def means(self) -> dict[str, Summary]:
        """Label → summary; if the run is repeated, each figure is its mean over the seeds."""
        if not self.seeds:
            return self.summaries
        return {label: repeats.means(self.of_label(label)) for label in self.results}

    def of_label(self, label: str) -> list[Summary]:
        """The summaries of a fabric, one for each seed."""
        return [c.results[label].summary for c in self.seeds or [self]]

    def save(self, directory: str | Path, *, copy_inputs: bool = False) -> Path:
        """Writes one directory for each label, `comparison.json` (label → summary), `loads.json`
        (label → summaries), `saturation.json` (label → result of the search) and `resilience.json`
        (single failures) if these were computed, `experiment.toml` and, with `copy_inputs`,
        `inputs`, as `Result.save` does. A repeated comparison has one directory `seed-N` for each
        seed with all of these, and the means beside them. Returns the directory."""
        return self._save(Path(directory), copy_inputs)

    def _stage(self, staging: Staging, directory: Path, copies: Copies) -> None:
        drop_seeds(staging, directory, keep=self._seeds)
        here = {} if self.seeds else self.results
        for label in labels_there(directory) - set(here):
            for name in RESULT_FILES:
                staging.absent(directory / label / name)
        for label, result in here.items():
            result._stage(staging, directory / label, copies)
        for seed, comparison in zip(self._seeds, self.seeds, strict=True):
            comparison._stage(staging, directory / folder_of(seed), copies)
        staging.json(directory / "comparison.json", self.summaries)
        staging.json(directory / "loads.json", self._loads_json())
        if self.saturation:
            staging.json(directory / SATURATION, self._saturation_json())
        else:
            staging.absent(directory / SATURATION)
        if self.resilience is not None:
            staging.json(directory / RESILIENCE, self._resilience_json(directory, copies))
        else:
            staging.absent(directory / RESILIENCE)
        for name in COST_FILES:
            staging.absent(directory / name)
        table = {**self.experiment, "name": self.name}
        stage_experiment(staging, directory, table, copies)
        stage_record(staging, directory, self.experiment, next(iter(self.summaries.values()), {}))

    @property
    def _seeds(self) -> list[int]:
        """The seeds, if the comparison is repeated."""
        return seeds_of(self.experiment) if self.seeds else []

    def _loads_json(self) -> dict[str, list[Summary]]:
        """Label → one summary for each load, gathered over the seeds if there are several."""
        if not self.seeds:
            return self.loads
        return {
            label: [repeats.gathered(list(at)) for at in zip(*each, strict=True)]
            for label in self.loads
            for each in [[c.loads[label] for c in self.seeds]]
        }

    def _saturation_json(self) -> dict[str, Any]:
        """Label → result of the search; if there are several seeds, its figures have intervals."""
        if not self.seeds:
            return {label: found.to_json() for label, found in self.saturation.items()}
        return {
            label: repeats.joined([_figures(c.saturation[label]) for c in self.seeds])
            for label in self.saturation
        }

    def _resilience_json(self, directory: Path, copies: Copies) -> Table:
        """Single failures, with the experiment that each run changes by its `set`."""
        assert self.resilience is not None
        run = {k: v for k, v in self.experiment["run"].items() if k != "repeat"}
        table = {k: v for k, v in self.experiment.items() if k != "compare"} | {"run": run}
        sound = inputs.relative({**table, "name": self.name}, directory, copies)
        return {**self.resilience.to_json(), "experiment": sound}

    @staticmethod
    def load(directory: str | Path) -> Comparison:
        """Reads what `save` wrote."""
        directory = Path(directory)
        settle(directory)
        check_parts(directory)
        experiment = read_experiment(directory)
        seeds = seeds_of(experiment)
        broken = directory / RESILIENCE
        resilience = Resilience.of_json(read_json(broken)) if broken.exists() else None
        labels = read_json(directory / "comparison.json")
        if len(seeds) > 1:
            folders = [directory / folder_of(seed) for seed in seeds]
            every = Comparison.of_seeds([Comparison.load(folder) for folder in folders])
            return replace(every, resilience=resilience)
        found = directory / SATURATION
        saturation = read_json(found) if found.exists() else {}
        return Comparison(
            name=experiment.pop("name"),
            experiment=experiment,
            results={label: Result.load(directory / label) for label in labels},
            loads=read_json(directory / "loads.json"),
            saturation={label: Saturation(**made) for label, made in saturation.items()},
            resilience=resilience,
        )


def _figures(found: Saturation) -> dict[str, Any]:
    """The result of a search without the loads that it tried."""
    return {key: value for key, value in asdict(found).items() if key != "tried"}


def stage_cases(
    comparisons: Mapping[str, Comparison], directory: Path, staging: Staging, *, copy_inputs: bool
) -> None:
    """Stages each comparison under the name of its folder, with its `inputs` if they are to be
    copied, and `comparison.json` over all of them: name of the comparison → label → summary."""
    for folder, comparison in comparisons.items():
        comparison.stage(staging, directory / folder, copy_inputs=copy_inputs)
    summaries = {c.name: c.summaries for c in comparisons.values()}
    staging.json(directory / "comparison.json", summaries)
    parts = [str(folder) for folder in comparisons]
    staging.record(directory, {"build": identity.build(), "inputs": [], "parts": parts})
