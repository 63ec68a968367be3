"""Where two networks cost the same: the price of a part, or the size of one of them.

Prices are intervals, so answers are: the least and the largest over all prices that the book
allows, with each part's price the same on both sides. A price moves together with those that the
book ties to it (`share … of`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lightloom.costs.amounts import Amounts, Form, Prices, Range, ratio
from lightloom.costs.book import check_part
from lightloom.costs.pricing import FabricCost
from lightloom.errors import refusal

#: How exactly a size is searched: finer than the four digits that are printed.
WIDTH = Fraction(1, 10**6)


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
    why: str = ""
    """Why there is none."""
    tied: tuple[str, ...] = ()
    """Parts of either network whose prices move with it."""
    surely_below: Fraction | None = None
    """Where the range of a share decides whether a lower price favours `label` at all: below this
    it is the cheaper one by every share."""


def break_evens(costs: Sequence[FabricCost], part: str) -> list[BreakEven]:
    """For each fabric and each that its price makes dearer by less.

    Raises:
        ConfigError: of a part that no network has, or none of these.
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
    """Whether it has the part, or one whose price is a share of the part's."""
    return any(form.counts.get(name) for name in (part, *prices.tied_to(part)))


def _break_even(
    cost: FabricCost, other: FabricCost, part: str, order: Sequence[FabricCost]
) -> BreakEven | None:
    """Below which price `cost` is cheaper; None where it is `other` that a lower price favours.
    Where that depends on a share, the pair is named once, in the order of the fabrics."""
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
    """At which price of a piece of a part both are worth the same, over the prices of all others:
    (what the other is worth without the part − the same of the one) ÷ how much more the one is
    worth for each unit of the price. Parts that are tied to it are without, too, and their shares
    count in the divisor. Below 0 where no price does.

    Raises:
        KeyError: of another part that has no price.
        ZeroDivisionError: if the price makes no difference, by some share of the tied parts.
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


def equal_ends(
    form: Callable[[Fraction], Form],
    target: Form,
    prices: Prices,
    low: Fraction,
    high: Fraction,
    *,
    width: Fraction = WIDTH,
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
