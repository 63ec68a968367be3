"""The output of `compare` about single failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

import lightloom
from lightloom.cli import console
from lightloom.cli.headline import indented
from lightloom.config.own_tables import DECISION
from lightloom.errors import refusal
from lightloom.simulation.forecasts import Forecast, of_comparisons
from lightloom.simulation.machine import check_count
from lightloom.units import formats
from lightloom.units.formats import number, percent, time_bound

if TYPE_CHECKING:
    from lightloom.failures.search import Search
    from lightloom.results.failures import Figures, OfFabric, OfKind, Resilience
    from lightloom.results.result import Comparison

WorstFailure = Annotated[
    bool,
    typer.Option(
        "--worst-failure",
        help="Also run every fabric with one failed part, as decision.worst_failure does: each "
        "switch, grating or transceiver of its model, or a sample if there are many.",
    ),
]
WorstOf = Annotated[
    int | None,
    typer.Option(
        "--worst-of",
        metavar="N",
        help="With --worst-failure: largest number of parts of each kind that are tried (8).",
    ),
]


def asked(
    worst_failure: bool, worst_of: int | None, loaded: Sequence[lightloom.Experiment]
) -> Search | None:
    """Returns the options of the search for single failures; None: those of each experiment.

    Raises:
        ConfigError: if a number is given without the search, or is invalid.
    """
    if worst_of is not None:
        check_count("--worst-of", worst_of)
        if not worst_failure and not all(breaks(one, None) for one in loaded):
            remedy = "add --worst-failure, or remove it"
            raise refusal("--worst-of", worst_of, "no failure is simulated", remedy)
    elif not worst_failure:
        return None
    from lightloom.failures.search import Search

    return Search() if worst_of is None else Search(worst_of)


def breaks(experiment: lightloom.Experiment, search: Search | None) -> bool:
    """Whether single failures of an experiment are requested."""
    if search is None and DECISION not in experiment.raw:
        return False
    from lightloom.failures.search import search_of

    return search_of(experiment, search) is not None


def foretold(
    cases: Sequence[lightloom.Experiment],
    breaking: Sequence[lightloom.Experiment],
    threads: int,
    search: Search | None,
) -> Forecast:
    """Returns the forecast of a comparison, with its single failures if they are requested."""
    whole = of_comparisons(cases, threads)
    if not breaking:
        return whole
    from lightloom.failures.estimate import of_worst_failures

    return whole.and_(of_worst_failures(breaking, threads, search))


def print_worst(comparison: Comparison) -> None:
    """Prints the single failures; nothing if they were not requested."""
    found = comparison.resilience
    if found is None:
        return
    from lightloom.failures import sentences

    indented(sentences.heading(found), "", "bold")
    if any(fabric.kinds for fabric in found.fabrics.values()):
        console.out(wide=True).print(table(found))
    show = sentences.Shown(percent, time_bound)
    for line in (sentences.answer(found, show), *sentences.legend(found)):
        if line:
            indented(line, "")
    console.say("")


def beside(comparison: Comparison, tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the tables by label; `worst_failure` in each has the single failures if they were
    requested."""
    found = comparison.resilience
    if found is None:
        return tables
    whole = found.to_json()
    of = {key: value for key, value in whole.items() if key != "fabrics"}
    return {
        label: {**table, "worst_failure": {**of, **whole["fabrics"][label]}}
        for label, table in tables.items()
    }


def table(found: Resilience) -> Table:
    """Returns a row for each fault-free fabric, and below it one for each kind of part that
    fails."""
    from lightloom.failures import sentences

    jobs = any(fabric.sound.jobs_s is not None for fabric in found.fabrics.values())
    made = console.plain_table()
    made.add_column("fabric", overflow="fold", max_width=16)
    for heading in ("part dead", "tried"):
        made.add_column(heading, no_wrap=True)
    right = [sentences.goodput_of(found).replace(" ", "\n"), _last_below(sentences.p99_of(found))]
    right += ["not\narrived", *(["jobs\nin sum"] if jobs else [])]
    for heading in right:
        made.add_column(heading, justify="right", no_wrap=True)
    for fabric in found.fabrics.values():
        for row in _rows(fabric, jobs):
            made.add_row(*row)
    return made


def _last_below(text: str) -> str:
    first, _, last = text.rpartition(" ")
    return f"{first}\n{last}"


def _rows(fabric: OfFabric, jobs: bool) -> Iterator[Sequence[str]]:
    sound = _cells(fabric.sound, fabric.sound, jobs)
    if not fabric.kinds:
        yield escape(fabric.label), "not modelled", "", *sound
        return
    yield escape(fabric.label), "none", "", *sound
    for kind in fabric.kinds:
        yield "", kind.kind, kind.tried, *_of_kind(kind, jobs)


def _of_kind(kind: OfKind, jobs: bool) -> Sequence[str]:
    return _cells(kind.least.figures, kind.slowest.figures, jobs)


def _cells(least: Figures, slowest: Figures, jobs: bool) -> list[str]:
    """Returns the figures of a row. The 99th percentile is that of `slowest`, all others are those
    of `least`."""
    made = [number(least.goodput), time_bound(slowest.p99), percent(least.missing)]
    if jobs:
        made.append("unfinished" if least.jobs_s is None else formats.seconds(least.jobs_s))
    return made
