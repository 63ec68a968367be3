"""The output of `compare` without `--verbose`: the verdict, one table, the most important notes,
and the number of omitted notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import lightloom
from lightloom.analysis import circuits, cuts, notes
from lightloom.analysis.doubts import fluid, left_unfinished
from lightloom.analysis.naming import Prose
from lightloom.analysis.note import Note
from lightloom.cli import console, cost_text, headline, overview, physics, run_text
from lightloom.cli.compared import Decisions
from lightloom.config import networks

if TYPE_CHECKING:
    from lightloom.analysis.verdicts import First
    from lightloom.report.decisions import Decision
    from lightloom.results.result import Comparison, Result

NUMBER = re.compile(r"(\d+(?:\.\d+)?)")
SENTENCE = 150
"""Length up to which a sentence is printed below the title of a verdict [characters]."""
TITLE = 120
"""Length up to which the title of a verdict is printed completely [characters]."""
NOTES = 3
"""Largest number of notes that are printed, unless more of them can change the conclusion."""


def print_all(
    cases: Sequence[lightloom.Experiment],
    comparisons: Sequence[Comparison],
    decided: Decisions,
    windows: Sequence[str] = (),
) -> None:
    """Prints the verdict of each comparison, the table of all, and notes."""
    from lightloom import report

    firsts = list(report.first(comparisons).values())
    _print_verdicts(comparisons, firsts, decided)
    beside = [{} if d is None else cost_text.columns(d.costs, d.carrying) for d in decided]
    console.say("")
    if len(comparisons) == 1:
        console.say(overview.heading_of(comparisons[0]))
    console.out(wide=True).print(overview.table(comparisons, beside))
    for line in overview.legend(comparisons):
        console.say(line)
    books = dict.fromkeys(
        f"Cost and power per delivered Gb/s and Tb/s; prices: {d.costs.book.title}."
        for d in decided
        if d is not None
    )
    for line in books:
        console.say(line)
    if any("(" in cell for found in beside for cells in found.values() for cell in cells.values()):
        console.say(cost_text.NOT_RANKED)
    console.say("")
    print_notes(
        _deciding(comparisons, firsts, decided), [*windows, *_others(cases, comparisons, decided)]
    )


def _print_verdicts(
    comparisons: Sequence[Comparison], firsts: Sequence[First | None], decided: Decisions
) -> None:
    """Prints at most three lines for a comparison; with more than `headline.WHOLE` comparisons, one
    line each."""
    several = len(comparisons) > 1
    for comparison, first, decision in zip(comparisons, firsts, decided, strict=True):
        prefix, prose = f"{comparison.name}: " if several else "", Prose(comparison.experiment)
        lead = decision.title if decision is not None else title_of(first)
        if lead:
            headline.indented(prefix + prose(lead), "", "bold")
        brief = len(comparisons) <= headline.WHOLE and decision is None
        if first is not None and brief and is_short(first):
            headline.indented(prose(first.main), "  ")
    if several:
        headline.print_changes(comparisons)


def title_of(first: First | None) -> str:
    """The title of a verdict; only its first part if the title is long."""
    if first is None:
        return ""
    return first.title if len(first.title) <= TITLE else first.lead


def is_short(first: First) -> bool:
    """Whether the sentence with the figures is short enough to be printed below the title;
    otherwise it becomes a note."""
    return len(first.main) <= SENTENCE


def print_notes(deciding: Iterable[str], others: Iterable[str]) -> None:
    """Prints all notes that can change the conclusion, then others up to a total of `NOTES`, and
    the number of the omitted ones."""
    always = list(dict.fromkeys(deciding))
    rest = [line for line in dict.fromkeys(others) if line not in always]
    room = max(0, NOTES - len(always))
    for line in (*always, *rest[:room]):
        headline.indented(f"note: {line}", "", below="      ")
    left = len(rest) - room
    if left > 0:
        console.say(f"{left} more {'note' if left == 1 else 'notes'}: --verbose, or the report")


def _deciding(
    comparisons: Sequence[Comparison], firsts: Sequence[First | None], decided: Decisions
) -> Iterator[str]:
    """Yields the notes that can change the conclusion, and the answer to --worst-failure."""
    from lightloom import report

    for comparison, first, decision in zip(comparisons, firsts, decided, strict=True):
        prefix = f"{comparison.name}: " if len(comparisons) > 1 else ""
        for line in _of_comparison(comparison, first, decision):
            yield prefix + Prose(comparison.experiment)(line)
        if (broken := report.broken(comparison)) and decision is None:
            yield prefix + Prose(comparison.experiment)(broken)


def _of_comparison(
    comparison: Comparison, first: First | None, decision: Decision | None
) -> Iterator[str]:
    if decision is not None:
        yield from decision.caveats
    if first is not None:
        if decision is None and not is_short(first):
            yield first.main
        yield from (*first.remedy, *first.caveats)
    else:
        seeds = {label: comparison.of_label(label) for label in comparison.results}
        yield from left_unfinished(comparison.means, seeds)
        # No fabrics are compared, so no verdict lists the doubts about the window.
        yield from (
            f"{label}: {line}"
            for label, each in seeds.items()
            for line in dict.fromkeys(line for summary in each for line in run_text.doubts(summary))
        )
    yield from fluid(comparison.means)
    yield from map(str, cuts.of_loads(comparison))
    yield from grouped(
        (label, line)
        for label, result in comparison.results.items()
        for line in map(
            str,
            (
                *_of_circuits(result, first),
                *notes.overloaded(result),
                *notes.faults_in_time(result),
            ),
        )
    )


def _of_circuits(result: Result, first: First | None) -> Iterator[Note]:
    """Yields the notes on circuits that the verdict does not contain."""
    return (
        circuits.leading_notes(result) if first is None else circuits.notes_beside_a_verdict(result)
    )


def grouped(each: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Combines notes on fabrics (label, text) that differ only in numbers into one, with the
    smallest and the largest number.

    >>> list(grouped([("a", "47% of 3 arrived"), ("b", "45% of 3 arrived"), ("a", "short")]))
    ['a, b: 45 to 47% of 3 arrived', 'a: short']
    """
    alike: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for label, line in each:
        parts = NUMBER.split(line)
        alike.setdefault(tuple(parts[::2]), {})[label] = parts[1::2]
    for words, numbers in alike.items():
        shown = [_range(values) for values in zip(*numbers.values(), strict=True)]
        text = "".join(a + b for a, b in zip_longest(words, shown, fillvalue=""))
        yield f"{', '.join(numbers)}: {text}"


def _range(values: Sequence[str]) -> str:
    low, high = min(values, key=float), max(values, key=float)
    return low if low == high else f"{low} to {high}"


def _others(
    cases: Sequence[lightloom.Experiment], comparisons: Sequence[Comparison], decided: Decisions
) -> Iterator[str]:
    """Yields all other notes; those on settings that limit results are first."""
    from lightloom import report

    for comparison in comparisons:
        yield from map(Prose(comparison.experiment), _of_runs(comparison))
    for case in cases:
        resolved = case.resolved()
        yield from map(str, notes.of_cluster(case.raw.get("cluster", {})))
        yield from networks.left_open(case.raw, resolved)
        yield from networks.elsewhere(resolved)
        yield from networks.faster_links(case.raw, resolved)
    for comparison, decision in zip(comparisons, decided, strict=True):
        if decision is not None:
            yield from filter(None, [report.broken(comparison)])
            yield from decision.notes
            yield from (fact for fact in decision.facts if fact not in decision.caveats)


def _of_runs(comparison: Comparison) -> Iterator[str]:
    """Yields the other notes on the runs of a comparison."""
    labels = comparison.results.keys()
    yield from map(str, notes.inexact_rates(comparison.means))
    yield from map(str, notes.of_traffic(next(iter(comparison.results.values()))))
    lines = physics.in_force(comparison.experiment)
    told = [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]
    parts = [line.partition(": ") for line in told]
    yield from (line for line, part in zip(told, parts, strict=True) if part[0] not in labels)
    yield from grouped((label, text) for label, _, text in parts if label in labels)
    decides = {
        str(line)
        for result in comparison.results.values()
        for line in (*notes.overloaded(result), *notes.faults_in_time(result))
    }
    yield from grouped(
        (label, line)
        for label, result in comparison.results.items()
        for line in map(str, notes.notes_of_run(result))
        if line not in decides
    )
