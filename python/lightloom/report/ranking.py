"""Who is ahead, and whether the numbers allow saying so.

Two values are level if they differ by less than 3 %, or if their sampling
intervals overlap. The interval of a percentile is that between order statistics
(95 %, flows taken as independent); what another seed would change beyond that
is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from . import units
from .model import Fabric
from .spec import Floats

LEVEL = 0.03
NAMED = 3  # this many fabrics behind the leader are named one by one


@dataclass(frozen=True)
class Score:
    """A fabric's value with its interval."""

    fabric: Fabric
    value: float
    low: float
    high: float

    @classmethod
    def exact(cls, fabric: Fabric, value: float) -> Score:
        """A value without sampling error."""
        return cls(fabric, value, value, value)


@dataclass(frozen=True)
class Ranking:
    """Scores, best first, and how many of them share the lead."""

    scores: tuple[Score, ...]
    level: int

    @property
    def leaders(self) -> tuple[Score, ...]:
        """Those that cannot be told apart from the best."""
        return self.scores[: self.level]

    @property
    def rest(self) -> tuple[Score, ...]:
        """Those behind."""
        return self.scores[self.level :]

    @property
    def best(self) -> float:
        """The best value."""
        return self.scores[0].value


def rank(scores: Sequence[Score], better: Literal["lower", "higher"]) -> Ranking:
    """Sorts, and finds who is level with the best."""
    ordered = sorted(scores, key=lambda s: s.value, reverse=better == "higher")
    level = sum(1 for s in ordered if is_level(ordered[0], s))
    tied = [s for s in ordered if is_level(ordered[0], s)]
    return Ranking((*tied, *(s for s in ordered if s not in tied)), level)


def is_level(a: Score, b: Score) -> bool:
    """Whether two scores cannot be told apart."""
    larger, smaller = max(a.value, b.value), min(a.value, b.value)
    return larger <= smaller * (1 + LEVEL) or (a.low < b.high and b.low < a.high)


def percentile_interval(values: Floats, share: float) -> tuple[float, float] | None:
    """95 % interval of a percentile from order statistics; None of no values."""
    ordered = np.sort(values[np.isfinite(values)])
    n = ordered.size
    if n == 0:
        return None
    half = 1.96 * math.sqrt(n * share * (1 - share))
    low, high = math.floor(n * share - half) - 1, math.ceil(n * share + half) - 1
    return float(ordered[max(low, 0)]), float(ordered[min(high, n - 1)])


def names(scores: Sequence[Score]) -> str:
    """Labels as a list in words."""
    return units.listed(s.fabric.label for s in scores)


def slower(ranking: Ranking) -> str:
    """How far the others are behind, where a value is a time."""
    behind = [
        (s.fabric.label, s.value / ranking.best, units.show(s.value, "time")) for s in ranking.rest
    ]
    if not behind:
        return ""
    if len(behind) > NAMED:
        (near, least, _), (far, most, _) = behind[0], behind[-1]
        if longer(least) == longer(most):
            return f"The others all take {longer(least)}."
        return f"The others take from {longer(least)} ({near}) to {longer(most)} ({far})."
    parts = [f"{label} takes {longer(factor)} ({value})" for label, factor, value in behind]
    return sentence(parts)


def longer(ratio: float) -> str:
    """`2.2× as long`, or `4 % longer` where `1.0×` would say nothing."""
    if ratio < 1.1:
        return f"{(ratio - 1) * 100:.0f}{units.GLUE}% longer"
    return f"{units.times(ratio)} as long"


def less(ranking: Ranking) -> str:
    """How much less the others carry, where a value is a share."""
    behind = [
        (s.fabric.label, less_by(s.value, ranking.best), units.show(s.value, "share"))
        for s in ranking.rest
    ]
    if not behind:
        return ""
    if len(behind) > NAMED:
        (near, least, _), (far, most, _) = behind[0], behind[-1]
        if least == most:
            return f"The others all carry {least} less."
        return f"The others carry from {least} less ({near}) to {most} less ({far})."
    return sentence([f"{label} carries {gap} less ({value})" for label, gap, value in behind])


def less_by(value: float, best: float) -> str:
    """`12 %`."""
    return f"{(1 - value / best) * 100:.0f}{units.GLUE}%" if best else units.MISSING


def sentence(parts: Sequence[str]) -> str:
    """Clauses as one sentence. Labels keep their case."""
    return f"{'; '.join(parts)}."
