"""Orders fabrics by cost, given the ranges of prices and the interval of the seeds.

A part has the same price in both fabrics, and a seed draws the same flows for both, so common parts
and common flows cancel. One fabric is ahead of another if it is cheaper at all prices of the book,
over the interval of the seeds, and by more than 3 % at the middle prices, as in every ranking of
the report. A fabric leads if no other is ahead of it; several leaders are level.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lightloom.costs.amounts import Amounts, Form, Range, ratio
from lightloom.decision.purchases import Measure, Purchase
from lightloom.units.intervals import LEVEL, over_runs


def share(one: Purchase, other: Purchase, measure: Measure) -> Range | None:
    """Amount of `one` ÷ amount of `other` per delivered unit, over all prices and the interval of
    the seeds; None if either is unknown, or that of `other` can be zero."""
    found = priced(one, other, measure)
    paired = _over_seeds(one, other)
    return None if found is None else Range(found.low * paired.low, found.high * paired.high)


def priced(one: Purchase, other: Purchase, measure: Measure) -> Range | None:
    """Amount of `one` ÷ amount of `other` per delivered unit, over all prices, by the mean of the
    seeds; None as for `share`."""
    above, below = measure.form(one), measure.form(other)
    amounts = both(one, other, measure)
    if above is None or below is None or below.value(amounts).low <= 0:
        return None
    return ratio(above, below, amounts)


def both(one: Purchase, other: Purchase, measure: Measure) -> Amounts:
    """The amounts per piece of each part of two fabrics."""
    return measure.amounts(one.cost).joined(measure.amounts(other.cost))


def middle(purchase: Purchase, measure: Measure) -> Fraction:
    """The amount per delivered unit, with every price in the middle of its range."""
    form = measure.form(purchase)
    assert form is not None
    return at_middle(form, measure.amounts(purchase.cost))


def at_middle(form: Form, amounts: Amounts) -> Fraction:
    """The value of a form with every price in the middle of its range."""
    return form.at(amounts.middles())


def ahead(one: Purchase, other: Purchase, measure: Measure) -> bool:
    """Whether one is certainly cheaper, or draws certainly less, than another."""
    found = share(one, other, measure)
    if found is None or found.high >= 1:
        return False
    return middle(one, measure) * Fraction(1 + LEVEL) < middle(other, measure)


def ranked(purchases: Sequence[Purchase], measure: Measure) -> list[Purchase]:
    """The purchases that carry the load and have a known amount, by amount at middle prices."""
    known = [p for p in purchases if p.carries and measure.form(p) is not None]
    return sorted(known, key=lambda p: middle(p, measure))


def leaders(purchases: Sequence[Purchase], measure: Measure) -> list[Purchase]:
    """The cheapest purchases: no other is certainly cheaper. Ordered by amount at middle prices.
    Empty if it is unknown whether one of them carries the load."""
    found = cheapest(purchases, measure)
    return [] if any(p.unsettled or p.waited for p in found) else found


def cheapest(purchases: Sequence[Purchase], measure: Measure) -> list[Purchase]:
    """The cheapest purchases, including those for which it is unknown whether they carry the load,
    or how much of it they deliver."""
    known = ranked(purchases, measure)
    return [p for p in known if p.waited or not any(ahead(o, p, measure) for o in known)]


def _over_seeds(one: Purchase, other: Purchase) -> Range:
    """The 95 % interval of the ratio of the two goodputs, relative to its mean. Ratios are taken
    seed by seed, because a seed that draws more delivers more on all fabrics. 1 for one seed."""
    pairs = list(zip(other.seeds, one.seeds, strict=False))
    found = over_runs(its / own for its, own in pairs if own > 0)
    if len(pairs) < 2 or found is None or not found.half_width or found.mean <= 0:
        return Range(Fraction(1), Fraction(1))
    half = Fraction(found.half_width) / Fraction(found.mean)
    return Range(max(1 - half, Fraction(1, 1000)), 1 + half)
