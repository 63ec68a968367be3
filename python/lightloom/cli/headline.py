"""What `compare` prints first: who is best for what, by how much, and what would overturn it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from lightloom import console

if TYPE_CHECKING:
    from lightloom.report.verdicts import First
    from lightloom.results import Comparison

WHOLE = 3
"""Of more comparisons than these the report alone has what would overturn the verdicts."""


def print_first(comparisons: Sequence[Comparison]) -> None:
    """The verdict of each comparison."""
    from lightloom import report

    found = report.first(comparisons)
    several = len(found) > 1
    for name, verdict in found.items():
        if verdict is None:
            continue
        title = f"{name}: {verdict.title}" if several else verdict.title
        indented(title, "", "bold")
        if len(found) <= WHOLE:
            print_rest(verdict)
        elif verdict.answer:
            indented(verdict.answer, "  ")
    if len(found) > WHOLE:
        print_changes(comparisons)
    if any(found.values()):
        console.say("")


def print_changes(comparisons: Sequence[Comparison]) -> None:
    """Whether the winner changes under other physics, by the measure that decides."""
    from lightloom.report import winners

    for name, group in winners.under_presets(comparisons).items():
        for sentence in winners.sentences(group)[:1]:
            indented(f"{name}: {sentence}", "")


def print_rest(verdict: First) -> None:
    """By how much, and what would overturn it."""
    if verdict.answer:
        indented(verdict.answer, "  ")
    if verdict.overturned:
        indented("What would overturn it:", "  ")
    for line in verdict.overturned:
        indented(line, "    ")


def indented(text: str, by: str, style: str = "") -> None:
    """A paragraph, in lines of the terminal's width."""
    screen = console.out()
    width = max(40, screen.width)
    wrapper = textwrap.TextWrapper(
        width, initial_indent=by, subsequent_indent=by, break_on_hyphens=False
    )
    for line in wrapper.wrap(plain(text)):
        screen.print(Text(line, style), soft_wrap=True)


def plain(text: str) -> str:
    """As a terminal shows it: microseconds as in the tables, and spaces that may break."""
    return text.replace("\u00a0", " ").replace("µs", "us")
