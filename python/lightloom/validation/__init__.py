"""A paper's figures, run again, and its claims judged.

`validation/<fabric>/claims.toml` holds the claims as data; each figure script
beside it measures what the claims of that figure speak of. Whether a number
the paper withholds is right is never guessed: such a claim stays `not judged`.
"""

from lightloom.validation.claims import Claim, Claims, Expectation, Status
from lightloom.validation.estimate import Estimate
from lightloom.validation.grid import Grid, Setting
from lightloom.validation.readings import Reading, Readings
from lightloom.validation.record import outdated, record
from lightloom.validation.runner import Progress, reproduce
from lightloom.validation.scripts import find_validation, targets
from lightloom.validation.simulate import Case, simulate
from lightloom.validation.verdicts import ByReading, Verdict, judge

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
