"""Prices that a book ties to another part's price change with it; compared with whole bills,
recomputed line by line from random books within the ranges."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from economics_support import experiment, network

from lightloom.cli.cost_text import break_evens as sentences
from lightloom.costs import book as books
from lightloom.costs import pricing, readings
from lightloom.costs.amounts import Range
from lightloom.costs.book import Book
from lightloom.costs.costs import cost as costs_of
from lightloom.costs.equal import BreakEven, break_evens
from lightloom.costs.pricing import FabricCost
from lightloom.costs.tornado import sensitivity

#: Copied from the file of `sirius-2020`: part → (the part of which its price is a share, least,
#: most).
SHARES = {
    "tunable-transceiver": ("transceiver", Fraction("1.125"), Fraction("1.64")),
    "grating": ("switch", Fraction(0), Fraction("0.25")),
}
#: The networks; the Clos network has pods and a core.
MORE: dict[str, dict[str, Any]] = {"sirius": {}, "clos": {"tiers": 3}}
#: Prices per piece: $5,000, and $1 per Gb/s at 400 Gb/s.
FREE = {"switch": Fraction(5000), "transceiver": Fraction(400)}


def pair(**cluster: Any) -> list[FabricCost]:
    table = {"racks": 16, "servers_per_rack": 8, "server_rate": "50 Gb/s"} | cluster
    book = books.load("sirius-2020")
    return [pricing.of_network(k, network(k, table, **MORE[k]), book) for k in MORE]


def bill(cost: FabricCost, free: dict[str, Fraction], shares: dict[str, Fraction]) -> Fraction:
    """Recomputes every line: its count × a price that is computed here."""
    total = Fraction(0)
    for line in cost.lines:
        if line.part in SHARES:
            each = shares[line.part] * free[SHARES[line.part][0]]
        else:
            each = free.get(line.part, Fraction(0))  # cables and the servers' ends are excluded
        total += line.count * each
    return total


def some_shares(rng: random.Random) -> dict[str, Fraction]:
    ends = {part: (low, high) for part, (_, low, high) in SHARES.items()}
    return {
        p: low + (high - low) * Fraction(rng.choice([0, 1, rng.random()]))
        for p, (low, high) in ends.items()
    }


def only(found: list[BreakEven]) -> BreakEven:
    (even,) = found
    return even


def test_the_break_even_of_a_transceiver_moves_its_tunable_kind() -> None:
    """24 tunable transceivers cost 27 to 39.36 plain ones, and a Clos network has 64, which is
    24.64 to 37 more; Sirius has 0.625 fewer switches, and 3 gratings at 0 to 0.25 of a switch. The
    Clos network is therefore cheaper below (0.125 × 5,000) ÷ 24.64."""
    even = only(break_evens(pair(), "transceiver"))
    assert (even.label, even.other, even.tied) == ("clos", "sirius", ("tunable-transceiver",))
    assert even.price == Range(Fraction(0), Fraction(625) / Fraction("24.64") / 400)
    assert float(even.price.high) == pytest.approx(0.0634, abs=1e-4)
    text = " ".join(sentences([even], books.load("sirius-2020")))
    assert "below $0 to $0.0634, " in text
    assert "(transceiver; tunable-" in text


@pytest.mark.parametrize(
    "cluster", [{}, {"racks": 64}, {"server_rate": "100 Gb/s"}, {"servers_per_rack": 4}]
)
@pytest.mark.parametrize("part", ["transceiver", "switch"])
def test_on_either_side_of_a_break_even_the_whole_bill_says_so(
    cluster: dict[str, Any], part: str
) -> None:
    costs = {cost.label: cost for cost in pair(**cluster)}
    rng = random.Random(1)
    for even in break_evens(list(costs.values()), part):
        one, other = costs[even.label], costs[even.other]
        unit = 400 if part == "transceiver" else 1  # the price of the book is per Gb/s

        def more(
            price: Fraction,
            shares: dict[str, Fraction],
            one: Any = one,
            other: Any = other,
            unit: int = unit,
        ) -> Fraction:
            free = FREE | {part: price * unit}
            return bill(one, free, shares) - bill(other, free, shares)

        for shares in (some_shares(rng) for _ in range(40)):
            if even.price is not None:
                if even.price.low:  # for some prices of the others it never pays
                    assert more(even.price.low * Fraction(99, 100), shares) < 0
                assert more(even.price.high * Fraction(101, 100), shares) > 0
            elif even.surely_below is not None:
                assert more(even.surely_below * Fraction(99, 100), shares) < 0
            elif even.why.endswith("without any " + part):
                assert all(more(Fraction(p), shares) >= 0 for p in (0, 1, 10**6))


def test_the_ends_of_a_break_even_are_attained() -> None:
    for cost in (pair(racks=64), pair(server_rate="100 Gb/s")):
        sirius, clos = cost
        for even in break_evens(cost, "transceiver"):
            if even.price is None:
                continue
            sides = []
            for tunable in SHARES["tunable-transceiver"][1:]:
                for grating in SHARES["grating"][1:]:
                    shares = {"tunable-transceiver": tunable, "grating": grating}
                    at = [
                        bill(clos, FREE | {"transceiver": Fraction(p)}, shares)
                        - bill(sirius, FREE | {"transceiver": Fraction(p)}, shares)
                        for p in (0, 1)
                    ]
                    sides.append(max(-at[0] / (at[1] - at[0]), Fraction(0)) / 400)
            assert even.price == Range(min(sides), max(sides))


def test_a_lower_price_of_switches_favours_neither_for_certain() -> None:
    """Sirius has 0.625 switches and 3 gratings, and a Clos network 1.25 switches: Sirius has from
    0.625 less to 0.125 more. The links of Sirius cost at most 24 × 656, and those of the Clos
    network 64 × 400."""
    even = only(break_evens(pair(), "switch"))
    assert (even.label, even.price, even.tied) == ("sirius", None, ("grating",))
    assert even.surely_below == (64 * 400 - 24 * 656) / Fraction("0.125")
    text = " ".join(sentences([even], books.load("sirius-2020")))
    assert text.startswith("sirius is cheaper than")
    assert "clos below $78,848.00, each" in text
    assert "(switch; grating in" in text


def test_a_price_that_the_user_sets_is_tied_to_none() -> None:
    book = books.load("sirius-2020").with_price("tunable-transceiver", Range.of(600))
    costs = [pricing.of_network(k, network(k, **MORE[k]), book) for k in MORE]
    even = only(break_evens(costs, "transceiver"))
    assert even.tied == ()
    # 64 transceivers = 24 × 600 + 0 to 3 × 1,250 − 0.625 × 5,000
    assert even.price == Range(Fraction(11275, 64 * 400), Fraction(11275 + 3750, 64 * 400))


def test_the_longest_bar_of_sirius_is_its_transceivers() -> None:
    """24 × 1.3825 × 400 changed by a quarter in each direction gives a bar of 6,636.

    The share itself gives 24 × 400 × 0.515.
    """
    sirius, _ = pair()
    bars = {bar.part: bar for bar in sensitivity(sirius)}
    assert [*bars] == ["transceiver", "tunable-transceiver", "grating", "switch"]
    assert bars["transceiver"].width == 24 * Fraction("1.3825") * 400 / 2
    assert (bars["transceiver"].tied, bars["transceiver"].published) == (
        ("tunable-transceiver",),
        False,
    )
    assert bars["tunable-transceiver"].width == 24 * 400 * Fraction("0.515")
    assert bars["grating"].width == 3750
    assert bars["switch"].width == (Fraction("0.625") + Fraction(3, 8)) * 2500


def test_every_bar_is_two_whole_bills() -> None:
    middle = {part: (low + high) / 2 for part, (_, low, high) in SHARES.items()}
    for cost in pair():
        for bar in sensitivity(cost):
            ends = []
            for end, factor in ((1, Fraction(3, 4)), (2, Fraction(5, 4))):
                if bar.part in SHARES:
                    found = bill(cost, FREE, middle | {bar.part: SHARES[bar.part][end]})
                else:
                    found = bill(cost, FREE | {bar.part: FREE[bar.part] * factor}, middle)
                ends.append(found)
            assert bar.capital == Range(*ends)


def test_ratios_and_totals_hold_every_book_within_an_uncertain_base(tmp_path: Path) -> None:
    """If the base has a range as well, a tied price is not independent of it."""
    path = tmp_path / "own.toml"
    path.write_text(
        'schema = 1\nextends = "sirius-2020"\n[part.transceiver]\nrate = "400 Gb/s"\nlanes = 8\n'
        'source = "a test"\nyear = 2026\npower = 10\nprice = [100, 1000]\n'
    )
    book: Book = books.load(path)
    sirius, clos = (pricing.of_network(k, network(k), book) for k in ("sirius", "clos"))
    found = sirius.relative_to(clos)
    assert found is not None
    corners = []
    for price in (100, 1000):
        for tunable in SHARES["tunable-transceiver"][1:]:
            for grating in SHARES["grating"][1:]:
                free = FREE | {"transceiver": Fraction(price)}
                shares = {"tunable-transceiver": tunable, "grating": grating}
                corners.append((bill(sirius, free, shares), bill(clos, free, shares)))
    assert found == Range(*(end(a / b for a, b in corners) for end in (min, max)))
    assert sirius.capital == Range(*(end(a for a, _ in corners) for end in (min, max)))


def test_a_base_without_a_price_has_a_break_even(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(
        'schema = 1\nextends = "sirius-2020"\n[part.transceiver]\nrate = "400 Gb/s"\nlanes = 8\n'
        'price = { unknown = "not public", per = "Gb/s" }\n'
    )
    costs = [pricing.of_network(k, network(k, **MORE[k]), books.load(path)) for k in MORE]
    assert only(break_evens(costs, "transceiver")) == only(break_evens(pair(), "transceiver"))


def test_by_a_reading_of_fig_6_prices_are_tied_too() -> None:
    """Reading F: 7 + 14 parts per path of a Clos network, 1 + 3 of Sirius, l = 0.16: a tunable
    transceiver costs 1.32 to 1.64 plain ones."""
    table = experiment("sirius")
    table["fabric"].append({"kind": "clos"})
    found = costs_of(table, "sirius-2020", reading="F")
    sirius = found.fabrics["sirius"].prices
    assert sirius.ties["tunable-transceiver"].share == Range(Fraction("1.32"), Fraction("1.64"))
    assert sirius.ties["grating"].of == "switch"
    assert readings.load("F").laser_cost == Fraction("0.16")
    (even,) = found.break_even("transceiver")
    assert (even.label, even.tied) == ("clos", ("tunable-transceiver",))
