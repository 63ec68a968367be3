"""Switches of a rack as a fabric grows: links that need one more port may need one more box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from lightloom.costs.pricing import FabricCost


@dataclass(frozen=True)
class More:
    """That racks have more switches at a size than at the present one."""

    until: int
    """The largest size at which they are as many as at present."""
    now: int
    """How many a rack has at present."""
    then: int
    """How many it has at the larger size."""

    def to_json(self) -> dict[str, int]:
        """As JSON."""
        return {"until": self.until, "now": self.now, "then": self.then}


def more(at: Callable[[Fraction], FabricCost], present: int, size: Fraction) -> More | None:
    """Whether racks need more switches at a size than at the present one; between two whole sizes
    it is the larger that tells. None of a book that counts shares of boxes."""
    low, high = present, ceil(size)
    now, then = (of_rack(at(Fraction(end))) for end in (low, max(low, high)))
    if then <= now or now.denominator != 1 or then.denominator != 1:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if of_rack(at(Fraction(middle))) == now else (low, middle)
    return More(low, int(now), int(then))


def of_rack(cost: FabricCost) -> Fraction:
    """Switches that each rack has in a bill."""
    boxes = sum((line.count for line in cost.lines if line.where == "racks"), Fraction(0))
    return boxes / cost.network.racks
