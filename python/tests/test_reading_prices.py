"""Readings of Fig 6 with prices that the user sets: a total is the sum of its bill, and a set price
overrides the price that the reading derives from another part."""

from __future__ import annotations

from fractions import Fraction

import pytest
from economics_support import experiment

import lightloom
from lightloom.costs import book as books
from lightloom.costs.amounts import NOTHING, Range
from lightloom.costs.costs import Costs, cost
from lightloom.costs.given import with_prices

#: 16 racks × 8 servers × 50 Gb/s: 6,400 Gb/s, which are 0.25 boxes of 25.6 Tb/s and 16
#: transceivers of 400 Gb/s.
TABLE = experiment("sirius") | {
    "fabric": [{"kind": "sirius", "channel_rate": "50 Gb/s"}, {"kind": "clos"}]
}


def _costs(reading: str, *given: str) -> Costs:
    book = with_prices(books.load("sirius-2020"), given)
    return cost(lightloom.load(TABLE), book, reading=reading)


@pytest.mark.parametrize("reading", ["A", "F", "G", "H"])
@pytest.mark.parametrize(
    "given",
    [
        (),
        ("switch=10000",),
        ("transceiver=2",),
        ("tunable-transceiver=700",),
        ("grating=100..300",),
        ("tunable-transceiver=0", "grating=0", "switch=1"),
    ],
)
def test_a_total_is_the_sum_of_its_bill(reading: str, given: tuple[str, ...]) -> None:
    for one in _costs(reading, *given).fabrics.values():
        costs = [line.cost or NOTHING for line in one.lines]
        assert one.capital == Range(sum(c.low for c in costs), sum(c.high for c in costs))


def test_what_is_set_goes_before_what_the_reading_tells() -> None:
    # By reading A, a path of Sirius has 3 switches, 2 transceivers and 2 gratings.
    boxes, ends = Fraction(1, 4), Fraction(16)
    own = _costs("A", "tunable-transceiver=700", "grating=1000").fabrics["sirius"]
    assert own.capital == Range.of(3 * boxes * 5000 + 2 * ends * 700 + 2 * boxes * 1000)
    # The price of a grating is derived from that of a switch, and the price of a tunable
    # transceiver from that of a transceiver: 3 to 5 lasers, each a tenth of it.
    told = _costs("A", "switch=8000", "transceiver=2").fabrics["sirius"]
    low, high = (
        3 * boxes * 8000 + 2 * ends * 800 * times + 2 * boxes * 2000
        for times in (Fraction("1.2"), Fraction("1.4"))
    )
    assert told.capital == Range(low, high)


def test_power_is_the_readings_whatever_is_paid() -> None:
    found = {_costs("F", *given).fabrics["sirius"].power for given in [(), ("grating=9",)]}
    assert len(found) == 1
