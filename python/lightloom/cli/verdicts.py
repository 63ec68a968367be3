"""The output of `reproduce`: claims by paper and figure, one line each, and totals.

A claim that is not reproduced is followed by its statement, the measured value and possible
reasons. For a single paper, every claim has its measured value; for a single figure, also the
statement of the source; for several papers, both on request."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import isfinite
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from lightloom.cli import by_reading, console
from lightloom.cli.figures_text import expected, figure

if TYPE_CHECKING:
    from lightloom.validation import Estimate, Verdict

MARKS = {"reproduced": "✓", "not reproduced": "✗", "undecided": "?", "not judged": "·"}
COLOURS = {
    "reproduced": "green",
    "not reproduced": "red",
    "undecided": "magenta",
    "not judged": "yellow",
}
TOO_QUICK = "too quick"
OF_BOUNDS = "of bounds"
#: Columns of the totals, and those that are shown even if they count nothing.
ALWAYS = ("reproduced", "not reproduced", "not judged")
BUILT = ("fitted", "set")
OURS = "ours"
COLUMNS = (*MARKS, OURS, *BUILT, TOO_QUICK)


def print_verdicts(verdicts: Sequence[Verdict], *, verbose: bool = False) -> None:
    """Prints claims and totals; with `verbose`, every claim has the text that it has for a single
    figure."""
    screen = console.out()
    papers = {v.fabric for v in verdicts}
    figures = {(v.fabric, v.claim.script) for v in verdicts}
    told = Told(statements=verbose or len(figures) == 1, measures=verbose or len(papers) == 1)
    for line in lines(verdicts, screen.width, told):
        screen.print(line, soft_wrap=True)
    for part in by_reading.tables(verdicts, screen.width, explained=told.measures):
        screen.print(part, soft_wrap=isinstance(part, Text))
    screen.print(totals(verdicts))
    for note in _notes(verdicts):
        console.say(note)


@dataclass(frozen=True)
class Told:
    """The texts below the line of every claim, not only of those that failed."""

    statements: bool
    measures: bool


def lines(verdicts: Sequence[Verdict], width: int, told: Told) -> Iterator[Text]:
    """The claims under the titles of their papers and the names of their figures."""
    for fabric, of_paper in groupby(verdicts, lambda v: v.fabric):
        paper = list(of_paper)
        yield Text(paper[0].title or fabric, "bold")
        name = max(len(v.claim.id) for v in paper)
        wanted = max(len(expected(v.claim)) for v in paper)
        found = max(len(_measured(v)) for v in paper)
        for script, of_script in groupby(paper, lambda v: v.claim.script):
            heading = f"{fabric}/{script}"
            yield Text()
            yield Text.assemble(
                (f"  {heading:<{name + 2}}  ", "bold"),
                (f"{'expected':>{wanted}}  {'measured':>{found}}", "dim"),
            )
            for verdict in of_script:
                yield _line(verdict, name, wanted, found)
                yield from _below(verdict, width, told)
        yield Text()


def _line(verdict: Verdict, name: int, wanted: int, found: int) -> Text:
    figures = f"{expected(verdict.claim):>{wanted}}  {_measured(verdict):>{found}}"
    return Text.assemble(
        (f"  {MARKS[verdict.outcome]} ", COLOURS[verdict.outcome]),
        f"{verdict.claim.id:<{name}}  {figures}  {_remark(verdict)}".rstrip(),
    )


def _remark(verdict: Verdict) -> str:
    """A remark on an outcome."""
    if too_quick(verdict):
        return TOO_QUICK
    if verdict.outcome == "undecided":
        return f"undecided: {verdict.wants}" if verdict.wants else "undecided"
    if verdict.claim.basis != "measured":
        return verdict.claim.basis
    return OF_BOUNDS if verdict.of_bounds else ""


def _below(verdict: Verdict, width: int, told: Told) -> Iterator[Text]:
    """The statement of the source, the measured value, and why they differ."""
    claim, failed = verdict.claim, verdict.outcome == "not reproduced"
    said = [claim.statement] if told.statements or failed else []
    if told.measures or failed:
        said.append(f"measured: {claim.measures}")
    explained = claim.reason and verdict.outcome == claim.status and not too_quick(verdict)
    if explained and (told.measures or failed):
        said.append(f"why: {claim.reason}")
    for text in said:
        for line in textwrap.wrap(text, max(20, min(width, 88) - 6), subsequent_indent="  "):
            yield Text(f"      {line}", "dim")


def totals(verdicts: Sequence[Verdict]) -> Table:
    """The number of claims of each paper by outcome, and the totals; claims that were reproduced by
    the project's own number or by construction are counted separately."""
    table = console.plain_table()
    table.add_column("claims")
    counts = {fabric: _counts(list(group)) for fabric, group in groupby(verdicts, _fabric)}
    if len(counts) > 1:
        counts["all"] = _counts(verdicts)
    shown = [c for c in COLUMNS if c in ALWAYS or any(count[c] for count in counts.values())]
    for column in shown:
        table.add_column(f"{MARKS.get(column, '')} {column}".strip(), justify="right")
    for name, count in counts.items():
        style = "bold" if name == "all" else ""
        table.add_row(name, *(str(count[column]) for column in shown), style=style)
    return table


def _fabric(verdict: Verdict) -> str:
    return verdict.fabric


def _counts(verdicts: Sequence[Verdict]) -> Counter[str]:
    return Counter(_column(verdict) for verdict in verdicts)


def _column(verdict: Verdict) -> str:
    if too_quick(verdict):
        return TOO_QUICK
    # A claim that was reproduced by the project's own number or by construction has less weight;
    # one that was not reproduced is a failure like others.
    apart = verdict.claim.basis != "measured" and verdict.outcome == "reproduced"
    return verdict.claim.basis if apart else verdict.outcome


def _notes(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Explains the words that occur in the tables."""
    remarks = {_remark(verdict) for verdict in verdicts}
    if OURS in remarks:
        yield "ours: the source has words, and the number that decides is ours; counted apart"
    if remarks & {*BUILT}:
        yield "fitted, set: holds by construction, so no evidence; counted apart"
    if any(remark.startswith("undecided") for remark in remarks):
        yield "undecided: the expected range ends within the interval of the measured value"
    if OF_BOUNDS in remarks:
        yield (
            f"{OF_BOUNDS}: compares with lower bounds of completion times, because flows were "
            "unfinished when a run ended"
        )
    if TOO_QUICK in remarks:
        yield "too quick: --quick runs too little for a meaningful figure"


def too_quick(verdict: Verdict) -> bool:
    """Whether the run was too quick for this claim, which a full run judges."""
    return _small(verdict) and verdict.claim.expect is not None


def _small(verdict: Verdict) -> bool:
    """Whether the run was too small for a meaningful figure."""
    return verdict.quick and not verdict.claim.quick


def _measured(verdict: Verdict) -> str:
    if verdict.measured is None or _small(verdict):
        return "-"
    return f"{_interval(verdict.measured)} {verdict.claim.unit}".rstrip()


def _interval(measured: Estimate) -> str:
    """A figure, with half of its confidence interval if it has one."""
    shown = figure(measured.value)
    width = measured.half_width
    return f"{shown} ± {width:.1g}" if width and isfinite(width) else shown
