"""Readings of a source that leaves open what decides: what claims come to by each, and the one
that the verdict is from.

A reading that was fitted to the source's figures meets them by construction, so no verdict is from
it; that one meets a figure says that some count does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lightloom.validation.estimate import Estimate

#: A figure, with its confidence interval where it has one.
Measured = float | Estimate
Basis = Literal["literal", "assumed", "fitted"]


@dataclass(frozen=True)
class Reading:
    """One way to read a source."""

    name: str
    what: str
    """What it takes the source to mean, in a line."""
    basis: Basis
    """The source's words alone; these with assumptions of ours; or fitted to its figures."""


@dataclass(frozen=True)
class Readings:
    """What a script's claims come to by each reading.

    Raises:
        ValueError: the verdict is from no reading that there is, from a fitted one, or a claim
            has no value by it.
    """

    verdict: str
    """Name of the reading that outcomes are from, the same for all claims of a paper's figure."""
    known: Sequence[Reading]
    values: Mapping[str, Mapping[str, Measured]]
    """Claim → reading → what was measured."""

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
        """What each claim comes to by the reading that is judged."""
        return {claim: values[self.verdict] for claim, values in self.values.items()}

    def of(self, claim: str) -> tuple[tuple[Reading, Estimate], ...]:
        """A claim's values, by reading; none where the source is plain."""
        values = self.values.get(claim, {})
        return tuple((r, estimated(values[r.name])) for r in self.known if r.name in values)


def estimated(value: Measured) -> Estimate:
    """A figure as an interval; of a plain number, of no width."""
    return value if isinstance(value, Estimate) else Estimate(value)
