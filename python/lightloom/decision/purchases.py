"""What may be bought: a fabric at the prices of a book, and what a run of it delivered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs.amounts import Amounts, Form, Range
from lightloom.costs.pricing import GIGABIT, TERABIT, FabricCost
from lightloom.units.intervals import Interval


@dataclass(frozen=True)
class Purchase:
    """A fabric of a comparison."""

    label: str
    cost: FabricCost
    delivered: Interval | None
    """What was accepted in the window, or the goodput of the whole run without one; of several
    seeds with its interval. None where it has none, or delivered nothing."""
    seeds: tuple[float, ...]
    """The same of each seed; all fabrics play the same flows in it."""
    carries: bool
    """Whether it delivered about as much of the load as the best: others are not ranked."""
    unsettled: bool = False
    """Whether its window or run is too short to show if it carries the load."""
    windowed: bool = True
    """Whether what it delivered is that of a window."""
    waited: bool = False
    """Whether a run without a window waited so long for its last flows that what it delivered is
    less than the load that the fabric carried."""
    undone: str = ""
    """What it finished of the jobs or flows, where the run ended before them: `1 of 3 jobs`."""
    limit_s: float | None = None
    """run.limit, if it ended the run while bytes were still delivered [s]."""


@dataclass(frozen=True)
class Measure:
    """What is paid for each bit that arrives: dollars, or watts."""

    name: str
    unit: int
    """The unit of bandwidth for which it is given [b/s]."""
    amounts: Callable[[FabricCost], Amounts]
    """Of a piece of each part."""

    def form(self, purchase: Purchase) -> Form | None:
        """How many of each part for a unit delivered; None where nothing was, or what a part
        takes is not known."""
        found = purchase.delivered
        if found is None or found.mean <= 0 or self.unknown(purchase):
            return None
        return self.of_all(purchase)

    def of_all(self, purchase: Purchase) -> Form:
        """The same, parts that nobody knows among them; where nothing was delivered, for what
        servers can send."""
        share = Fraction(purchase.delivered.mean) if purchase.delivered else Fraction(1)
        return purchase.cost.form.over(purchase.cost.network.bandwidth / self.unit * share)

    def unknown(self, purchase: Purchase) -> list[str]:
        """Its parts of which it is not known."""
        return purchase.cost.form.unpriced(self.amounts(purchase.cost))

    def value(self, purchase: Purchase) -> Range | None:
        """What a unit delivered takes."""
        form = self.form(purchase)
        return None if form is None else form.value(self.amounts(purchase.cost))


CAPITAL = Measure("capital cost", GIGABIT, lambda cost: cost.prices)
"""For each Gb/s that arrives, in the book's currency."""
POWER = Measure("power", TERABIT, lambda cost: cost.powers)
"""For each Tb/s that arrives [W]."""
