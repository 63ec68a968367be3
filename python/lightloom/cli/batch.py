"""`sweep` and `reproduce`: many simulations on the processors of this machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from lightloom.cli import bars, console, forecast, papers, places, sweep_table, testbed_claims
from lightloom.cli.options import DryRun, OutDir, Overrides, Workers, check_file
from lightloom.cli.verdicts import print_verdicts
from lightloom.config import loads
from lightloom.errors import refusal
from lightloom.simulation import forecasts
from lightloom.simulation.machine import check_count, processors
from lightloom.storage.trial import check_names
from lightloom.units import formats
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom import sweep as sweeps
    from lightloom.storage.staging import Staging


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml")],
    set_: Overrides = None,
    out: OutDir = None,
    workers: Workers = None,
    scheduler: places.Scheduler = None,
    scheduler_file: places.SchedulerFile = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Skip points that exist already.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """Run a grid of simulations and gather their summaries in one table.

    The exit code is 1 if a point failed: the table and sweep.json say which.
    """
    from lightloom import sweep as sweeps

    with console.guarded():
        _check_workers(workers)
        check_file("SWEEP", file)
        study = sweeps.read(file)
        study = study.model_copy(update={"set": [*study.set, *(set_ or [])]})
        target = console.check_output(out if out is not None else Path("results") / file.stem)
        if not dry_run:
            console.claim_output(target)
        with console.aside():
            points = sweeps.expand(study)
            if not dry_run:
                files, folders = sweeps.names(points, flows=study.flows)
                check_names(target, [*files, "report.html"], [*folders, "figures"])
            kept = sweeps.find_done(points, target, study, _note) if resume else {}
            if kept:
                sweeps.say_left(target)
            missing = [point for point in points if point.id not in kept]
        screen = console.err()
        with places.cluster(scheduler, scheduler_file, workers, screen) as cluster:
            executor = cluster or sweeps.Local(workers or processors(), _noting(screen), apart=True)
            each = _foretold(missing)
            make = partial(forecasts.one_by_one, each)
            if dry_run:
                _dry_run(points, missing, each, executor.at_once)
                return
            forecast.before(make, executor.at_once, apart=True)
            with bars.counting(screen) as counter:
                outcome = sweeps.run_sweep(
                    study,
                    target,
                    executor=executor,
                    resume=resume,
                    points=points,
                    kept=kept,
                    costs=[one.seconds for one in each],
                    done=lambda finished, total: counter(file.stem, finished, total),
                    # Before any output, so that the page is written even if the reader of the
                    # output stops.
                    show=partial(_stage_page, file.stem, target),
                )
        if (window := sweeps.chosen_window(study)) is not None:
            console.say(f"note: {window.line()}")
        _tell(file.stem, outcome, target)
        if outcome.failed:
            _print_failed(outcome)
            raise typer.Exit(1)


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
            help="Simulate fewer flows and points: one or two minutes for all papers; fewer "
            "claims are judged.",
        ),
    ] = False,
    readings: Annotated[
        bool,
        typer.Option(
            "--readings",
            help="Also measure with each reading of an ambiguous text, which takes several times "
            "as long.",
        ),
    ] = False,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Store the measured values beside the claims, in validation/*/measured.json, from "
            "which the status page is generated.",
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Print the statement of the source and the measured value of every claim, also "
            "for several papers.",
        ),
    ] = False,
    testbed: Annotated[
        bool,
        typer.Option(
            "--testbed",
            help="Judge the claims that need an application, on the Linux testbed (as root), "
            "instead of the others.",
        ),
    ] = False,
    out: OutDir = None,
    workers: Workers = None,
    scheduler: places.Scheduler = None,
    scheduler_file: places.SchedulerFile = None,
) -> None:
    """Run a paper's figures again and judge its claims; without a name, all papers.

    Each figure is named on standard error when it begins and when it ends. --quick gives
    a first impression in a minute or two.

    The exit code is 0 if every claim's outcome is the one on record, else 1.
    """
    from lightloom import sweep as sweeps
    from lightloom import validation as reproduction

    with console.guarded():
        _check_workers(workers)
        _check_record(record, quick)
        if testbed:
            given = {
                "--readings": readings,
                "--workers": workers,
                "--scheduler": scheduler,
                "--scheduler-file": scheduler_file,
            }
            return testbed_claims.judge(target, out, given, quick=quick, keep=record)
        folder = console.check_output(out if out is not None else Path("results") / "reproduce")
        console.claim_output(folder)
        screen = console.err()
        local = sweeps.Local(workers or processors(), _noting(screen))
        with (
            places.cluster(scheduler, scheduler_file, workers, screen) as cluster,
            bars.counting(screen) as counter,
        ):
            verdicts, paths = reproduction.reproduce(
                target,
                folder,
                quick=quick,
                readings=readings,
                workers=workers or processors(),
                executor=cluster or local,
                progress=counter,
                told=lambda line: screen.print(line, markup=False),
            )
        print_verdicts(verdicts, verbose=verbose)
        figures = [path for path in paths if path.suffix == ".svg"]
        console.say(f"wrote {paths[-1]} and {counted(len(figures), 'figure')} below {folder}")
        if record:
            for claim in reproduction.outdated(verdicts):
                _note(
                    f"{claim} has another value now, so its values by other readings are removed "
                    "(--readings)"
                )
            for path in reproduction.record(verdicts):
                console.say(f"recorded {path}")
        changed = [v.claim.id for v in verdicts if not v.as_recorded]
        if changed:
            console.err().print(f"not as recorded: {', '.join(changed)}", markup=False)
            raise typer.Exit(1)
    return None


def _foretold(missing: Sequence[sweeps.Point]) -> list[forecasts.Forecast]:
    """Forecasts each point, by trials in a separate process."""
    from lightloom.sweep.executors import trying

    def lost(index: int, how: str) -> None:
        _note(
            f"the process of the trial of {missing[index].id} died ({how}): the point has no "
            "estimate and begins last"
        )

    pairs = [(point.experiment, point.fabric) for point in missing]
    with trying.apart() as tried:
        return forecasts.of_points(pairs, tried, lost)


def _dry_run(
    points: Sequence[sweeps.Point],
    missing: Sequence[sweeps.Point],
    each: Sequence[forecasts.Forecast],
    workers: int,
) -> None:
    """Prints what would run, the time that it would take, and the longest point."""
    forecast.instead(partial(forecasts.one_by_one, each), workers, apart=True)
    there = len(points) - len(missing)
    console.say(f"{counted(len(points), 'point')}" + (f", {there} there already" if there else ""))
    if missing:
        longest = max(range(len(missing)), key=lambda place: each[place].seconds)
        taken = each[longest]
        if math.isfinite(taken.seconds) and not taken.unknown:
            time = forecast.span(taken.seconds)
            memory = formats.size(taken.memory_bytes + forecasts.WORKER_BYTES)
            console.say(f"longest point: {missing[longest].id}, {time}, {memory} of memory")


def _tell(name: str, outcome: sweeps.Outcome, target: Path) -> None:
    """Prints the results of a sweep, and their path."""
    reused = f", {outcome.reused} of them from before" if outcome.reused else ""
    lost = f", {len(outcome.failed)} failed" if outcome.failed else ""
    points_run = len(outcome.points) + len(outcome.failed)
    console.say(f"{name}: {counted(points_run, 'point')}{reused}{lost}")
    screen = console.out()
    screen.print(sweep_table.table(outcome))
    for part in sweep_table.tables_of_jobs(outcome, screen.width):
        screen.print(part)
    for line in sweep_table.legend(outcome):
        console.say(line)
    if (varied := _varied(outcome)) is not None:
        console.say(varied)
    for note in sweep_table.cut_points(outcome):
        console.say(f"note: {note}")
    for line in sweep_table.traffic([*zip(outcome.points, outcome.summaries, strict=True)]):
        console.say(f"note: {line}")
    console.say(f"wrote {outcome.json} {outcome.parquet} {target / 'points'}/")
    console.say(f"report: {target / 'report.html'}")
    for line in papers.lacking(point.fabric for point in outcome.points):
        console.say(line)
    if outcome.others:
        there = f"{counted(outcome.others, 'point')} of earlier grids"
        console.say(f"note: {target / 'points'} also has {there}, which are in no table")


def _varied(outcome: sweeps.Outcome) -> str | None:
    """States which parts of a mix the loads of a sweep change."""
    points = [p for p in outcome.points if "workload.load" in p.grid]
    return loads.varied(points[0].experiment.raw) if points else None


def _noting(screen: Console) -> Callable[[str], None]:
    """Returns a function that prints notes on the screen of a bar; another screen would break the
    bar."""
    return lambda line: screen.print(f"note: {line}", markup=False)


def _note(line: str) -> None:
    _noting(console.err())(line)


def _check_record(record: bool, quick: bool) -> None:
    """Raises an error if a run is too small to be recorded."""
    if record and quick:
        raise refusal("--record", "--quick", "is too small to be on record", "leave out --quick")


def _check_workers(workers: int | None) -> None:
    """Raises an error for an invalid number of processes."""
    if workers is not None:
        check_count("--workers", workers)


FAILED_SHOWN = 10


def _print_failed(outcome: sweeps.Outcome) -> None:
    """Prints the points that failed, and the reasons."""
    screen = console.err()
    for point, failed in outcome.failed[:FAILED_SHOWN]:
        line = f"failed: {point.id} (fabric {point.fabric}): {failed.message}"
        if failed.trace is not None:
            screen.print(failed.trace.rstrip(), markup=False, highlight=False, soft_wrap=True)
        screen.print(line, markup=False)
    if len(outcome.failed) > FAILED_SHOWN:
        more = len(outcome.failed) - FAILED_SHOWN
        screen.print(f"failed: {more} more, see `error` in {outcome.json}", markup=False)


def _stage_page(name: str, target: Path, each: Sequence[sweeps.Found], staging: Staging) -> None:
    """Stages the page of a sweep, in the order of its grid."""
    from lightloom.report import sweeps as pages
    from lightloom.sweep import Failed

    came = [(p.grid, p.fabric, None if isinstance(of, Failed) else of) for p, of in each]
    pages.stage(name, pages.gathered(came), target, staging, sweep_table.traffic(each))
