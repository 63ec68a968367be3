"""The findings of a comparison, as data, before any sentence is written.

A finding has a kind, numbers, labels and keys, which pure functions compute from a comparison's
figures. `sentences` is the only module with their wording. Tests check findings, so that sentences
can change without changing tests.
"""

from __future__ import annotations

from .carriage import settle
from .headline import first_question
from .kinds import (
    AloneCarries,
    Cut,
    DoneSooner,
    Finding,
    FinishesMore,
    NoneCarries,
    RunTooShort,
    WindowTooShort,
)

__all__ = [
    "AloneCarries",
    "Cut",
    "DoneSooner",
    "Finding",
    "FinishesMore",
    "NoneCarries",
    "RunTooShort",
    "WindowTooShort",
    "first_question",
    "settle",
]
