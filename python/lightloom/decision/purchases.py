"""Fabrics with their cost at the prices of a book, and their goodput in a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs.amounts import Amounts, Form, Range
from lightloom.costs.pricing import GIGABIT, TERABIT, FabricCost
from lightloom.units.intervals import Interval


@dataclass(frozen=True)
class Purchase:
    """A fabric of a comparison, with its cost and its goodput."""

    label: str
    cost: FabricCost
    delivered: Interval | None
    """The load accepted in the window or, without a window, the goodput of the whole run; with an
    interval for several seeds. None if it is unknown or zero."""
    seeds: tuple[float, ...]
    """`delivered` of each seed; a seed has the same flows on all fabrics."""
    carries: bool
    """Whether it carries the load; other fabrics are not ranked."""
    unsettled: bool = False
    """Whether its window or run is too short to show whether it carries the load."""
    windowed: bool = True
    """Whether `delivered` is the load accepted in a window."""
    waited: bool = False
    """Whether a run without a window waited so long for its last flows that its goodput is below
    the load that the fabric carried."""
    undone: str = ""
    """The number of finished jobs or flows, if the run ended before the last: `1 of 3 jobs`."""
    limit_s: float | None = None
    """run.limit, if it ended the run while bytes were still delivered [s]."""


@dataclass(frozen=True)
class Measure:
    """An amount per delivered bit: dollars or watts."""

    name: str
    unit: int
    """The unit of bandwidth to which the amount refers [b/s]."""
    amounts: Callable[[FabricCost], Amounts]
    """Returns the amount per piece of each part."""

    def form(self, purchase: Purchase) -> Form | None:
        """The number of each part per delivered unit; None if nothing was delivered, or if the
        amount of a part is unknown."""
        found = purchase.delivered
        if found is None or found.mean <= 0 or self.unknown(purchase):
            return None
        return self.of_all(purchase)

    def of_all(self, purchase: Purchase) -> Form:
        """The number of each part per delivered unit, including parts with an unknown amount.

        If nothing was delivered, the numbers refer to a unit of the servers' capacity.
        """
        share = Fraction(purchase.delivered.mean) if purchase.delivered else Fraction(1)
        return purchase.cost.form.over(purchase.cost.network.bandwidth / self.unit * share)

    def unknown(self, purchase: Purchase) -> list[str]:
        """The parts with an unknown amount."""
        return purchase.cost.form.unpriced(self.amounts(purchase.cost))

    def value(self, purchase: Purchase) -> Range | None:
        """The amount per delivered unit."""
        form = self.form(purchase)
        return None if form is None else form.value(self.amounts(purchase.cost))


CAPITAL = Measure("capital cost", GIGABIT, lambda cost: cost.prices)
"""Cost per delivered Gb/s, in the book's currency."""
POWER = Measure("power", TERABIT, lambda cost: cost.powers)
"""Power per delivered Tb/s [W]."""
