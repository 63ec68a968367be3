"""Who is cheaper, as far as prices and runs allow to say.

A part costs the same in both fabrics: what they share cancels; so does what a seed draws, which
both play. One is ahead of another where it is so at all prices of the book and over the interval
of the seeds, and by 3 % in the middle of them, as in every ranking of the report. Whom nobody is
ahead of leads; several who do are level.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lightloom.costs.amounts import Amounts, Form, Range, ratio
from lightloom.decision.purchases import Measure, Purchase
from lightloom.units.intervals import LEVEL, over_runs


def share(one: Purchase, other: Purchase, measure: Measure) -> Range | None:
    """What one takes ÷ what the other does, for a unit delivered, over all prices and the interval
    of the seeds; None if either is not known, or the other can take nothing."""
    found = priced(one, other, measure)
    paired = _over_seeds(one, other)
    return None if found is None else Range(found.low * paired.low, found.high * paired.high)


def priced(one: Purchase, other: Purchase, measure: Measure) -> Range | None:
    """The same over all prices, by the mean of the seeds."""
    above, below = measure.form(one), measure.form(other)
    amounts = both(one, other, measure)
    if above is None or below is None or below.value(amounts).low <= 0:
        return None
    return ratio(above, below, amounts)


def both(one: Purchase, other: Purchase, measure: Measure) -> Amounts:
    """What a piece of each part of two fabrics takes."""
    return measure.amounts(one.cost).joined(measure.amounts(other.cost))


def middle(purchase: Purchase, measure: Measure) -> Fraction:
    """What it takes for a unit delivered, every price in the middle of its range."""
    form = measure.form(purchase)
    assert form is not None
    return at_middle(form, measure.amounts(purchase.cost))


def at_middle(form: Form, amounts: Amounts) -> Fraction:
    """The same of a form."""
    return form.at(amounts.middles())


def ahead(one: Purchase, other: Purchase, measure: Measure) -> bool:
    """Whether one surely takes less than another."""
    found = share(one, other, measure)
    if found is None or found.high >= 1:
        return False
    return middle(one, measure) * Fraction(1 + LEVEL) < middle(other, measure)


def ranked(purchases: Sequence[Purchase], measure: Measure) -> list[Purchase]:
    """Those of which it is known and that carry the load, the least in the middle first."""
    known = [p for p in purchases if p.carries and measure.form(p) is not None]
    return sorted(known, key=lambda p: middle(p, measure))


def leaders(purchases: Sequence[Purchase], measure: Measure) -> list[Purchase]:
    """The cheapest: those than which no other is surely cheaper, least in the middle first. None
    if it is not known of one of them whether it carries the load."""
    found = cheapest(purchases, measure)
    return [] if any(p.unsettled or p.waited for p in found) else found


def cheapest(purchases: Sequence[Purchase], measure: Measure) -> list[Purchase]:
    """The same, also of fabrics of which it is not known whether they carry the load, or what they
    deliver of it."""
    known = ranked(purchases, measure)
    return [p for p in known if p.waited or not any(ahead(o, p, measure) for o in known)]


def _over_seeds(one: Purchase, other: Purchase) -> Range:
    """Between what the quotient of what both delivered may be, of that of the means: seed by
    seed, as more arrives on all fabrics where more is drawn. 1 of one seed."""
    pairs = list(zip(other.seeds, one.seeds, strict=False))
    found = over_runs(its / own for its, own in pairs if own > 0)
    if len(pairs) < 2 or found is None or not found.half_width or found.mean <= 0:
        return Range(Fraction(1), Fraction(1))
    half = Fraction(found.half_width) / Fraction(found.mean)
    return Range(max(1 - half, Fraction(1, 1000)), 1 + half)
