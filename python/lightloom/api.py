"""Run one fabric of an experiment, or compare all of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lightloom import _core
from lightloom.config import identity, inputs, physics
from lightloom.config.experiment import Experiment, faults_of, load
from lightloom.config.refusal_text import in_words
from lightloom.config.schema import DECISION, of_core
from lightloom.errors import refusal
from lightloom.results.result import Comparison, Repeated, Result
from lightloom.results.tables import circuit_table, flow_table, link_table, series_table
from lightloom.simulation import curves, traces, windows
from lightloom.simulation.machine import check_count
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.failures.search import Search
    from lightloom.simulation.curves import Place

Source = Experiment | str | Path | Mapping[str, Any]


class Progress(Protocol):
    """Hears how a run goes, at most 20 times a second."""

    def __call__(self, label: str, now_s: float, end_s: float, delivered: float, /) -> object:
        """`now_s` of `end_s` simulated seconds are done (while a run drains,
        `end_s` is only its limit) and this fraction of all bytes is delivered; while flows
        are drawn, `end_s` is 0 and the fraction is that of the flows drawn.
        An exception ends the run."""


def run(
    experiment: Source,
    fabric: str | None = None,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Result:
    """Simulates one fabric.

    Args:
        experiment: what `lightloom.load` gives, or what it takes.
        fabric: label of the fabric; may be left out if there is only one.
        threads: threads of the simulation; results do not depend on it.
        progress: called with label, simulated time, its end, fraction delivered.

    Raises:
        ConfigError: before anything runs, if the experiment cannot run, or if it
            repeats: that is `repeat`.
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
    columns = traces.columns_for(resolved)
    with in_words():
        summary, flows, series, circuits, links, (log, computed) = _core.run(
            experiment.json(), index, threads, tick, columns
        )
    table = _with_one_fabric(resolved, index, computed)
    figures = _traced(json.loads(summary), table, read)
    return Result(
        label=label,
        flows=flow_table(flows, table),
        timeseries=series_table(series, table),
        summary=figures,
        experiment=table,
        circuits=circuit_table(circuits, table),
        links=link_table(links, figures["simulated_s"], table),
        controller_log=log,
    )


def repeat(
    experiment: Source,
    fabric: str | None = None,
    *,
    threads: int = 1,
    progress: Progress | None = None,
) -> Repeated:
    """Simulates one fabric with `run.repeat` seeds: `run.seed` and those after it, as
    many side by side as processors and memory allow.

    Args, errors: as of `run`; an experiment that does not repeat runs once.

    >>> repeated = repeat("examples/sirius.toml")  # doctest: +SKIP
    >>> repeated.interval("fct.short.p99_us").half_width  # doctest: +SKIP
    """
    check_count("threads", threads)
    experiment = _experiment(experiment)
    label = experiment.labels[experiment.index(fabric)]
    seeds = experiment.runnable(label).seeds()
    return Repeated(label, curves.run_seeds(seeds, label, run, threads, progress))


def compare(
    experiment: Source,
    *,
    threads: int = 1,
    progress: Progress | None = None,
    worst_failure: Search | bool | None = None,
    place: Place | None = None,
) -> Comparison:
    """Simulates every fabric of an experiment, one after another; then, if it
    has `[compare].loads` or `saturation`, every fabric at each of these loads, and
    at those of the search, as many at a time as keep the machine's processors busy. An
    experiment with `run.repeat` is compared once a seed.

    Args, errors: as of `run`; with `worst_failure` every fabric also runs with one part dead,
    for each part that is tried: `Comparison.resilience`. A `lightloom.failures.search.Search`
    says how many are; without it `worst_failure` of the experiment's `[decision]` decides.
    With a `place`, such as a cluster that was joined, simulations run there, all at once.

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
    """A comparison for each `[[compare.case]]` of an experiment, named by the
    case's label; or the one of an experiment without cases.

    Args, errors: as of `compare`.

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
    """A comparison for each of these presets of `[physics]`, which take the place of the
    experiment's own; of each case, where it has some. `lightloom.analysis.winners.changes` says
    whether the winner changes.

    Args, errors: as of `run`.

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
    """A comparison of each; with what breaks, if that is asked for."""
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


def _traced(summary: dict[str, Any], table: dict[str, Any], read: dict[str, Any]) -> dict[str, Any]:
    """A summary that says what made it: the build, and the files that its fabric read."""
    keys = {place.key for place in inputs.places(table)}
    files = {key: of for key, of in read.items() if key in keys}
    return {**summary, "build": identity.build(), inputs.INPUTS: files}


def _with_one_fabric(
    resolved: dict[str, Any], index: int, computed: list[str] | None
) -> dict[str, Any]:
    """The resolved experiment of one run: it compares and prices nothing, and what decisions
    took is in it where that was measured."""
    fabric = resolved["fabric"][index]
    if computed is not None:
        fabric = {**fabric, "computation_delay": computed}
    table = {key: value for key, value in of_core(resolved).items() if key != "compare"}
    table["fabric"] = [fabric]
    if "fault" in table:
        table["fault"] = faults_of(table["fault"], fabric["label"])
    inputs.kept(table, resolved)
    return {key: value for key, value in table.items() if value != []}
