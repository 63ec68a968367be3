"""The point at which two networks cost the same: the price of a part, or the size of one network.

Prices are intervals, so that results are intervals as well: from the smallest to the largest over
all prices that the book permits, with the same price of each part in both networks. A price changes
together with those that the book ties to it (`share … of`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lightloom.costs.amounts import Amounts, Form, Prices, Range, ratio
from lightloom.costs.book import check_part
from lightloom.costs.pricing import FabricCost
from lightloom.errors import refusal

#: Relative accuracy of a size: finer than the four digits that are printed.
WIDTH = Fraction(1, 10**6)


@dataclass(frozen=True)
class BreakEven:
    """The price of a part at which one fabric costs the same as another."""

    part: str
    label: str
    other: str
    unit: str
    price: Range | None
    """The price per unit of the part; None if no price makes the costs equal, or if the price of
    another part is unknown as well."""
    why: str = ""
    """The reason why there is no such price."""
    tied: tuple[str, ...] = ()
    """Parts of either network whose prices change with the price of this part."""
    surely_below: Fraction | None = None
    """Set if the share of a tied part decides whether a lower price favours `label`: below this
    price, `label` is cheaper for every share."""


def break_evens(costs: Sequence[FabricCost], part: str) -> list[BreakEven]:
    """Returns the break-evens of each fabric with every fabric whose cost rises less with the
    price.

    Raises:
        ConfigError: if there is no such part, or none of the fabrics has it.
    """
    check_part("--break-even", part)
    name = costs[0].book.variable(part)
    if not any(_depends(cost.form, name, cost.prices) for cost in costs):
        used = dict.fromkeys(p for cost in costs for p in cost.form.counts)
        remedy = f"choose one of {', '.join(used)}"
        raise refusal("--break-even", part, "none of these fabrics has it", remedy)
    pairs = ((cost, other) for cost in costs for other in costs if cost is not other)
    found = (_break_even(cost, other, name, costs) for cost, other in pairs)
    return [even for even in found if even is not None]


def _depends(form: Form, part: str, prices: Amounts) -> bool:
    """Whether a form has the part, or a part whose price is a share of its price."""
    return any(form.counts.get(name) for name in (part, *prices.tied_to(part)))


def _break_even(
    cost: FabricCost, other: FabricCost, part: str, order: Sequence[FabricCost]
) -> BreakEven | None:
    """Returns the price below which `cost` is cheaper; None if a lower price favours `other`. If
    that depends on a share, the pair is listed once, in the order of the fabrics."""
    prices, more = cost.prices.joined(other.prices), cost.form.minus(other.form)
    slope = more.slope(part, prices)
    if slope.high <= 0:
        return None
    tied = tuple(name for name in prices.tied_to(part) if more.counts.get(name))
    unit, pieces = cost.book.unit(part), cost.book.pieces(part)
    first = order.index(cost) < order.index(other)

    def none(why: str) -> BreakEven:
        return BreakEven(part, cost.label, other.label, unit, None, why, tied)

    missing = more.without(part, *tied).unpriced(prices)
    if missing:
        return none(f"no price of {', '.join(missing)}") if slope.low > 0 or first else None
    if slope.low <= 0:
        free = Form({p: -n for p, n in more.without(part, *tied).counts.items()}).value(prices)
        if free.low > 0:
            least = free.low / slope.high / pieces
            return replace(none(""), surely_below=least)
        return none(_undecided(part, tied)) if first and free.high >= 0 else None
    found = equal_price(cost.form, other.form, part, prices) / pieces
    if found.high <= 0:
        return none(f"{cost.label} costs more without any {part}")
    found = Range(max(found.low, Fraction(0)), found.high)
    return BreakEven(part, cost.label, other.label, unit, found, tied=tied)


def _undecided(part: str, tied: Sequence[str]) -> str:
    return (
        f"the book's range of {' and '.join(tied)}, as a share of {part}, decides which of them a "
        f"lower price favours; set it: --price {tied[0]}=…"
    )


def equal_price(one: Form, other: Form, part: str, prices: Prices) -> Range:
    """Returns the price of one piece of a part at which both forms have the same value, over the
    prices of all other parts: (value of `other` without the part − value of `one` without it) ÷
    (difference of their derivatives by the price). Parts that are tied to it are also left out of
    the values, and their shares are part of the derivatives. Negative if no price makes them equal.

    Raises:
        KeyError: if another part has no price.
        ZeroDivisionError: if the price does not matter, for some share of the tied parts.
    """
    amounts, more = Amounts.of(prices), one.minus(other)
    slope = more.slope(part, amounts)
    if slope.low <= 0 <= slope.high:
        raise ZeroDivisionError(part)
    rest = other.minus(one).without(part, *amounts.tied_to(part)).value(amounts)
    return rest * Range(1 / slope.high, 1 / slope.low)


def root_of(
    excess: Callable[[Fraction], Fraction], low: Fraction, high: Fraction, width: Fraction
) -> Fraction | None:
    """Returns the zero of a non-decreasing function, to within `width`; None if it has none.

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


def equal_ends(
    form: Callable[[Fraction], Form],
    target: Form,
    prices: Prices,
    low: Fraction,
    high: Fraction,
    *,
    width: Fraction = WIDTH,
) -> tuple[Fraction | None, Fraction | None]:
    """Returns the sizes at which a network costs the same as `target`: at the prices for which it
    is most expensive relative to it, and at those for which it is cheapest.

    Args:
        form: its parts at a size; the number of no part decreases with the size.
            low, high: the smallest and the largest size.
        width: the accuracy of the sizes.

    Returns:
        Both sizes, each None if there is none between `low` and `high`.
    """

    def over(dearest: bool) -> Fraction | None:
        def excess(size: Fraction) -> Fraction:
            share = ratio(form(size), target, prices)
            return (share.high if dearest else share.low) - 1

        return root_of(excess, low, high, width)

    return over(True), over(False)
