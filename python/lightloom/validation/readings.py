"""Readings of a source that leaves a deciding question open: the values of claims by each, and the
one that the verdict follows.

A reading that was fitted to the source's figures meets them by construction, so that no verdict
follows it. If it meets a figure, that only shows that some reading does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lightloom.validation.estimate import Estimate

#: A figure, with its confidence interval if it has one.
Measured = float | Estimate
Basis = Literal["literal", "assumed", "fitted"]


@dataclass(frozen=True)
class Reading:
    """An interpretation of a source."""

    name: str
    what: str
    """The interpretation, on one line."""
    basis: Basis
    """Its basis: the source's words alone, these with own assumptions, or a fit to its figures."""


@dataclass(frozen=True)
class Readings:
    """The values of a script's claims by each reading.

    Raises:
        ValueError: if the verdict follows an unknown or a fitted reading, or a claim has no value
            by it.
    """

    verdict: str
    """The name of the reading that outcomes follow, the same for all claims of a paper's figure."""
    known: Sequence[Reading]
    values: Mapping[str, Mapping[str, Measured]]
    """Claim → reading → measured value."""

    def __post_init__(self) -> None:
        named = {reading.name: reading for reading in self.known}
        if self.verdict not in named:
            raise ValueError(f"verdict = {self.verdict}: no such reading; name one of {[*named]}")
        if named[self.verdict].basis == "fitted":
            raise ValueError(
                f"verdict = {self.verdict}: was fitted, so it is no evidence; name another"
            )
        for claim, values in self.values.items():
            strange = set(values) - set(named)
            if strange or self.verdict not in values:
                wrong = f"by {sorted(strange)}" if strange else f"none by {self.verdict}"
                raise ValueError(f"{claim}: has a value {wrong}; give one by {self.verdict}")

    def measured(self) -> dict[str, Measured]:
        """The value of each claim by the reading that is judged."""
        return {claim: values[self.verdict] for claim, values in self.values.items()}

    def of(self, claim: str) -> tuple[tuple[Reading, Estimate], ...]:
        """The values of a claim, by reading; empty if the source leaves nothing open."""
        values = self.values.get(claim, {})
        return tuple((r, estimated(values[r.name])) for r in self.known if r.name in values)


def estimated(value: Measured) -> Estimate:
    """Converts a figure to an estimate; a plain number gets an interval of width 0."""
    return value if isinstance(value, Estimate) else Estimate(value)
