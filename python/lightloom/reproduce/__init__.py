"""A paper's figures, run again, and its claims judged.

`validation/<fabric>/claims.toml` holds the claims as data; each figure script
beside it measures what the claims of that figure speak of. Whether a number
the paper withholds is right is never guessed: such a claim stays `not judged`.
"""

from lightloom.reproduce.claims import (
    ByReading,
    Claim,
    Claims,
    Expectation,
    Status,
    Verdict,
    judge,
)
from lightloom.reproduce.estimate import Estimate
from lightloom.reproduce.readings import Reading, Readings
from lightloom.reproduce.runner import Progress, reproduce
from lightloom.reproduce.scripts import find_validation, targets
from lightloom.reproduce.simulate import Case, simulate

__all__ = [
    "ByReading",
    "Case",
    "Claim",
    "Claims",
    "Estimate",
    "Expectation",
    "Progress",
    "Reading",
    "Readings",
    "Status",
    "Verdict",
    "find_validation",
    "judge",
    "reproduce",
    "simulate",
    "targets",
]
