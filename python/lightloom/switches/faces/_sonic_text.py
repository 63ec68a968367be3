"""Answers of SONiC's command line: texts, exit codes and tables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple


class Answer(NamedTuple):
    """The output of a command, and its exit code."""

    text: str
    code: int = 0


Handler = Callable[[Sequence[str]], Awaitable[Answer]]


def usage(text: str) -> Answer:
    """Returns the answer to invalid arguments of a command."""
    return Answer(f"Usage: {text}\nError: wrong arguments\n", 2)


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Collection[str] = ()
) -> Answer:
    """Returns a table in SONiC's format: a header, a row of dashes, two spaces between columns.

    Args:
        head: names of columns.
        rows: their cells.
        numbers: columns that are aligned to the right.

    >>> print(table(("id", "loss"), [("1A-1B", "1.5")], ["loss"]).text, end="")
    id       loss
    -----  ------
    1A-1B     1.5
    """
    widths = [
        max(len(name) + 2, *(len(row[at]) for row in rows), 0) for at, name in enumerate(head)
    ]
    place = [str.rjust if name in numbers else str.ljust for name in head]
    lines = [head, ["-" * width for width in widths], *rows]
    text = "".join(
        "  ".join(
            put(cell, width) for put, cell, width in zip(place, line, widths, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )
    return Answer(text)
