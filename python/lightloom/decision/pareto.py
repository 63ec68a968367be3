"""Who is worth a look: fabrics than which no other is as good in all and better in one of what is
measured, what they cost and what they draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lightloom.decision.order import share
from lightloom.decision.purchases import CAPITAL, POWER, Measure, Purchase


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

    One is better than another if it is better or level in what was measured, takes no more
    dollars and no more watts at any price of the book, for each bit delivered, and is surely
    better in one of the three. A ring of fabrics each better than the next there cannot be: in
    dollars and watts all would be equal, and so each surely better in what was measured.

    Args:
        standing: of two labels, 1 if the first is surely the better in what was measured, 0 if
            they are level, −1 if it is worse or may be; None where one has no figure.
    """
    there = [p for p in purchases if p.carries and not p.unsettled and not p.waited]
    there = [p for p in there if CAPITAL.form(p) is not None]
    there = [p for p in there if standing(p.label, p.label) is not None]
    measures = measures_of(there)

    def beats(other: Purchase, one: Purchase) -> bool:
        shares = [share(other, one, measure) for measure in measures]
        found = standing(other.label, one.label)
        if found is None or found < 0 or any(s is None or s.high > 1 for s in shares):
            return False
        return found > 0 or any(s is not None and s.high < 1 for s in shares)

    return {one.label: [o.label for o in there if o is not one and beats(o, one)] for one in there}
