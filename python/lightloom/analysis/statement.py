"""A statement of a verdict, apart from the sentence that renders it."""

from __future__ import annotations

from collections.abc import Iterable

from lightloom.analysis.answers import ANSWERS
from lightloom.analysis.note import Note


class Statement(Note):
    """A statement: its kind, and the values that its sentence names.

    >>> print(Statement("unfinished jobs", labels=("a", "b")))
    Unfinished on a and b.
    """

    catalogue = ANSWERS


def text(statements: Iterable[Statement]) -> str:
    """The sentences of several statements, joined."""
    return " ".join(map(str, statements))
