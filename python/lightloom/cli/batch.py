"""`sweep` and `reproduce`: many simulations on the processors of this machine."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from lightloom import console, forecasts
from lightloom.cli import bars, completion, forecast
from lightloom.cli.options import DryRun, OutDir, Workers, check_file
from lightloom.cli.verdicts import print_verdicts
from lightloom.counts import counted
from lightloom.machine import check_count, processors

if TYPE_CHECKING:
    from lightloom import sweep as sweeps


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml")],
    out: OutDir = None,
    workers: Workers = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Skip the points that are there already.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Run a grid of simulations and gather their summaries in one table."""
    from lightloom import sweep as sweeps

    with console.guarded():
        _check_workers(workers)
        check_file("SWEEP", file)
        study = sweeps.read(file)
        target = console.check_output(out if out is not None else Path("results") / file.stem)
        if not dry_run:
            console.claim_output(target)
        at_once = workers or processors()
        with console.aside():
            points = sweeps.expand(study)
            kept = sweeps.find_done(points, target, study, _note) if resume else {}
            missing = [(point.experiment, point.fabric) for point in points if point.id not in kept]
        make = partial(forecasts.of_points, missing)
        if dry_run:
            forecast.instead(make, at_once)
            return
        forecast.before(make, at_once)
        with bars.counting() as counter:
            outcome = sweeps.run_sweep(
                study,
                target,
                workers=at_once,
                resume=resume,
                points=points,
                kept=kept,
                done=lambda finished, total: counter(file.stem, finished, total),
            )
        reused = f", {outcome.reused} of them from before" if outcome.reused else ""
        console.say(f"{file.stem}: {counted(len(outcome.points), 'point')}{reused}")
        console.out().print(_sweep_table(outcome))
        for line in completion.legend_of_times(_named(outcome)):
            console.say(line)
        console.say(f"wrote {outcome.json} {outcome.parquet} {target / 'points'}/")


def reproduce(
    target: Annotated[
        str,
        typer.Argument(
            metavar="[FABRIC[/FIGURE] | all]",
            help="sirius, sirius/fig12 or all, which takes long without --quick.",
        ),
    ] = "all",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Fewer flows and points: a minute or two for all; fewer claims judged.",
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Of every claim what its source says and what is measured, also of several "
            "papers.",
        ),
    ] = False,
    out: OutDir = None,
    workers: Workers = None,
) -> None:
    """Run a paper's figures again and judge its claims; all of them unless told otherwise.

    Each figure is named on standard error when it begins and when it ends. --quick gives
    a first impression in a minute or two.

    The exit code is 0 if every claim's outcome is the one on record, else 1.
    """
    from lightloom import reproduce as reproduction

    with console.guarded():
        _check_workers(workers)
        folder = console.check_output(out if out is not None else Path("results") / "reproduce")
        console.claim_output(folder)
        screen = console.err()
        with bars.counting(screen) as counter:
            verdicts, paths = reproduction.reproduce(
                target,
                folder,
                quick=quick,
                workers=workers or processors(),
                progress=counter,
                told=lambda line: screen.print(line, markup=False),
            )
        print_verdicts(verdicts, verbose=verbose)
        figures = [path for path in paths if path.suffix == ".svg"]
        console.say(f"wrote {paths[-1]} and {counted(len(figures), 'figure')} below {folder}")
        changed = [v.claim.id for v in verdicts if not v.as_recorded]
        if changed:
            console.err().print(f"not as recorded: {', '.join(changed)}", markup=False)
            raise typer.Exit(1)


def _note(line: str) -> None:
    console.err().print(f"note: {line}", markup=False)


def _check_workers(workers: int | None) -> None:
    """Refuses a number of processes that cannot be."""
    if workers is not None:
        check_count("--workers", workers)


ROWS_SHOWN = 40


def _sweep_table(outcome: sweeps.Outcome) -> Table:
    """A row per point and fabric, its figures averaged over the seeds."""
    groups: dict[tuple[str, ...], list[console.Summary]] = {}
    for point, summary in zip(outcome.points, outcome.summaries, strict=True):
        key = (*(str(value) for value in point.grid.values()), point.fabric)
        groups.setdefault(key, []).append(summary)
    table = console.plain_table()
    for name in (*outcome.points[0].grid, "fabric"):
        table.add_column(name.replace(".", ".\n"))
    shown = (completion.load_column(_named(outcome)), *completion.TIMES)
    for heading, _, _ in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    for key, summaries in list(groups.items())[:ROWS_SHOWN]:
        table.add_row(*key, *(show(summaries, path) for _, path, show in shown))
    if len(groups) > ROWS_SHOWN:
        table.add_row(f"… {len(groups) - ROWS_SHOWN} more in {outcome.parquet.name}")
    return table


def _named(outcome: sweeps.Outcome) -> dict[str, console.Summary]:
    """All summaries of a sweep."""
    return {str(i): summary for i, summary in enumerate(outcome.summaries)}
