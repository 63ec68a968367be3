"""The switches of a rack as a fabric grows; one more port can require one more box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from lightloom.costs.pricing import FabricCost


@dataclass(frozen=True)
class More:
    """Records that racks have more switches at a size than at the present size."""

    until: int
    """The largest size at which racks have the present number of switches."""
    now: int
    """The present number of switches of a rack."""
    then: int
    """The number of switches of a rack at the larger size."""

    def to_json(self) -> dict[str, int]:
        """Returns the form of JSON."""
        return {"until": self.until, "now": self.now, "then": self.then}


def more(at: Callable[[Fraction], FabricCost], present: int, size: Fraction) -> More | None:
    """Returns whether racks need more switches at a size than at the present size; a size between
    two integers counts as the larger one. None if the book counts shares of boxes."""
    low, high = present, ceil(size)
    now, then = (of_rack(at(Fraction(end))) for end in (low, max(low, high)))
    if then <= now or now.denominator != 1 or then.denominator != 1:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if of_rack(at(Fraction(middle))) == now else (low, middle)
    return More(low, int(now), int(then))


def of_rack(cost: FabricCost) -> Fraction:
    """The number of switches of each rack in a bill."""
    boxes = sum((line.count for line in cost.lines if line.where == "racks"), Fraction(0))
    return boxes / cost.network.racks
