"""Claims as data, and how each is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lightloom.config import read_toml
from lightloom.errors import ConfigError
from lightloom.reproduce.estimate import Estimate
from lightloom.reproduce.of_bounds import OfBounds
from lightloom.reproduce.readings import Reading, Readings

Status = Literal["reproduced", "not reproduced", "not judged"]
Basis = Literal["measured", "fitted", "set"]
#: A figure, with its confidence interval where it has one.
Measured = float | Estimate


class Expectation(BaseModel):
    """A value with its tolerance, or a bound on one or both sides."""

    model_config = ConfigDict(extra="forbid")

    value: float | None = Field(default=None, description="What the source says.")
    tolerance: float | None = Field(default=None, ge=0, description="Absolute, same unit.")
    at_least: float | None = Field(default=None, description="Lower bound, included.")
    at_most: float | None = Field(default=None, description="Upper bound, included.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        exact, bounded = self.value is not None, (self.at_least, self.at_most) != (None, None)
        if exact == bounded or exact != (self.tolerance is not None):
            raise ValueError("give value and tolerance, or at_least and/or at_most")
        return self

    def holds(self, measured: float) -> bool:
        """Whether a measured value meets the expectation."""
        if self.value is not None and self.tolerance is not None:
            return abs(measured - self.value) <= self.tolerance
        low = self.at_least is None or measured >= self.at_least
        return low and (self.at_most is None or measured <= self.at_most)

    def judge(self, measured: Estimate) -> Status:
        """Reproduced if all of the interval meets the expectation, not reproduced if
        none of it does; where its end is within, a longer run would have to tell."""
        low, high = measured.value - measured.half_width, measured.value + measured.half_width
        if self.holds(low) and self.holds(high):
            return "reproduced"
        least, most = self._bounds()
        if low > most or high < least or not measured.half_width:
            return "not reproduced"
        return "not judged"

    def _bounds(self) -> tuple[float, float]:
        if self.value is not None and self.tolerance is not None:
            return self.value - self.tolerance, self.value + self.tolerance
        least = -inf if self.at_least is None else self.at_least
        return least, inf if self.at_most is None else self.at_most

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:g} ± {self.tolerance:g}"
        if self.at_most is None:
            return f"≥ {self.at_least:g}"
        if self.at_least is None:
            return f"≤ {self.at_most:g}"
        return f"{self.at_least:g} … {self.at_most:g}"


class Claim(BaseModel):
    """One statement of a source that a simulation can confirm or contradict."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="Unique within the file.")
    source: str = Field(description="Section or figure.")
    statement: str = Field(description="What the source says.")
    command: str = Field(
        pattern=r"^lightloom reproduce [a-z-]+/[a-z0-9_]+$", description="What measures it."
    )
    measures: str = Field(description="What is measured, with its unit.")
    unit: str = Field(default="", description="Unit of the measured value.")
    expect: Expectation | None = Field(
        default=None, description="Absent where the source withholds or does not say."
    )
    criterion: str | None = Field(
        default=None, description="How words were turned into a number, where that is our choice."
    )
    quick: bool = Field(default=False, description="Whether --quick is large enough to judge it.")
    basis: Basis = Field(
        default="measured",
        description="Where the value comes from: it is what the model makes of its parameters, a "
        "parameter was fitted to the source's value, or a parameter is that value. The last two "
        "come out by construction and are no evidence for the model.",
    )
    status: Status = Field(description="The outcome on record.")
    reason: str | None = Field(default=None, description="Why it is not reproduced or not judged.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.status != "reproduced" and not self.reason:
            raise ValueError(f"claim {self.id}: a status other than reproduced needs a reason")
        if self.expect is None and self.status != "not judged":
            raise ValueError(f"claim {self.id}: without expect it cannot be judged")
        if self.basis != "measured" and not self.criterion:
            raise ValueError(f"claim {self.id}: its criterion has to say what is {self.basis}")
        return self

    @property
    def script(self) -> str:
        """Name of the script that measures it: `fig12`."""
        return self.command.rpartition("/")[2]

    def told(self, outcome: Status) -> str:
        """An outcome with what it rests on, where it comes out by construction."""
        if outcome == "not judged" or self.basis == "measured":
            return outcome
        return f"{outcome} ({self.basis})"


class Claims(BaseModel):
    """A `claims.toml`."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(description="The paper or standard.")
    claim: list[Claim]

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        ids = [claim.id for claim in self.claim]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"claim {twice[0]} is there twice")
        return self

    @classmethod
    def read(cls, path: Path) -> Claims:
        """Reads and validates a file of claims."""
        try:
            return cls.model_validate(read_toml(path))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise ConfigError(f"{path}: {where}: {first['msg']}; correct the claim") from None


@dataclass(frozen=True)
class ByReading:
    """A claim by one reading of its source."""

    reading: Reading
    measured: float
    outcome: Status
    judged: bool
    """Whether the verdict is from this reading."""

    def to_dict(self) -> dict[str, object]:
        """Plain data for `claims.json`."""
        return {
            "reading": self.reading.name,
            "what": self.reading.what,
            "basis": self.reading.basis,
            "measured": self.measured,
            "outcome": self.outcome,
            "verdict": self.judged,
        }


@dataclass(frozen=True)
class Verdict:
    """A claim, what was measured, and the outcome."""

    fabric: str
    claim: Claim
    measured: Estimate | None
    outcome: Status
    quick: bool
    title: str = ""
    """The paper or standard."""
    readings: tuple[ByReading, ...] = ()
    """The same by each reading, where the source leaves open what decides."""

    @property
    def of_bounds(self) -> bool:
        """Whether what was measured rests on completion times that are but bounds."""
        return self.measured is not None and isinstance(self.measured.value, OfBounds)

    @property
    def as_recorded(self) -> bool:
        """Whether the outcome is the one on record. A quick run does not
        contradict the record by leaving a claim unjudged."""
        return self.outcome == self.claim.status or (self.quick and not self.claim.quick)

    def to_dict(self) -> dict[str, object]:
        """Plain data for `claims.json`."""
        return {
            "fabric": self.fabric,
            **self.claim.model_dump(exclude_none=True),
            "quick_run": self.quick,
            "measured": None if self.measured is None else self.measured.value,
            "half_width": self.measured.half_width or None if self.measured else None,
            **({"of_bounds": True} if self.of_bounds else {}),
            "outcome": self.outcome,
            "as_recorded": self.as_recorded,
            **({"readings": [r.to_dict() for r in self.readings]} if self.readings else {}),
        }


def judge(
    fabric: str,
    claim: Claim,
    measured: Measured | None,
    quick: bool,
    title: str = "",
    readings: Readings | None = None,
) -> Verdict:
    """Compares a measured value, or the interval it is in, with the claim's expectation.
    `title` is that of the paper; `readings` are those of the script, where it has any."""
    found = Estimate(measured) if isinstance(measured, float | int) else measured
    outcome = _outcome(claim, found, quick)
    by_reading = () if readings is None else tuple(_by_reading(claim, readings, quick))
    return Verdict(fabric, claim, found, outcome, quick, title, by_reading)


def _outcome(claim: Claim, found: Estimate | None, quick: bool) -> Status:
    if claim.expect is None or found is None or (quick and not claim.quick):
        return "not judged"
    return claim.expect.judge(found)


def _by_reading(claim: Claim, readings: Readings, quick: bool) -> Iterator[ByReading]:
    for reading, value in readings.of(claim.id):
        outcome = _outcome(claim, Estimate(value), quick)
        yield ByReading(reading, value, outcome, reading.name == readings.verdict)
