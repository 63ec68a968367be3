"""Claims as data, and their expected values."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from lightloom.config.experiment import read_toml
from lightloom.errors import ConfigError
from lightloom.validation.estimate import Estimate

Status = Literal["reproduced", "not reproduced", "undecided", "not judged"]
Basis = Literal["measured", "ours", "fitted", "set", "testbed"]


class Expectation(BaseModel):
    """A value with its tolerance, or a bound on one or both sides, which is inclusive or, if the
    source says "more" or "less", exclusive."""

    model_config = ConfigDict(extra="forbid")

    value: float | None = Field(
        default=None, allow_inf_nan=False, description="Value in the source."
    )
    tolerance: float | None = Field(
        default=None, ge=0, description="Absolute tolerance, in the unit of the value."
    )
    at_least: float | None = Field(
        default=None, allow_inf_nan=False, description="Lower bound, included."
    )
    at_most: float | None = Field(
        default=None, allow_inf_nan=False, description="Upper bound, included."
    )
    above: float | None = Field(
        default=None, allow_inf_nan=False, description="Lower bound, not included."
    )
    below: float | None = Field(
        default=None, allow_inf_nan=False, description="Upper bound, not included."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        lower, upper = (self.at_least, self.above), (self.at_most, self.below)
        exact, bounded = self.value is not None, (lower, upper) != ((None, None), (None, None))
        if exact == bounded or exact != (self.tolerance is not None):
            raise ValueError(
                "give value and tolerance, or at_least or above and/or at_most or below"
            )
        if None not in lower or None not in upper:
            raise ValueError("give at_least or above, and at_most or below, not both")
        least, most = self._bounds()
        if not self._reaches(most, least):
            raise ValueError(f"nothing is between {least:g} and {most:g}")
        return self

    def holds(self, measured: float) -> bool:
        """Whether a measured value meets the expectation."""
        if self.value is not None and self.tolerance is not None:
            return abs(measured - self.value) <= self.tolerance
        least, most = self._bounds()
        return self._reaches(measured, least) and self._reaches(most, measured)

    def judge(self, measured: Estimate) -> Status:
        """Returns "reproduced" if the whole interval meets the expectation, "not reproduced" if no
        part of it does, otherwise "undecided": more runs would decide."""
        low, high = measured.value - measured.half_width, measured.value + measured.half_width
        if self.holds(low) and self.holds(high):
            return "reproduced"
        least, most = self._bounds()
        if not (self._reaches(most, low) and self._reaches(high, least)) or not measured.half_width:
            return "not reproduced"
        return "undecided"

    def distance(self, value: float) -> float:
        """The distance of a value from the nearest limit of the expectation, in its unit."""
        return min(abs(value - end) for end in self._bounds())

    def _bounds(self) -> tuple[float, float]:
        if self.value is not None and self.tolerance is not None:
            return self.value - self.tolerance, self.value + self.tolerance
        lower = [bound for bound in (self.at_least, self.above) if bound is not None]
        upper = [bound for bound in (self.at_most, self.below) if bound is not None]
        return max(lower, default=-inf), min(upper, default=inf)

    def _reaches(self, more: float, less: float) -> bool:
        """Whether `more` is at least as large as `less`; larger, if one of them is an exclusive
        bound."""
        open_ends = {self.above, self.below}
        return more > less or (more == less and not open_ends & {more, less})

    def __str__(self) -> str:
        if self.value is not None:
            return f"{self.value:g} ± {self.tolerance:g}"
        if self.above is not None or self.below is not None:
            signs = {"≥": self.at_least, ">": self.above, "≤": self.at_most, "<": self.below}
            return ", ".join(
                f"{sign} {bound:g}" for sign, bound in signs.items() if bound is not None
            )
        if self.at_most is None:
            return f"≥ {self.at_least:g}"
        if self.at_least is None:
            return f"≤ {self.at_most:g}"
        return f"{self.at_least:g} … {self.at_most:g}"


class Claim(BaseModel):
    """A statement of a source that a simulation can confirm or contradict."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$", description="Unique within the file.")
    source: str = Field(description="Section or figure.")
    statement: str = Field(description="Statement of the source.")
    command: str = Field(
        pattern=r"^lightloom reproduce [a-z-]+/[a-z0-9_]+( --testbed)?$",
        description="Command that measures it.",
    )
    measures: str = Field(description="Measured quantity, with its unit.")
    unit: str = Field(default="", description="Unit of the measured value.")
    expect: Expectation | None = Field(
        default=None, description="Expected value; absent if the source does not state it."
    )
    criterion: str | None = Field(
        default=None, description="How a verbal statement became a number, if this is our choice."
    )
    quick: bool = Field(default=False, description="Whether --quick is large enough to judge it.")
    basis: Basis = Field(
        default="measured",
        description="Basis of the outcome: the value follows from the model and its parameters; "
        "the same, but the number in `expect` is ours, because the source has only words; a "
        "parameter was fitted to the source's value; or a parameter is that value. The last two "
        "hold by construction and are no evidence for the model. Or programs on the Linux testbed "
        "are measured instead of a model.",
    )
    exact: str | None = Field(
        default=None,
        description="Why the value is not random, so that it needs no interval.",
    )
    possible: Expectation | None = Field(
        default=None,
        description="Possible values, if they are not all numbers from 0 on.",
    )
    status: Status = Field(description="Recorded outcome.")
    reason: str | None = Field(default=None, description='Why the outcome is not "reproduced".')

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.status != "reproduced" and not self.reason:
            raise ValueError(f"claim {self.id}: a status other than reproduced needs a reason")
        if self.expect is None and self.status != "not judged":
            raise ValueError(f"claim {self.id}: without expect it cannot be judged")
        if self.basis != "measured" and not self.criterion:
            raise ValueError(f"claim {self.id}: its criterion has to say what is {self.basis}")
        if (self.basis == "testbed") != self.command.endswith(" --testbed"):
            raise ValueError(f'claim {self.id}: --testbed and basis = "testbed" go together')
        return self

    @property
    def script(self) -> str:
        """The name of the script that measures it, such as `fig12`."""
        return self.command.removesuffix(" --testbed").rpartition("/")[2]

    def status_text(self, outcome: Status) -> str:
        """An outcome with its basis, if it does not follow from the model and the source alone."""
        if outcome in ("not judged", "undecided") or self.basis == "measured":
            return outcome
        return f"{outcome} ({self.basis})"


class Claims(BaseModel):
    """The contents of a `claims.toml`."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(description="The paper or standard.")
    exact: dict[str, str] = Field(
        default_factory=dict,
        description="Script → why its values are not random: arithmetic, or traffic that does not "
        "depend on the seed. None of its claims needs an interval.",
    )
    claim: list[Claim]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        ids = [claim.id for claim in self.claim]
        twice = sorted({i for i in ids if ids.count(i) > 1})
        if twice:
            raise ValueError(f"claim {twice[0]} is there twice")
        strange = sorted(set(self.exact) - {claim.script for claim in self.claim})
        if strange:
            raise ValueError(f"exact.{strange[0]}: no claim is of this script; name one that is")
        for claim in self.claim:
            claim.exact = claim.exact or self.exact.get(claim.script)
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
