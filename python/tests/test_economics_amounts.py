"""Intervals of costs contain the cost at every price, use the same price in both networks, and are
not wider than necessary."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from lightloom.costs.amounts import Form, Range, ratio
from lightloom.costs.equal import equal_ends

PARTS = ("a", "b", "c", "d")
ints = st.integers(0, 40)
forms = st.tuples(*[ints] * 4).map(
    lambda ns: Form({p: Fraction(n, 3) for p, n in zip(PARTS, ns, strict=True)})
)
ranges = st.tuples(st.integers(1, 500), st.integers(0, 300)).map(
    lambda ends: Range(Fraction(ends[0], 100), Fraction(sum(ends), 100))
)
markets = st.fixed_dictionaries(dict.fromkeys(PARTS, ranges))
somewhere = st.lists(st.fractions(0, 1), min_size=4, max_size=4)


def at(prices: dict[str, Range], where: list[Fraction]) -> dict[str, Fraction]:
    """Returns one price of each interval."""
    return {
        p: r.low + (r.high - r.low) * w for (p, r), w in zip(prices.items(), where, strict=True)
    }


@given(forms, markets, somewhere)
def test_a_total_contains_every_sampled_price(
    form: Form, prices: dict[str, Range], where: list[Fraction]
) -> None:
    assert form.at(at(prices, where)) in form.value(prices)


@given(forms, forms, markets, somewhere)
def test_a_ratio_contains_every_sampled_price_and_reaches_its_ends(
    above: Form, below: Form, prices: dict[str, Range], where: list[Fraction]
) -> None:
    if not any(below.counts.values()):
        with pytest.raises(ZeroDivisionError):
            ratio(above, below, prices)
        return
    found = ratio(above, below, prices)
    one = at(prices, where)
    assert above.at(one) / below.at(one) in found
    corners = [
        dict(zip(PARTS, ends, strict=True))
        for ends in product(*((prices[p].low, prices[p].high) for p in PARTS))
    ]
    all_corners = [above.at(c) / below.at(c) for c in corners]
    assert (found.low, found.high) == (min(all_corners), max(all_corners))


def test_a_part_costs_the_same_on_both_sides() -> None:
    form = Form({"a": Fraction(3)})
    assert ratio(form, form, {"a": Range.of(1, 100)}) == Range.of(1)


@given(st.integers(0, 200), st.integers(1, 30), st.integers(1, 400), ranges)
def test_equal_sizes_are_those_of_brentq(base: int, slope: int, target: int, price: Range) -> None:
    """Compares a network of base + slope·x parts with one of `target` parts, where b costs
    `price`."""

    def form(x: Fraction) -> Form:
        return Form({"a": Fraction(base), "b": slope * x})

    goal, width = Form({"a": Fraction(target)}), Fraction(1, 10**6)
    found = equal_ends(
        form, goal, {"a": Range.of(1), "b": price}, Fraction(0), Fraction(10**4), width=width
    )

    def excess(x: float, unit: float) -> float:
        return base + slope * unit * x - target

    for end, unit in zip(found, (float(price.high), float(price.low)), strict=True):
        if base > target or excess(10**4, unit) < 0:
            assert end is None
        else:
            assert end is not None
            assert float(end) == pytest.approx(brentq(excess, 0, 10**4, args=(unit,)), abs=1e-5)


def test_cents_do_not_drift() -> None:
    tenth = Range.of(Fraction(1, 10))
    total = Range.of(0)
    for _ in range(1000):
        total += tenth
    assert total == Range.of(100)


def test_ends_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValueError, match="above"):
        Range.of(2, 1)
