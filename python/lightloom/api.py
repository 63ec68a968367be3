"""Run one fabric of an experiment, repeat it with several seeds, or compare all its fabrics.

NumPy and Arrow are imported only when a simulation is done, so that a command can import them in
the meantime.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lightloom import _core
from lightloom.config import identity, inputs, physics
from lightloom.config.experiment import Experiment, faults_of, load
from lightloom.config.own_tables import DECISION, of_core
from lightloom.config.refusal_text import in_words
from lightloom.errors import refusal
from lightloom.simulation import pool, trace_input, windows
from lightloom.simulation.machine import check_count
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.failures.search import Search
    from lightloom.results.result import Comparison, Repeated, Result
    from lightloom.simulation.pool import Place

Source = Experiment | str | Path | Mapping[str, Any]


class Progress(Protocol):
    """A callback that reports the progress of a run, at most 20 times a second."""

    def __call__(self, label: str, now_s: float, end_s: float, delivered: float, /) -> object:
        """`now_s` of `end_s` simulated seconds are done, and `delivered` is the fraction of all
        bytes that is delivered. While a run drains, `end_s` is only its time limit. While flows are
        drawn, `end_s` is 0 and the fraction is that of the flows drawn. An exception from the
        callback ends the run."""


def run(
    experiment: Source,
    fabric: str | None = None,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Result:
    """Simulates one fabric.

    Args:
        experiment: an `Experiment`, or a source that `lightloom.load` accepts.
        fabric: label of the fabric; required only if the experiment has several.
        threads: threads of the simulation; the results do not depend on their number.
        progress: called with label, simulated time, end time and fraction delivered.

    Raises:
        ConfigError: before the run begins, if the experiment is invalid or has `run.repeat` (use
            `repeat` for that).
        KeyboardInterrupt: soon after Ctrl-C.

    >>> result = run("examples/sirius.toml", threads=2)  # doctest: +SKIP
    >>> result.summary["fct_bound"]["short"]["p99_us"]["low"]  # doctest: +SKIP
    """
    check_count("threads", threads)
    experiment = _experiment(experiment)
    label = experiment.labels[experiment.index(fabric)]
    experiment = experiment.runnable(label).pinned()
    index = experiment.index(label)
    resolved = experiment.resolved()
    if (times := resolved["run"].get("repeat", 1)) > 1:
        remedy = "call lightloom.repeat, or remove it"
        raise refusal("run.repeat", times, "this runs one simulation", remedy)
    read = inputs.listed(resolved)
    tick = None if progress is None else lambda *at: progress(label, *at)
    trace = trace_input.columns_for(resolved)
    with in_words():
        summary, *columns, (log, computed) = _core.run(
            experiment.json(), index, threads, tick, trace
        )
    table = _with_one_fabric(resolved, index, computed)
    return _result(label, table, _traced(json.loads(summary), table, read), columns, log)


def repeat(
    experiment: Source,
    fabric: str | None = None,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Repeated:
    """Simulates one fabric with `run.repeat` consecutive seeds, beginning with `run.seed`. As many
    simulations run in parallel as processors and memory allow.

    Arguments and errors are those of `run`. An experiment without `run.repeat` runs once.

    >>> repeated = repeat("examples/sirius.toml")  # doctest: +SKIP
    >>> repeated.interval("fct.short.p99_us").half_width  # doctest: +SKIP
    """
    check_count("threads", threads)
    experiment = _experiment(experiment)
    label = experiment.labels[experiment.index(fabric)]
    seeds = experiment.runnable(label).seeds()
    results = pool.run_seeds(seeds, label, run, threads, progress)
    from lightloom.results.result import Repeated

    return Repeated(label, results)


def compare(
    experiment: Source,
    *,
    threads: int = 1,
    progress: Progress | None = None,
    worst_failure: Search | bool | None = None,
    place: Place | None = None,
) -> Comparison:
    """Simulates every fabric of an experiment, one after another. If the experiment has
    `[compare].loads` or `saturation`, every fabric then runs at each of these loads and at those of
    the saturation search, as many in parallel as the machine has processors. An experiment with
    `run.repeat` is compared once for each seed.

    Arguments and errors are those of `run`. With `worst_failure`, every fabric also runs with one
    part failed, for each part that is tried (`Comparison.resilience`); a
    `lightloom.failures.search.Search` sets how many parts are tried. Without it, `worst_failure` in
    the experiment's `[decision]` applies. With a `place`, such as a Dask cluster, all simulations
    run there at once.

    >>> comparison = compare("examples/compare.toml")  # doctest: +SKIP
    >>> comparison.results["clos"].summary["goodput_normalized"]  # doctest: +SKIP
    """
    check_count("threads", threads)
    experiment = windows.measured(_experiment(experiment))
    cases = experiment.cases()
    if cases != [experiment]:
        remedy = "call lightloom.compare_cases, or remove them"
        raise refusal(
            "compare.case", counted(len(cases), "case"), "this compares one experiment", remedy
        )
    return _compared([experiment], threads, progress, worst_failure, place)[0]


def compare_cases(
    experiment: Source,
    *,
    threads: int = 1,
    progress: Progress | None = None,
    worst_failure: Search | bool | None = None,
    place: Place | None = None,
) -> list[Comparison]:
    """Returns one comparison for each `[[compare.case]]` of an experiment, named by the label of
    the case; for an experiment without cases, its only comparison.

    Arguments and errors are those of `compare`.

    >>> uniform, hot = compare_cases("examples/lions.toml")  # doctest: +SKIP
    >>> hot.saturation["dlb"].busiest  # doctest: +SKIP
    """
    check_count("threads", threads)
    return _compared(
        windows.measured(_experiment(experiment)).cases(), threads, progress, worst_failure, place
    )


def compare_physics(
    experiment: Source,
    presets: Sequence[str] = ("ideal", "realistic"),
    *,
    threads: int = 1,
    progress: Progress | None = None,
    worst_failure: Search | bool | None = None,
    place: Place | None = None,
) -> list[Comparison]:
    """Returns one comparison for each of these presets of `[physics]`, which replace the
    experiment's own `[physics]`; if the experiment has cases, one for each case and preset.
    `lightloom.analysis.winners.changes` tests whether the winner changes.

    Arguments and errors are those of `compare`.

    >>> ideal, realistic = compare_physics("examples/clos.toml")  # doctest: +SKIP
    """
    check_count("threads", threads)
    cases = windows.measured(_experiment(experiment)).cases()
    variants = [made for case in cases for made in physics.variants(case, presets)]
    return _compared(variants, threads, progress, worst_failure, place)


def _compared(
    experiments: Sequence[Experiment],
    threads: int,
    progress: Progress | None,
    worst_failure: Search | bool | None,
    place: Place | None,
) -> list[Comparison]:
    """Compares each experiment, with single failures if those are requested."""
    from lightloom.simulation import curves

    made = curves.compare_all(experiments, run, threads, progress, place)
    if not worst_failure and not any(DECISION in one.raw for one in experiments):
        return made
    from lightloom.failures.measure import with_worst_failures

    return with_worst_failures(
        made,
        experiments,
        run,
        threads=threads,
        progress=progress,
        asked=worst_failure,
        place=place,
    )


def _experiment(source: Source) -> Experiment:
    return source if isinstance(source, Experiment) else load(source)


def _result(
    label: str, table: dict[str, Any], summary: dict[str, Any], columns: list[Any], log: Any
) -> Result:
    """Returns the result of a run with the core's columns as tables."""
    from lightloom.results import tables
    from lightloom.results.result import Result

    flows, series, circuits, links = columns
    return Result(
        label=label,
        flows=tables.flow_table(flows, table),
        timeseries=tables.series_table(series, table),
        summary=summary,
        experiment=table,
        circuits=tables.circuit_table(circuits, table),
        links=tables.link_table(links, summary["simulated_s"], table),
        controller_log=log,
    )


def _traced(summary: dict[str, Any], table: dict[str, Any], read: dict[str, Any]) -> dict[str, Any]:
    """Returns the summary with the build that made it and the files that its fabric read."""
    keys = {place.key for place in inputs.places(table)}
    files = {key: of for key, of in read.items() if key in keys}
    return {**summary, "build": identity.build(), inputs.INPUTS: files}


def _with_one_fabric(
    resolved: dict[str, Any], index: int, computed: list[str] | None
) -> dict[str, Any]:
    """Returns the resolved experiment of a single run, without the tables of the comparison and of
    prices. If the computation times of decisions were measured, it holds them."""
    fabric = resolved["fabric"][index]
    if computed is not None:
        fabric = {**fabric, "computation_delay": computed}
    table = {key: value for key, value in of_core(resolved).items() if key != "compare"}
    table["fabric"] = [fabric]
    if "fault" in table:
        table["fault"] = faults_of(table["fault"], fabric["label"])
    inputs.kept(table, resolved)
    return {key: value for key, value in table.items() if value != []}
