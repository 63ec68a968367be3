"""`lightloom compare`: every fabric of some experiments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lightloom.cli import comparing, console, cost, papers, pdf, physics, places, resilience
from lightloom.cli.how import How
from lightloom.cli.options import (
    CopyInputs,
    DryRun,
    Figures,
    FromResult,
    Json,
    OutDir,
    Overrides,
    Threads,
    Verbose,
    read_experiment,
    replaying,
)
from lightloom.simulation.machine import check_count


def compare(
    experiments: Annotated[list[Path], typer.Argument(metavar="EXPERIMENT.toml…")],
    set_: Overrides = None,
    from_: FromResult = None,
    out: OutDir = None,
    physics_presets: Annotated[
        str | None,
        typer.Option(
            "--physics",
            metavar="PRESET,…",
            help="Compare under each of these presets of physics instead of the file's, and "
            "report whether the winner changes: ideal,realistic.",
        ),
    ] = None,
    prices: cost.Prices = None,
    price: cost.Price = None,
    worst_failure: resilience.WorstFailure = False,
    worst_of: resilience.WorstOf = None,
    pdf_: pdf.Pdf = None,
    figures: Figures = None,
    threads: Threads = 1,
    scheduler: places.Scheduler = None,
    scheduler_file: places.SchedulerFile = None,
    json: Json = False,
    dry_run: DryRun = False,
    copy_inputs: CopyInputs = False,
    verbose: Verbose = False,
) -> None:
    """Simulate every fabric of each experiment and write report.html.

    Several experiments share one report, in which the reader selects one.
    """
    with console.guarded():
        check_count("--threads", threads)
        styles = papers.wanted(figures, writes=out is not None or not json)
        loaded = [
            cost.with_prices(replaying(read_experiment(path, set_), from_), prices, price)
            for path in experiments
        ]
        presets = physics.wanted(physics_presets)
        search = resilience.asked(worst_failure, worst_of, loaded)
        with places.cluster(scheduler, scheduler_file) as place:
            how = How(out, threads, json, copy_inputs, pdf_, search, verbose, place)
            comparing.compare(loaded, how, dry_run=dry_run, presets=presets, styles=styles)
