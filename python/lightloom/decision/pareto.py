"""The Pareto front: fabrics that no other fabric dominates. A fabric dominates another if it is at
least level in performance, cost and power, and certainly better in one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from lightloom.costs.amounts import Range
from lightloom.decision.order import priced, share
from lightloom.decision.purchases import CAPITAL, POWER, Measure, Purchase
from lightloom.units.intervals import LEVEL


def measures_of(purchases: Sequence[Purchase]) -> list[Measure]:
    """Capital; and power, if every fabric with a total price has a power."""
    there = [p for p in purchases if CAPITAL.form(p) is not None]
    known = bool(there) and all(POWER.form(p) is not None for p in there)
    return [CAPITAL, POWER] if known else [CAPITAL]


def behind(
    purchases: Sequence[Purchase], standing: Callable[[str, str], int | None]
) -> dict[str, list[str]]:
    """Returns, by label, the fabrics that dominate each fabric; none for the Pareto front. The
    result has only fabrics that are known to carry the load, with a total price and a figure.

    1. A fabric dominates another if its performance is better or level, it needs no more dollars
       and no more watts per delivered bit at any price of the book, and it is certainly better in
       one of the three: in dollars or watts by more than `LEVEL`.
    2. A fabric also dominates another that rule 1 leaves, if its performance is certainly better
       and it needs at most `LEVEL` more dollars and watts by the mean of the seeds. Costs so close
       are printed as equal.

    Neither rule permits a cycle. In a cycle of rule 1, all fabrics would be equal in dollars and
    watts; in a cycle of rule 2, each would certainly perform better than the next.

    Args:
        standing: compares the performance of two labels: 1 if the first is certainly better, 0 if
            they are level, −1 if it is or may be worse, None if one has no figure.
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
    """The highest ratio of `one` to `other` in each measure, as the least and the greatest over
    the measures; None if one is not known."""
    shares = [of(one, other, measure) for measure in measures]
    known = [s.high for s in shares if s is not None]
    return (min(known), max(known)) if len(known) == len(shares) else None
