"""`lightloom run`: one fabric, or all seeds of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

import typer

import lightloom
from lightloom.analysis import circuits, notes
from lightloom.cli import (
    console,
    forecast,
    physics,
    repeats,
    run_text,
)
from lightloom.cli.how import How, say_left
from lightloom.cli.options import (
    CopyInputs,
    DryRun,
    FromResult,
    Json,
    OutDir,
    Overrides,
    Threads,
    Verbose,
    doubt_threads,
    read_experiment,
    replaying,
)
from lightloom.config import inputs
from lightloom.errors import refusal
from lightloom.results.files import CIRCUITS, CONTROLLER, LINKS, result_names, seeds_of
from lightloom.results.result import Repeated, Result
from lightloom.simulation import forecasts
from lightloom.simulation.machine import check_count
from lightloom.storage.records import RECORD

Made = TypeVar("Made", Result, Repeated)


def run(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml")],
    set_: Overrides = None,
    from_: FromResult = None,
    out: OutDir = None,
    fabric: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Only this fabric, where the experiment has several."),
    ] = None,
    threads: Threads = 1,
    json: Json = False,
    dry_run: DryRun = False,
    copy_inputs: CopyInputs = False,
    verbose: Verbose = False,
) -> None:
    """Simulate an experiment and write its flows, time series and summary.

    An experiment with several fabrics is compared, as by `compare`.
    """
    with console.guarded():
        check_count("--threads", threads)
        loaded = replaying(read_experiment(experiment, set_), from_)
        if fabric is None and len(loaded.labels) > 1:
            from lightloom.cli import comparing

            how = How(out, threads, json, copy_inputs, verbose=verbose)
            comparing.compare([loaded], how, dry_run=dry_run, presets=())
            return
        label = _label(loaded, fabric)
        loaded = loaded.runnable(label)
        several = len(loaded.seeds()) > 1
        make = partial(forecasts.of_runs, [(loaded, label)], threads)
        workers = forecast.side_by_side(threads) if several else 1
        if dry_run:
            forecast.instead(make, workers, json)
            return
        how = How(out, threads, json, copy_inputs)
        if (target := how.target_of(loaded, label)) is not None:
            # Drawing the flows for a forecast may be slow.
            copies = [inputs.INPUTS] if copy_inputs else []
            console.claim_output(target, result_names(seeds_of(loaded.resolved())), copies)
        forecast.before(make, workers)
        (_repeat if several else _run)(loaded, label, how)


def _run(loaded: lightloom.Experiment, label: str, how: How) -> None:
    """Runs one fabric; writes its results and prints them."""
    result, target = _saved(lightloom.run, loaded, label, how)
    if how.json:
        return
    for line in circuits.leading_notes(result):
        console.say(f"note: {line}")
    run_text.print_run(result)
    for line in physics.in_force(result.experiment):
        console.say(line)
    servers = notes.of_cluster(loaded.raw.get("cluster", {}))
    for line in (
        *servers,
        *notes.of_traffic(result),
        *notes.notes_of_run(result),
        *notes.filling(result),
    ):
        console.say(f"note: {line}")
    more = [] if result.circuits is None else [CIRCUITS]
    more += [] if result.links is None else [LINKS]
    more += [] if result.controller_log is None else [CONTROLLER]
    if how.copy_inputs and target is not None and (target / inputs.INPUTS).is_dir():
        more.append(inputs.INPUTS)
    say_left(how, [result.experiment])
    files = ["experiment.toml", "flows.parquet", "timeseries.parquet", *more]
    _wrote(target, *files, "summary.json", RECORD)


def _saved(
    simulate: Callable[..., Made], loaded: lightloom.Experiment, label: str, how: How
) -> tuple[Made, Path | None]:
    """Saves the result that `simulate` makes of one fabric; returns both. With --json its summary
    is printed."""
    target = how.target_of(loaded, label)
    doubt_threads(how.threads)
    with console.progress(enabled=not how.json) as tick:
        made = simulate(loaded, label, threads=how.threads, progress=tick)
    if target is not None:
        made.save(target, copy_inputs=how.copy_inputs)
    if how.json:
        console.print_json(made.summary)
    return made, target


def _repeat(loaded: lightloom.Experiment, label: str, how: How) -> None:
    """Runs one fabric with several seeds; writes their results, and means with intervals."""
    repeated, target = _saved(lightloom.repeat, loaded, label, how)
    if how.json:
        return
    first = repeated.results[0]
    for line in circuits.leading_notes(first):
        console.say(f"note: seed {repeated.seeds[0]}: {line}")
    repeats.print_repeated(repeated)
    for line in physics.in_force(first.experiment):
        console.say(line)
    for line in notes.of_cluster(loaded.raw.get("cluster", {})):
        console.say(f"note: {line}")
    for line in (*notes.of_traffic(first), *notes.notes_of_run(first), *notes.filling(first)):
        console.say(f"note: seed {repeated.seeds[0]}: {line}")
    say_left(how, [repeated.experiment])
    if target is not None:
        folders = f"{target / 'seed-'}{repeated.seeds[0]}/ to {repeated.seeds[-1]}/"
        console.say(f"wrote {target / 'summary.json'} {target / 'experiment.toml'} {folders}")


def _label(experiment: lightloom.Experiment, wanted: str | None) -> str:
    """Returns the label of the requested fabric, or of the only one."""
    labels = experiment.labels
    if wanted is not None and labels and wanted not in labels:
        remedy = f"choose one of {', '.join(labels)}"
        raise refusal("--fabric", wanted, "no such label", remedy)
    return labels[experiment.index(wanted)]


def _wrote(target: Path | None, *names: str) -> None:
    if target is not None:
        console.say("wrote " + " ".join(str(target / name) for name in names))
