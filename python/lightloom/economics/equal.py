"""Where two networks cost the same: the price of a part, or the size of one of them.

Prices are intervals, so answers are: the least and the largest over all prices that the book
allows, with each part's price the same on both sides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from lightloom.economics.amounts import Form, Prices, Range, ratio
from lightloom.economics.book import check_part
from lightloom.economics.pricing import FabricCost
from lightloom.errors import refusal


@dataclass(frozen=True)
class BreakEven:
    """At which price of a part one fabric costs what another does."""

    part: str
    label: str
    other: str
    unit: str
    price: Range | None
    """For each unit of the part; None where no price makes them equal, or another part's price is
    unknown as well."""
    cheaper_below: bool
    """Whether `label` is the cheaper one below it: it has more of the part."""
    why: str = ""
    """Why there is none."""


def break_evens(costs: Sequence[FabricCost], part: str) -> list[BreakEven]:
    """For each fabric with the part and each with less of it.

    Raises:
        ConfigError: of a part that no network has, or none of these.
    """
    check_part("--break-even", part)
    name = costs[0].book.variable(part)
    users = [cost for cost in costs if cost.form.counts.get(name)]
    if not users:
        used = dict.fromkeys(p for cost in costs for p in cost.form.counts)
        remedy = f"choose one of {', '.join(used)}"
        raise refusal("--break-even", part, "none of these fabrics has it", remedy)
    return [
        _break_even(cost, other, name)
        for cost in users
        for other in costs
        if cost is not other and cost.form.counts[name] > other.form.counts.get(name, Fraction(0))
    ]


def _break_even(cost: FabricCost, other: FabricCost, part: str) -> BreakEven:
    unit, pieces = cost.book.unit(part), cost.book.pieces(part)
    prices = {**cost.prices, **other.prices}
    missing = other.form.minus(cost.form).without(part).unpriced(prices)
    if missing:
        why = f"no price of {', '.join(missing)}"
        return BreakEven(part, cost.label, other.label, unit, None, True, why)
    found = equal_price(cost.form, other.form, part, prices) / pieces
    if found.high <= 0:
        why = f"{cost.label} costs more without any {part}"
        return BreakEven(part, cost.label, other.label, unit, None, True, why)
    found = Range(max(found.low, Fraction(0)), found.high)
    return BreakEven(part, cost.label, other.label, unit, found, True)


def equal_price(one: Form, other: Form, part: str, prices: Prices) -> Range:
    """At which price of a piece of a part both are worth the same, over the prices of all others:
    (what the other is worth without the part − the same of the one) ÷ how many more the one has.
    Below 0 where no price does.

    Raises:
        KeyError: of another part that has no price.
        ZeroDivisionError: if both have as many of it.
    """
    zero = Fraction(0)
    more = one.counts.get(part, zero) - other.counts.get(part, zero)
    return other.without(part).minus(one.without(part)).value(prices) / more


def root_of(
    excess: Callable[[Fraction], Fraction], low: Fraction, high: Fraction, width: Fraction
) -> Fraction | None:
    """Where a function that does not fall crosses 0, to within `width`; None where it does not.

    >>> root_of(lambda x: x - 3, Fraction(0), Fraction(4), Fraction(1, 100)) == 3
    True
    """
    at_low, at_high = excess(low), excess(high)
    if at_low > 0 or at_high < 0:
        return None
    if at_high == 0:
        return high
    while high - low > width:
        middle = (low + high) / 2
        if excess(middle) <= 0:
            low = middle
        else:
            high = middle
    return low


def equal_size(
    form: Callable[[Fraction], Form],
    target: Form,
    prices: dict[str, Range],
    low: Fraction,
    high: Fraction,
    *,
    width: Fraction = Fraction(1, 1000),
) -> Range | None:
    """At which size a network costs what `target` does, over all prices: the interval of
    `equal_ends`, or None where one of them is."""
    least, most = equal_ends(form, target, prices, low, high, width=width)
    return None if least is None or most is None else Range(least, most)


def equal_ends(
    form: Callable[[Fraction], Form],
    target: Form,
    prices: dict[str, Range],
    low: Fraction,
    high: Fraction,
    *,
    width: Fraction = Fraction(1, 1000),
) -> tuple[Fraction | None, Fraction | None]:
    """At which sizes a network costs what `target` does: at the prices by which it is dearest
    beside it, and by which it is cheapest.

    Args:
        form: its parts at a size; no part becomes fewer as it grows.
        low, high: the sizes between which to look.
        width: how exactly.

    Returns:
        Both, each None where no size between the ends does.
    """

    def over(dearest: bool) -> Fraction | None:
        def excess(size: Fraction) -> Fraction:
            share = ratio(form(size), target, prices)
            return (share.high if dearest else share.low) - 1

        return root_of(excess, low, high, width)

    return over(True), over(False)
