"""`lightloom run`: one fabric, or all seeds of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

import lightloom
from lightloom.cli import console, forecast, loading
from lightloom.cli.how import How
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
from lightloom.results.files import result_names, seeds_of
from lightloom.simulation import forecasts
from lightloom.simulation.machine import check_count


def run(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml")],
    set_: Overrides = None,
    from_: FromResult = None,
    out: OutDir = None,
    fabric: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Run only this fabric, if the experiment has several."),
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
        _simulate(loaded, label, how, target, several)


def _simulate(
    loaded: lightloom.Experiment, label: str, how: How, target: Path | None, several: bool
) -> None:
    """Runs one fabric, with all seeds if there are `several`; writes its results and prints
    them."""
    doubt_threads(how.threads)
    with loading.ahead("cli.run_output"), console.progress(enabled=not how.json) as tick:
        simulate = lightloom.repeat if several else lightloom.run
        made = simulate(loaded, label, threads=how.threads, progress=tick)
    if target is not None:
        made.save(target, copy_inputs=how.copy_inputs)
    if how.json:
        console.print_json(made.summary)
        return
    from lightloom.cli import run_output

    run_output.write(made, loaded, how, target)


def _label(experiment: lightloom.Experiment, wanted: str | None) -> str:
    """Returns the label of the requested fabric, or of the only one."""
    labels = experiment.labels
    if wanted is not None and labels and wanted not in labels:
        remedy = f"choose one of {', '.join(labels)}"
        raise refusal("--fabric", wanted, "no such label", remedy)
    return labels[experiment.index(wanted)]
