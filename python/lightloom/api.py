"""Run one fabric of an experiment, or compare all of them."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

from lightloom import _core, interrupts, traces
from lightloom.config import Experiment, befalling, load
from lightloom.results import (
    Comparison,
    Result,
    Summary,
    circuit_table,
    flow_table,
    series_table,
)

Source = Experiment | str | Path | Mapping[str, Any]


class Progress(Protocol):
    """Hears how a run goes, at most 20 times a second."""

    def __call__(self, label: str, now_s: float, end_s: float, delivered: float, /) -> object:
        """`now_s` of `end_s` simulated seconds are done (while a run drains,
        `end_s` is only its limit) and this fraction of all bytes is delivered.
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
        ConfigError: before anything runs, if the experiment cannot run.
        KeyboardInterrupt: soon after Ctrl-C.

    >>> result = run("examples/sirius.toml", threads=2)  # doctest: +SKIP
    >>> result.summary["fct"]["short"]["p99_us"]  # doctest: +SKIP
    """
    experiment = _experiment(experiment)
    index = experiment.index(fabric)
    label = experiment.labels[index]
    resolved = experiment.resolved()
    tick = None if progress is None else lambda *at: progress(label, *at)
    summary, flows, series, circuits = _core.run(
        experiment.json(), index, threads, tick, _columns(resolved["workload"])
    )
    table = _with_one_fabric(resolved, index)
    return Result(
        label=label,
        flows=flow_table(flows, table),
        timeseries=series_table(series, table),
        summary=json.loads(summary),
        experiment=table,
        circuits=circuit_table(circuits, table),
    )


def compare(
    experiment: Source, *, threads: int = 1, progress: Progress | None = None
) -> Comparison:
    """Simulates every fabric of an experiment, one after another; then, if it
    has `[compare].loads`, every fabric at each of these loads, as many at a
    time as keep the machine's processors busy.

    Args, errors: as of `run`.

    >>> comparison = compare("examples/compare.toml")  # doctest: +SKIP
    >>> comparison.results["clos"].summary["goodput_normalized"]  # doctest: +SKIP
    """
    experiment = _experiment(experiment)
    resolved = experiment.resolved()
    results = {
        label: run(experiment, label, threads=threads, progress=progress)
        for label in experiment.labels
    }
    return Comparison(
        name=experiment.name,
        experiment={key: value for key, value in resolved.items() if key != "name"},
        results=results,
        loads=_at_loads(experiment, resolved, results, threads, progress),
    )


def _experiment(source: Source) -> Experiment:
    return source if isinstance(source, Experiment) else load(source)


def _columns(workload: Mapping[str, Any]) -> Any:
    """The flows of a Parquet trace, which the core does not read."""
    path = workload.get("trace")
    if path is None or not traces.is_parquet(path, workload.get("trace_format")):
        return None
    return traces.columns_of_file(path)


def _with_one_fabric(resolved: dict[str, Any], index: int) -> dict[str, Any]:
    """The resolved experiment of one run: it compares nothing."""
    fabric = resolved["fabric"][index]
    table = {key: value for key, value in resolved.items() if key != "compare"}
    table["fabric"] = [fabric]
    if "fault" in table:
        table["fault"] = befalling(table["fault"], fabric["label"])
    return {key: value for key, value in table.items() if value != []}


def _at_loads(
    experiment: Experiment,
    resolved: Mapping[str, Any],
    results: Mapping[str, Result],
    threads: int,
    progress: Progress | None,
) -> dict[str, list[Summary]]:
    """Label → a summary per load. The load of the experiment itself has run
    already."""
    loads = resolved.get("compare", {}).get("loads", [])
    known = resolved["workload"].get("load")
    missing = [(label, load) for label in results for load in loads if load != known]
    summaries = _run_all(experiment, missing, threads, progress)
    return {
        label: [
            results[label].summary if load == known else summaries[label, load] for load in loads
        ]
        for label in results
    }


Case = tuple[str, float]


def _run_all(
    experiment: Experiment, cases: list[Case], threads: int, progress: Progress | None
) -> dict[Case, Summary]:
    """Runs the cases in threads, one simulation each: they release the GIL,
    so they run side by side, and nothing has to be sent between processes."""
    stopped = threading.Event()

    def heed(label: str, now_s: float, end_s: float, delivered: float, /) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt

    def simulate(case: Case) -> Summary:
        label, load = case
        return run(experiment.with_load(load), label, threads=threads, progress=heed).summary

    summaries: dict[Case, Summary] = {}
    workers = max(1, _processors() // threads)
    with interrupts.noted() as ctrl_c, ThreadPoolExecutor(workers) as pool:
        pending: dict[Future[Summary], Case] = {pool.submit(simulate, c): c for c in cases}
        try:
            while pending:
                for future in ctrl_c.finished(pending):
                    case = pending.pop(future)
                    summaries[case] = future.result()
                    if progress is not None:
                        end = summaries[case]["simulated_s"]
                        progress(f"{case[0]} at load {case[1]:g}", end, end, 1.0)
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise
    return summaries


def _processors() -> int:
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1
