"""Reads the statements of a verdict, which tests check instead of its sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lightloom.analysis.findings.sentences import Told
from lightloom.analysis.note import Note
from lightloom.analysis.verdicts import First
from lightloom.analysis.verdicts.criteria import Criterion


def kinds(notes: Iterable[Note]) -> list[str]:
    """Returns the kinds, in order."""
    return [note.kind for note in notes]


def values_of(notes: Iterable[Note], kind: str) -> dict[str, Any]:
    """Returns the values of the only note of a kind, also inside of others: labels, and figures as
    plain numbers."""
    (found,) = (note for note in _all(notes) if note.kind == kind)
    return {name: _plain(value) for name, value in found.values.items()}


def each(notes: Iterable[Note], kind: str) -> list[dict[str, Any]]:
    """Returns the values of all notes of a kind, also inside of others."""
    found = (note for note in _all(notes) if note.kind == kind)
    return [{name: _plain(value) for name, value in note.values.items()} for note in found]


def _all(notes: Iterable[Note]) -> Iterator[Note]:
    for note in notes:
        yield note
        for value in note.values.values():
            inside = value if isinstance(value, tuple | list) else (value,)
            yield from _all(one for one in inside if isinstance(one, Note))


def _plain(value: Any) -> Any:
    if isinstance(value, Told):
        return value.finding
    score = getattr(value, "score", None)
    return value if score is None else score.value


def lead(first: First) -> tuple[str, tuple[str, ...], str]:
    """Returns the kind of the first part of a title, the leaders, and the measure."""
    note = first.said[0].values["lead"]
    return note.kind, note.values.get("leaders", ()), note.values.get("measure", "")


def ahead(label: str, measure: Criterion) -> tuple[str, tuple[str, ...], str]:
    """Returns the `lead` of one fabric that is ahead by a measure."""
    return "ahead", (label,), measure.name
