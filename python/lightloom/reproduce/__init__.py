"""A paper's figures, run again, and its claims judged.

`validation/<fabric>/claims.toml` holds the claims as data; each figure script
beside it measures what the claims of that figure speak of. Whether a number
the paper withholds is right is never guessed: such a claim stays `not judged`.
"""

from lightloom.reproduce.claims import Claim, Claims, Expectation, Status
from lightloom.reproduce.estimate import Estimate
from lightloom.reproduce.grid import Grid, Setting
from lightloom.reproduce.readings import Reading, Readings
from lightloom.reproduce.record import outdated, record
from lightloom.reproduce.runner import Progress, reproduce
from lightloom.reproduce.scripts import find_validation, targets
from lightloom.reproduce.simulate import Case, simulate
from lightloom.reproduce.verdicts import ByReading, Verdict, judge

__all__ = [
    "ByReading",
    "Case",
    "Claim",
    "Claims",
    "Estimate",
    "Expectation",
    "Grid",
    "Progress",
    "Reading",
    "Readings",
    "Setting",
    "Status",
    "Verdict",
    "find_validation",
    "judge",
    "outdated",
    "record",
    "reproduce",
    "simulate",
    "targets",
]
