"""The Pareto front of capital and a figure, against a search of all pairs."""

from fractions import Fraction

from economics_support import network
from hypothesis import given
from hypothesis import strategies as st

from lightloom.economics import book as books
from lightloom.economics import front
from lightloom.economics.pricing import FabricCost, Line

BOOK = books.load("sirius-2020")
NETWORK = network("clos")
points = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=8)


def cost(label: str, switches: int) -> FabricCost:
    line = Line(
        "switch", "core", Fraction(switches), "", BOOK.price("switch"), BOOK.power("switch")
    )
    return FabricCost(label, NETWORK, BOOK, [line])


@given(points)
def test_nobody_on_the_front_is_beaten_and_everybody_else_is(found: list[tuple[int, int]]) -> None:
    costs = {str(i): cost(str(i), switches) for i, (switches, _) in enumerate(found)}
    figures = {str(i): float(figure) for i, (_, figure) in enumerate(found)}
    expected = [
        str(i)
        for i, one in enumerate(found)
        if not any(a <= one[0] and b <= one[1] and (a, b) != one for a, b in found)
    ]
    assert front(costs, figures) == expected
    assert front(costs, {k: -v for k, v in figures.items()}, better="higher") == expected


def test_a_fabric_without_a_total_is_not_on_it() -> None:
    unknown = FabricCost(
        "x", NETWORK, BOOK, [Line("rotor-switch", "core", Fraction(1), "", None, None)]
    )
    assert front({"x": unknown, "y": cost("y", 3)}, {"x": 1.0, "y": 2.0}) == ["y"]
