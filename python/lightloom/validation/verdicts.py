"""Verdicts on claims: the measured value, and the outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite

from lightloom.units.counts import counted
from lightloom.validation.claims import Claim, Status
from lightloom.validation.estimate import OUT_OF_REACH, Estimate
from lightloom.validation.of_bounds import OfBounds
from lightloom.validation.readings import Measured, Reading, Readings, estimated


@dataclass(frozen=True)
class ByReading:
    """A claim with its value by one reading of its source."""

    reading: Reading
    measured: Estimate
    outcome: Status
    judged: bool
    """Whether the verdict follows this reading."""

    def to_dict(self) -> dict[str, object]:
        """Returns plain data for `claims.json`."""
        return {
            "reading": self.reading.name,
            "what": self.reading.what,
            "basis": self.reading.basis,
            **_figures(self.measured),
            "outcome": self.outcome,
            "verdict": self.judged,
        }


@dataclass(frozen=True)
class Verdict:
    """A claim, its measured value, and the outcome."""

    fabric: str
    claim: Claim
    measured: Estimate | None
    outcome: Status
    quick: bool
    title: str = ""
    """The title of the paper or standard."""
    readings: tuple[ByReading, ...] = ()
    """The value by each reading, if the source leaves a deciding question open."""
    reading: str | None = None
    """The reading that the outcome follows, if there are several."""

    @property
    def of_bounds(self) -> bool:
        """Whether the measured value depends on completion times that are only lower bounds."""
        return self.measured is not None and isinstance(self.measured.value, OfBounds)

    @property
    def as_recorded(self) -> bool:
        """Whether the outcome equals the recorded one. A quick run does not contradict the record
        if it leaves a claim unjudged or undecided."""
        if self.quick and (
            not self.claim.quick or "undecided" in (self.outcome, self.claim.status)
        ):
            return True
        return self.outcome == self.claim.status

    @property
    def wants(self) -> str:
        """States what would decide an undecided claim: `3 more seeds`."""
        return wanted(self.claim, self.measured) if self.outcome == "undecided" else ""

    def to_dict(self) -> dict[str, object]:
        """Returns plain data for `claims.json`."""
        plain = Estimate(0.0) if self.measured is None else self.measured
        return {
            "fabric": self.fabric,
            **self.claim.model_dump(exclude_none=True),
            "quick_run": self.quick,
            **_figures(plain),
            "measured": None if self.measured is None else self.measured.value,
            **({"of_bounds": True} if self.of_bounds else {}),
            "outcome": self.outcome,
            **({"wants": self.wants} if self.wants else {}),
            **({"reading": self.reading} if self.reading else {}),
            "as_recorded": self.as_recorded,
            **({"readings": [r.to_dict() for r in self.readings]} if self.readings else {}),
        }


def _figures(measured: Estimate) -> dict[str, object]:
    """A value, half of its interval, and the number of runs; None if there is no value."""
    width = measured.half_width
    return {
        "measured": measured.value,
        "half_width": width if width and isfinite(width) else None,
        "runs": measured.runs or None,
    }


def judge(
    fabric: str,
    claim: Claim,
    measured: Measured | None,
    quick: bool,
    title: str = "",
    readings: Readings | None = None,
    reading: str | None = None,
) -> Verdict:
    """Compares a measured value, or its interval, with the expectation of the claim. `title` is
    that of the paper; `readings` are those of the script, if it has any; `reading` is the one that
    the value follows."""
    found = None if measured is None else estimated(measured)
    outcome = judged(claim, found, quick)
    by_reading = () if readings is None else tuple(_by_reading(claim, readings, quick))
    return Verdict(fabric, claim, found, outcome, quick, title, by_reading, reading)


def judged(claim: Claim, found: Estimate | None, quick: bool = False) -> Status:
    """Returns the outcome of a claim. A value that depends on chance needs an interval; a single
    run without a known interval decides nothing."""
    if claim.expect is None or found is None or (quick and not claim.quick):
        return "not judged"
    if claim.exact is None and not found.half_width and not found.runs:
        return "undecided"
    return claim.expect.judge(found)


def wanted(claim: Claim, found: Estimate | None) -> str:
    """States what would decide an undecided claim, if known: `3 more seeds`."""
    if found is None or claim.expect is None:
        return ""
    if not found.runs:
        return "" if found.half_width else "seeds"
    more = found.more_runs(claim.expect.distance(found.value))
    return f"more than {OUT_OF_REACH:,} seeds" if more is None else f"{counted(more, 'more seed')}"


def _by_reading(claim: Claim, readings: Readings, quick: bool) -> Iterator[ByReading]:
    for reading, value in readings.of(claim.id):
        outcome = judged(claim, value, quick)
        yield ByReading(reading, value, outcome, reading.name == readings.verdict)
