"""What a comparison has to say, decided before any sentence is written.

A finding is a kind with numbers, labels and keys, computed from a comparison's figures by pure
functions. `sentences` is the one catalogue of its wording. Tests judge findings, so that a sentence
may change without them.
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
