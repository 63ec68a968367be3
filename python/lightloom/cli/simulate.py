"""`run` and `compare`: one fabric, or several on one workload."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import lightloom
from lightloom import console, forecasts, identity, inputs, interrupts, networks
from lightloom.cli import (
    bars,
    compared,
    cost,
    forecast,
    headline,
    notes,
    papers,
    pdf,
    physics,
    places,
    repeats,
    resilience,
    run_text,
)
from lightloom.cli.compared import Decisions
from lightloom.cli.options import (
    CopyInputs,
    DryRun,
    Figures,
    Json,
    OutDir,
    Overrides,
    Threads,
    doubt_threads,
    read_experiment,
)
from lightloom.errors import refusal
from lightloom.machine import check_count
from lightloom.results import (
    CIRCUITS,
    COMPARISON_FILES,
    CONTROLLER,
    COST_FILES,
    PAGE_FILES,
    RESULT_FILES,
    Repeated,
    Result,
    stage_cases,
)
from lightloom.writing import Staging
from lightloom.writing.records import RECORD

if TYPE_CHECKING:
    from lightloom.economics.book import Book
    from lightloom.report.decisions import Decision
    from lightloom.resilience.search import Search
    from lightloom.sweep.executors.cluster import Cluster

RESULTS = Path("results")
Made = TypeVar("Made", Result, Repeated)


def run(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml")],
    set_: Overrides = None,
    out: OutDir = None,
    fabric: Annotated[
        str | None,
        typer.Option(metavar="LABEL", help="Only this fabric, where the experiment has several."),
    ] = None,
    threads: Threads = 1,
    json: Json = False,
    dry_run: DryRun = False,
    copy_inputs: CopyInputs = False,
) -> None:
    """Simulate an experiment and write its flows, time series and summary.

    An experiment with several fabrics is compared, as by `compare`.
    """
    with console.guarded():
        check_count("--threads", threads)
        loaded = read_experiment(experiment, set_)
        if fabric is None and len(loaded.labels) > 1:
            how = _How(out, threads, json, copy_inputs)
            _compare([loaded], how, dry_run=dry_run, presets=())
            return
        label = _label(loaded, fabric)
        loaded = loaded.runnable(label)
        several = len(loaded.seeds()) > 1
        make = partial(forecasts.of_runs, [(loaded, label)], threads)
        workers = forecast.side_by_side(threads) if several else 1
        if dry_run:
            forecast.instead(make, workers, json)
            return
        how = _How(out, threads, json, copy_inputs)
        if (target := how.target_of(loaded, label)) is not None:
            console.claim_output(target)  # drawing the flows of a forecast may take long
        forecast.before(make, workers)
        (_repeat if several else _run)(loaded, label, how)


def compare(
    experiments: Annotated[list[Path], typer.Argument(metavar="EXPERIMENT.toml…")],
    set_: Overrides = None,
    out: OutDir = None,
    physics_presets: Annotated[
        str | None,
        typer.Option(
            "--physics",
            metavar="PRESET,…",
            help="Compare under each of these presets of physics, in place of the file's, and "
            "say whether the winner changes: ideal,realistic.",
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
) -> None:
    """Simulate every fabric of each experiment and write report.html.

    Several experiments share one report, which lets its reader choose.
    """
    with console.guarded():
        check_count("--threads", threads)
        styles = papers.wanted(figures, writes=out is not None or not json)
        loaded = [
            cost.with_prices(read_experiment(path, set_), prices, price) for path in experiments
        ]
        presets = physics.wanted(physics_presets)
        search = resilience.asked(worst_failure, worst_of, loaded)
        with places.cluster(scheduler, scheduler_file) as place:
            how = _How(out, threads, json, copy_inputs, pdf_, search, place)
            _compare(loaded, how, dry_run=dry_run, presets=presets, styles=styles)


@dataclass(frozen=True)
class _How:
    """How results are made and written."""

    out: Path | None
    threads: int
    json: bool
    copy_inputs: bool
    pdf: str | None = None
    search: Search | None = None
    """How what breaks is looked for; None where each experiment says whether it is."""
    place: Cluster | None = None
    """Where simulations run, if not in this process."""

    def target(self, default: Path) -> Path | None:
        """Where to write; `--json` alone writes nothing."""
        if self.out is not None or not self.json:
            return console.check_output(self.out if self.out is not None else default)
        if self.copy_inputs:
            remedy = "add -o DIR, or remove it"
            raise refusal("--copy-inputs", "(set)", "--json alone writes nothing", remedy)
        return None

    def target_of(self, loaded: lightloom.Experiment, label: str) -> Path | None:
        """Where one fabric is written."""
        return self.target(RESULTS / _folder(loaded.name) / label)


def _run(loaded: lightloom.Experiment, label: str, how: _How) -> None:
    """One fabric: its results, and what to say of them."""
    result, target = _saved(lightloom.run, loaded, label, how)
    if how.json:
        return
    run_text.print_run(result.summary, result.experiment, result.flows.num_rows, result.utilisation)
    for line in physics.in_force(result.experiment):
        console.say(line)
    servers = notes.of_cluster(loaded.raw.get("cluster", {}))
    for line in (*servers, *compared.of_workload(result), *notes.of(result)):
        console.say(f"note: {line}")
    more = [] if result.circuits is None else [CIRCUITS]
    more += [] if result.controller_log is None else [CONTROLLER]
    if how.copy_inputs and target is not None and (target / inputs.INPUTS).is_dir():
        more.append(inputs.INPUTS)
    _say_left(how, [result.experiment])
    files = ["experiment.toml", "flows.parquet", "timeseries.parquet", *more]
    _wrote(target, *files, "summary.json", RECORD)


def _saved(
    simulate: Callable[..., Made], loaded: lightloom.Experiment, label: str, how: _How
) -> tuple[Made, Path | None]:
    """What `simulate` makes of one fabric, and where it was saved; with --json its summary is
    printed."""
    target = how.target_of(loaded, label)
    doubt_threads(how.threads)
    with console.progress(enabled=not how.json) as tick:
        made = simulate(loaded, label, threads=how.threads, progress=tick)
    if target is not None:
        made.save(target, copy_inputs=how.copy_inputs)
    if how.json:
        console.print_json(made.summary)
    return made, target


def _repeat(loaded: lightloom.Experiment, label: str, how: _How) -> None:
    """One fabric with several seeds: their results, and means with intervals."""
    repeated, target = _saved(lightloom.repeat, loaded, label, how)
    if how.json:
        return
    repeats.print_repeated(repeated)
    first = repeated.results[0]
    for line in physics.in_force(first.experiment):
        console.say(line)
    for line in notes.of_cluster(loaded.raw.get("cluster", {})):
        console.say(f"note: {line}")
    for line in (*compared.of_workload(first), *notes.of(first)):
        console.say(f"note: seed {repeated.seeds[0]}: {line}")
    _say_left(how, [repeated.experiment])
    if target is not None:
        folders = f"{target / 'seed-'}{repeated.seeds[0]}/ to {repeated.seeds[-1]}/"
        console.say(f"wrote {target / 'summary.json'} {target / 'experiment.toml'} {folders}")


def _compare(
    loaded: list[lightloom.Experiment],
    how: _How,
    *,
    dry_run: bool,
    presets: Sequence[str],
    styles: Sequence[str] = (),
) -> None:
    """All fabrics of some experiments, under each preset of physics: their results, tables
    and report."""
    cases = [physics.cases(one, presets) for one in loaded]
    every = [case for group in cases for case in group]
    _distinct(every)
    books = [cost.book_of(case.raw) for case in every]
    target = how.target(RESULTS / _folder("+".join(e.name for e in loaded)))
    threads, json = how.threads, how.json
    sheet = None if how.pdf is None else (pdf.target(how.pdf, target), pdf.check(books))
    breaking = [case for case in every if resilience.breaks(case, how.search)]
    make = partial(resilience.foretold, every, breaking, threads, how.search)
    beside = len(presets) > 1 or bool(breaking) or any(map(forecast.in_parallel, loaded))
    workers = forecast.side_by_side(threads) if beside else 1
    workers = workers if how.place is None else how.place.at_once
    if dry_run:
        forecast.instead(make, workers, json, forecast.REPORT)
        return
    if target is not None:
        console.claim_output(target)
    if how.place is None:
        doubt_threads(threads)
    forecast.before(make, workers, forecast.REPORT)
    made: list[list[lightloom.Comparison]] = []
    for one in loaded:
        with console.progress(enabled=not json) as tick:
            made.append(_made(one, presets, how, tick))
    comparisons = [comparison for group in made for comparison in group]
    # Before anything is printed: a reader that goes away takes no results with it.
    with interrupts.noted():  # results, figures and page belong to one comparison
        decided = _decided(comparisons, books)
        report, drawn = None, []
        with Staging(target) as staging:
            if target is not None:
                _stage(comparisons, target, cases, staging, copy_inputs=how.copy_inputs)
                report = _report(comparisons, decided, target, staging)
                drawn = papers.draw(comparisons, target, styles, staging)
            if sheet is not None:
                _print_sheet(comparisons, decided, *sheet, staging)
    if json:
        tables = {
            c.name: resilience.beside(c, _with_costs(c.summaries, d))
            for c, d in zip(comparisons, decided, strict=True)
        }
        console.print_json(tables if len(tables) > 1 else next(iter(tables.values())))
        return
    headline.print_first(comparisons, decided)
    said: set[str] = set()
    left = iter(decided)
    for one, parts, group in zip(loaded, cases, made, strict=True):
        bought = [next(left) for _ in group]
        compared.print_comparisons(one.name, group, bought, said)
        for case in parts:
            resolved = case.resolved()
            unlike = (*networks.left_open(case.raw, resolved), *networks.elsewhere(resolved))
            lines = (*notes.of_cluster(case.raw.get("cluster", {})), *unlike)
            compared.explain((f"note: {line}" for line in lines), said)
        for decision in bought:
            if decision is not None:
                cost.print_compared(decision)
        for comparison in group:
            resilience.print_worst(comparison)
        for sentence in physics.changes(group):
            console.say(sentence)
    _say_left(how, [comparison.experiment for comparison in comparisons])
    if report is not None:
        console.say(f"report: {report}")
    if sheet is not None:
        console.say(f"decision: {sheet[0]}")
    for folder in drawn:
        console.say(f"figures: {folder}")


def _decided(
    comparisons: Sequence[lightloom.Comparison], books: Sequence[Book | None]
) -> Decisions:
    """Which fabric of each to buy, where there are prices."""
    if not any(books):
        return [None] * len(comparisons)
    from lightloom import report

    return report.decide(comparisons, books)


def _print_sheet(
    comparisons: Sequence[lightloom.Comparison],
    decided: Decisions,
    path: Path,
    browser: str,
    staging: Staging,
) -> None:
    """The decisions as PDF."""
    from lightloom import report
    from lightloom.report import sheets

    broken = [report.broken(comparison) for comparison in comparisons]
    sheets.write(report.read(comparisons), decided, path, browser, broken, staging)


def _with_costs(summaries: dict[str, Any], decision: Decision | None) -> dict[str, Any]:
    """Summaries with what each fabric costs and draws, where there are prices."""
    if decision is None:
        return summaries
    return {x: {**summary, "cost": decision.of_label(x)} for x, summary in summaries.items()}


def _say_left(how: _How, experiments: Iterable[Mapping[str, Any]]) -> None:
    """Says which files were not copied, as they are not those of the run any more."""
    if how.copy_inputs:
        for key in dict.fromkeys(key for one in experiments for key in inputs.changed(dict(one))):
            console.say(f"note: the file of {key} has changed since the run began: not copied")


def _made(
    experiment: lightloom.Experiment, presets: Sequence[str], how: _How, tick: lightloom.Progress
) -> list[lightloom.Comparison]:
    """A comparison of each case, under each preset of physics."""
    options: dict[str, Any] = {"threads": how.threads, "progress": tick, "place": how.place}
    if presets:
        return lightloom.compare_physics(experiment, presets, worst_failure=how.search, **options)
    return lightloom.compare_cases(experiment, worst_failure=how.search, **options)


def _stage(
    comparisons: list[lightloom.Comparison],
    target: Path,
    cases: list[list[lightloom.Experiment]],
    staging: Staging,
    *,
    copy_inputs: bool,
) -> None:
    """The results, below the names of experiments or cases if there are several."""
    if len(comparisons) == 1:
        comparisons[0].stage(staging, target, copy_inputs=copy_inputs)
        return
    folders = {_folder(c.name): c for c in comparisons}
    if len(cases) == 1:
        stage_cases(folders, target, staging, copy_inputs=copy_inputs)
        return
    for name, comparison in folders.items():
        comparison.stage(staging, target / name, copy_inputs=copy_inputs)
    staging.record(target, {"build": identity.build(), "inputs": []})


def _report(
    comparisons: list[lightloom.Comparison], decided: Decisions, target: Path, staging: Staging
) -> Path:
    """What fabrics cost, beside the results of each comparison, and the page of all."""
    from lightloom import report

    alone = len(comparisons) == 1
    for comparison, decision in zip(comparisons, decided, strict=True):
        if decision is not None:
            cost.stage(decision, target if alone else target / _folder(comparison.name), staging)
    with bars.counting() as count:
        return report.stage(comparisons, target, staging, partial(count, "report"), decided)


def _label(experiment: lightloom.Experiment, wanted: str | None) -> str:
    """The label of the fabric that is asked for, or of the only one."""
    labels = experiment.labels
    if wanted is not None and labels and wanted not in labels:
        remedy = f"choose one of {', '.join(labels)}"
        raise refusal("--fabric", wanted, "no such label", remedy)
    return labels[experiment.index(wanted)]


def _distinct(experiments: list[lightloom.Experiment]) -> list[lightloom.Experiment]:
    """Experiments are told apart by name, in the report and on disk."""
    names = [_folder(e.name) for e in experiments]
    taken = {*RESULT_FILES, *COMPARISON_FILES, *COST_FILES, *PAGE_FILES, inputs.INPUTS}
    for name in names:
        if len(names) > 1 and name.lower() in taken:
            limit = "results have a file of this name"
            raise refusal("EXPERIMENT", name, limit, "rename the file or case")
        if names.count(name) > 1:
            raise refusal(
                "EXPERIMENT",
                name,
                "two experiments have this name",
                "rename one of the files or cases",
            )
    return experiments


def _folder(name: str) -> str:
    """An experiment's name as that of a folder: it may be any text."""
    return re.sub(r"[^\w.+-]+", "-", name).lstrip(".") or "experiment"


def _wrote(target: Path | None, *names: str) -> None:
    if target is not None:
        console.say("wrote " + " ".join(str(target / name) for name in names))
