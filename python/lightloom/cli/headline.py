"""The first lines of `compare`: the best fabric by which measure and factor, and what would
overturn the verdict."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from lightloom.analysis.naming import in_prose
from lightloom.cli import console

if TYPE_CHECKING:
    from lightloom.analysis.verdicts import First
    from lightloom.report.decisions import Decision
    from lightloom.results.result import Comparison

WHOLE = 3
"""Largest number of comparisons for which the changes that overturn the verdicts are printed; with
more, only the report has them."""


def print_first(comparisons: Sequence[Comparison], decided: Sequence[Decision | None] = ()) -> None:
    """Prints the verdict of each comparison, and below it which fabric to buy if there are
    prices."""
    from lightloom import report

    found = report.first(comparisons)
    whole = len(found) <= WHOLE
    bought = decided or [None] * len(found)
    each = zip(comparisons, found.items(), bought, strict=True)
    for comparison, (name, verdict), decision in each:
        prefix = f"{name}: " if len(found) > 1 else ""
        if verdict is not None:
            print_verdict(prefix, in_prose(verdict, comparison.experiment), whole=whole)
        if decision is not None:
            print_decision(prefix, in_prose(decision, comparison.experiment), whole=whole)
    if not whole:
        print_changes(comparisons)
    if any(found.values()) or any(bought):
        console.say("")


def print_verdict(prefix: str, verdict: First, *, whole: bool) -> None:
    """Prints the verdict; with `whole`, also its details."""
    indented(prefix + verdict.title, "", "bold")
    if whole:
        print_rest(verdict)
    elif verdict.answer:
        indented(verdict.answer, "  ")


def print_decision(prefix: str, decision: Decision, *, whole: bool) -> None:
    """Prints which fabric to buy, and what would overturn that."""
    indented(prefix + decision.title, "", "bold")
    indented(decision.sentence, "  ")
    if not whole:
        return
    for fact in decision.facts:
        indented(fact, "  ")
    if decision.overturned:
        indented("What would overturn it:", "  ")
    for line in decision.overturned:
        indented(line, "    ")


def print_changes(comparisons: Sequence[Comparison]) -> None:
    """Prints whether the winner changes under other physics, by the measure that decides."""
    from lightloom.analysis import winners

    for name, group in winners.under_presets(comparisons).items():
        for sentence in winners.sentences(group)[:1]:
            indented(f"{name}: {sentence}", "")


def print_rest(verdict: First) -> None:
    """Prints the lead of the best fabric, and what would overturn the verdict."""
    if verdict.answer:
        indented(verdict.answer, "  ")
    if verdict.overturned:
        indented("What would overturn it:", "  ")
    for line in verdict.overturned:
        indented(line, "    ")


def indented(text: str, by: str, style: str = "", *, below: str | None = None) -> None:
    """Prints a paragraph wrapped at the width of the terminal; further lines begin with `below`."""
    screen = console.out()
    width = max(40, screen.width)
    wrapper = textwrap.TextWrapper(
        width,
        initial_indent=by,
        subsequent_indent=by if below is None else below,
        break_on_hyphens=False,
    )
    for line in wrapper.wrap(plain(text)):
        screen.print(Text(line, style), soft_wrap=True)


def plain(text: str) -> str:
    """Replaces non-breaking spaces, so that a terminal can wrap the text."""
    return text.replace("\u00a0", " ")
