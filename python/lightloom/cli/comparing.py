"""`compare`: all fabrics of some experiments, from the forecast to the report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightloom
from lightloom.analysis import notes, reading
from lightloom.cli import (
    bars,
    brief,
    compared,
    console,
    cost,
    forecast,
    headline,
    loading,
    on_top,
    papers,
    pdf,
    physics,
    resilience,
)
from lightloom.cli.compared import Decisions
from lightloom.cli.how import RESULTS, How, folder, say_left
from lightloom.cli.options import doubt_threads
from lightloom.config import identity, inputs, networks
from lightloom.errors import refusal
from lightloom.results.files import (
    COMPARISON_FILES,
    COST_FILES,
    PAGE_FILES,
    RESULT_FILES,
    comparison_names,
    seeds_of,
)
from lightloom.results.result import stage_cases
from lightloom.simulation import forecasts, interrupts, windows
from lightloom.storage.records import RECORD
from lightloom.storage.staging import Staging

if TYPE_CHECKING:
    from lightloom.costs.book import Book
    from lightloom.report.decisions import Decision


def compare(
    loaded: list[lightloom.Experiment],
    how: How,
    *,
    dry_run: bool,
    presets: Sequence[str],
    styles: Sequence[str] = (),
) -> None:
    """Compares all fabrics of some experiments, under each preset of physics, and writes results,
    tables and report."""
    windowed = [(one.name, windows.chosen(one)) for one in loaded]
    loaded = [
        one if found is None else windows.with_window(one, found)
        for one, (_, found) in zip(loaded, windowed, strict=True)
    ]
    cases = [physics.cases(one, presets) for one in loaded]
    every = [case for group in cases for case in group]
    _distinct(every)
    books = [cost.book_of(case.raw) for case in every]
    target = how.target(RESULTS / folder("+".join(e.name for e in loaded)))
    sheet = None if how.pdf is None else (pdf.target(how.pdf, target), pdf.check(books))
    make, workers = _forecast(loaded, every, presets, how)
    more = on_top.line(
        len(every), report=target is not None, styles=len(styles), sheet=sheet is not None
    )
    if dry_run:
        forecast.instead(make, workers, how.json, more)
        return
    if target is not None:
        console.claim_output(target, *_names(every, books, len(loaded), how, styles))
    if how.place is None:
        doubt_threads(how.threads)
    forecast.before(make, workers, more)
    with nullcontext() if target is None else loading.ahead("report"):
        made = [_made(one, presets, how) for one in loaded]
    comparisons = [comparison for group in made for comparison in group]
    # Before any output, so that results are written even if the reader of the output stops.
    with interrupts.noted():  # results, figures and page belong together
        decided = _decided(comparisons, books)
        written = _write(comparisons, decided, cases, target, how, sheet=sheet, styles=styles)
    if how.json:
        _print_json(comparisons, decided)
        return
    chosen = [f"{name}: {window.line()}" for name, window in windowed if window is not None]
    if how.verbose:
        for line in chosen:
            console.say(f"note: {line}")
        headline.print_first(comparisons, decided)
        _print_each(loaded, cases, made, decided)
    else:
        brief.print_all(every, comparisons, decided, chosen)
    say_left(how, [comparison.experiment for comparison in comparisons])
    for line in written:
        console.say(line)


def _names(
    every: Sequence[lightloom.Experiment],
    books: Sequence[Book | None],
    experiments: int,
    how: How,
    styles: Sequence[str],
) -> tuple[list[str], list[str]]:
    """Returns the files and folders that will be written, relative to the target."""
    alone = len(every) == 1
    files = ["report.html", RECORD]
    if not alone and experiments == 1:
        files.append("comparison.json")
    folders = ["figures", *(f"figures/{style}" for style in styles)]
    for case, book in zip(every, books, strict=True):
        below = "" if alone else f"{folder(case.name)}/"
        names = comparison_names(case.labels, seeds_of(case.resolved()))
        files += [f"{below}{name}" for name in (*names, *(COST_FILES if book else ()))]
        folders += [f"{below}{inputs.INPUTS}"] if how.copy_inputs else []
    return files, folders


def _forecast(
    loaded: Sequence[lightloom.Experiment],
    every: list[lightloom.Experiment],
    presets: Sequence[str],
    how: How,
) -> tuple[Callable[[], forecasts.Forecast], int]:
    """Returns a function that forecasts all cases, and the number of parallel simulations."""
    breaking = [case for case in every if resilience.breaks(case, how.search)]
    make = partial(resilience.foretold, every, breaking, how.threads, how.search)
    if how.place is not None:
        return make, how.place.at_once
    beside = len(presets) > 1 or bool(breaking) or any(map(forecast.in_parallel, loaded))
    return make, forecast.side_by_side(how.threads) if beside else 1


def _write(
    comparisons: list[lightloom.Comparison],
    decided: Decisions,
    cases: list[list[lightloom.Experiment]],
    target: Path | None,
    how: How,
    *,
    sheet: tuple[Path, str] | None,
    styles: Sequence[str],
) -> list[str]:
    """Writes results, page, figures and the PDF of decisions, all or none; returns the paths."""
    written = []
    with Staging(target) as staging:
        drawn: list[Path] = []
        lacking: Iterable[str] = ()
        if target is not None:
            _stage(comparisons, target, cases, staging, copy_inputs=how.copy_inputs)
            written.append(f"report: {_report(comparisons, decided, target, staging)}")
            drawn = papers.draw(comparisons, target, styles, staging)
            lacking = papers.lacking(label for c in comparisons for label in c.results)
        if sheet is not None:
            _print_sheet(comparisons, decided, *sheet, staging)
            written.append(f"decision: {sheet[0]}")
    return [*written, *(f"figures: {folder}" for folder in drawn), *lacking]


def _print_json(comparisons: Sequence[lightloom.Comparison], decided: Decisions) -> None:
    """Prints the summaries of a comparison; of several comparisons, by name."""
    tables = {
        c.name: resilience.beside(c, _with_costs(c.summaries, d))
        for c, d in zip(comparisons, decided, strict=True)
    }
    console.print_json(tables if len(tables) > 1 else next(iter(tables.values())))


def _print_each(
    loaded: Sequence[lightloom.Experiment],
    cases: Sequence[Sequence[lightloom.Experiment]],
    made: Sequence[list[lightloom.Comparison]],
    decided: Decisions,
) -> None:
    """Prints figures, notes, costs and single failures, experiment by experiment."""
    said: set[str] = set()
    left = iter(decided)
    for one, parts, group in zip(loaded, cases, made, strict=True):
        bought = [next(left) for _ in group]
        compared.print_comparisons(one.name, group, bought, said)
        for case in parts:
            compared.explain((f"note: {line}" for line in _notes(case)), said)
        for decision in bought:
            if decision is not None:
                cost.print_compared(decision)
        for comparison in group:
            resilience.print_worst(comparison)
        for sentence in physics.changes(group):
            console.say(sentence)


def _notes(case: lightloom.Experiment) -> Iterator[str]:
    """Notes on the servers of an experiment, and on differences between its fabrics."""
    resolved = case.resolved()
    yield from map(str, notes.of_cluster(case.raw.get("cluster", {})))
    yield from networks.left_open(case.raw, resolved)
    yield from networks.elsewhere(resolved)
    yield from networks.faster_links(case.raw, resolved)


def _made(
    experiment: lightloom.Experiment, presets: Sequence[str], how: How
) -> list[lightloom.Comparison]:
    """Returns a comparison of each case, under each preset of physics."""
    options: dict[str, Any] = {"threads": how.threads, "place": how.place}
    options["worst_failure"] = how.search
    with console.progress(enabled=not how.json) as tick:
        if presets:
            return lightloom.compare_physics(experiment, presets, progress=tick, **options)
        return lightloom.compare_cases(experiment, progress=tick, **options)


def _stage(
    comparisons: list[lightloom.Comparison],
    target: Path,
    cases: list[list[lightloom.Experiment]],
    staging: Staging,
    *,
    copy_inputs: bool,
) -> None:
    """Stages the results, in folders of experiments or cases if there are several."""
    if len(comparisons) == 1:
        comparisons[0].stage(staging, target, copy_inputs=copy_inputs)
        return
    folders = {folder(c.name): c for c in comparisons}
    if len(cases) == 1:
        stage_cases(folders, target, staging, copy_inputs=copy_inputs)
        return
    for name, comparison in folders.items():
        comparison.stage(staging, target / name, copy_inputs=copy_inputs)
    staging.record(target, {"build": identity.build(), "inputs": []})


def _report(
    comparisons: list[lightloom.Comparison], decided: Decisions, target: Path, staging: Staging
) -> Path:
    """Stages the costs beside the results of each comparison, and the page of all comparisons."""
    from lightloom import report

    alone = len(comparisons) == 1
    for comparison, decision in zip(comparisons, decided, strict=True):
        if decision is not None:
            cost.stage(decision, target if alone else target / folder(comparison.name), staging)
    with bars.counting() as count:
        return report.stage(comparisons, target, staging, partial(count, "report"), decided)


def _decided(
    comparisons: Sequence[lightloom.Comparison], books: Sequence[Book | None]
) -> Decisions:
    """Decides which fabric of each comparison to buy, if there are prices."""
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
    """Writes the decisions as PDF."""
    from lightloom import report
    from lightloom.report import sheets

    broken = [report.broken(comparison) for comparison in comparisons]
    sheets.write(reading.read(comparisons), decided, path, browser, broken, staging)


def _with_costs(summaries: dict[str, Any], decision: Decision | None) -> dict[str, Any]:
    """Adds cost and power of each fabric to summaries, if there are prices."""
    if decision is None:
        return summaries
    return {x: {**summary, "cost": decision.of_label(x)} for x, summary in summaries.items()}


def _distinct(experiments: list[lightloom.Experiment]) -> list[lightloom.Experiment]:
    """Gives experiments distinct names, for the report and the folders."""
    names = [folder(e.name) for e in experiments]
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
