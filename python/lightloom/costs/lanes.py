"""Slower uplinks that a book counts as lanes of one transceiver, which has one laser for all of
them (Sirius §4.5: a laser feeds eight). What if each has a laser of its own?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from lightloom.costs.pricing import FabricCost, Line

WHOLE, BARE, LASER = "tunable-transceiver", "laserless-transceiver", "tunable-laser"


def together(cost: FabricCost) -> int:
    """Uplinks of a `sirius` that one tunable transceiver of the book stands for; 1 of others, and
    where devices say which lasers there are."""
    part = cost.book.part(WHOLE)
    if cost.network.kind != "sirius" or part is None or part.rate is None:
        return 1
    if not any(line.part == WHOLE for line in cost.lines):
        return 1
    return max(1, part.rate // cost.network.rate("channel_rate"))


def apart(cost: FabricCost) -> FabricCost:
    """The same with a laser for each uplink; as it is where each has one, or the book does not know
    a laser from its transceiver."""
    known = all(cost.book.part(name) is not None for name in (BARE, LASER))
    if together(cost) == 1 or not known:
        return cost
    return replace(cost, lines=[new for line in cost.lines for new in _apart(cost, line)])


def _apart(cost: FabricCost, line: Line) -> Iterator[Line]:
    if line.part != WHOLE:
        yield line
        return
    book = cost.book
    yield replace(line, part=BARE, price=book.price(BARE), power=book.power(BARE))
    number = Fraction(cost.network.racks * int(cost.network.fabric["uplinks"]))
    prices = book.price(LASER), book.power(LASER)
    yield Line(LASER, "lasers", number, "a laser each", *prices)
