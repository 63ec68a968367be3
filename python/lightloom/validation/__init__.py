"""Reproduces figures of papers and judges their claims.

`validation/<fabric>/claims.toml` holds the claims as data. The script of each figure, in the same
folder, measures the values that the claims of that figure refer to. If the source withholds a
number, it is never guessed: such a claim remains `not judged`.
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
