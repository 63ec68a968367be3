"""The Pareto front: fabrics than which no other is at least level in performance, cost and power,
and certainly better in one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from lightloom.costs.amounts import Range
from lightloom.decision.order import priced, share
from lightloom.decision.purchases import CAPITAL, POWER, Measure, Purchase
from lightloom.units.intervals import LEVEL


def measures_of(purchases: Sequence[Purchase]) -> list[Measure]:
    """Capital, and power where it is known of all who have a total."""
    there = [p for p in purchases if CAPITAL.form(p) is not None]
    known = bool(there) and all(POWER.form(p) is not None for p in there)
    return [CAPITAL, POWER] if known else [CAPITAL]


def behind(
    purchases: Sequence[Purchase], standing: Callable[[str, str], int | None]
) -> dict[str, list[str]]:
    """Label → those that are better than it; empty for the Pareto front. Only a
    fabric that is known to carry the load and has a total and a figure is there.

    One is better than another if its performance is better or level, it takes no more dollars and
    no more watts for each bit delivered at any price of the book, and it is surely better in one of
    the three, in dollars or watts by more than `LEVEL`. Of the fabrics that are left, one is
    better, too, if its performance is surely better and it takes at most `LEVEL` more of the two by
    the mean of the seeds: costs so close are printed as equal. Neither rule makes a ring of fabrics
    each better than the next: in one by the first rule all would be equal in dollars and watts, and
    one by the second is a ring of sure performance.

    Args:
        standing: of two labels, 1 if the first is surely the better in what was measured, 0 if
            they are level, −1 if it is worse or may be; None where one has no figure.
    """
    there = [p for p in purchases if p.carries and not p.unsettled and not p.waited]
    there = [p for p in there if CAPITAL.form(p) is not None]
    there = [p for p in there if standing(p.label, p.label) is not None]
    measures = measures_of(there)

    def better(other: Purchase, one: Purchase) -> bool:
        found = standing(other.label, one.label)
        times = _times(share, other, one, measures)
        if found is None or found < 0 or times is None or times[1] > 1:
            return False
        return found > 0 or times[0] < 1 - LEVEL

    def nearly(other: Purchase, one: Purchase) -> bool:
        times = _times(priced, other, one, measures)
        surely = (standing(other.label, one.label) or 0) > 0
        return surely and times is not None and times[1] <= 1 + LEVEL

    found = {p.label: [o.label for o in there if o is not p and better(o, p)] for p in there}
    left = [p for p in there if not found[p.label]]
    also = {p.label: [o.label for o in left if o is not p and nearly(o, p)] for p in left}
    return found | also


def _times(
    of: Callable[[Purchase, Purchase, Measure], Range | None],
    one: Purchase,
    other: Purchase,
    measures: Sequence[Measure],
) -> tuple[Fraction, Fraction] | None:
    """How many times as much as another one takes at most: of the measure in which that is the
    least, and of the one in which it is the most; None if one is not known."""
    shares = [of(one, other, measure) for measure in measures]
    known = [s.high for s in shares if s is not None]
    return (min(known), max(known)) if len(known) == len(shares) else None
