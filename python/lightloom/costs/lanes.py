"""Slower uplinks that a book counts as lanes of one transceiver with a single laser for all lanes
(Sirius §4.5: a laser feeds eight), and the cost if each uplink has its own laser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from lightloom.costs.pricing import FabricCost, Line

WHOLE, BARE, LASER = "tunable-transceiver", "laserless-transceiver", "tunable-laser"


def together(cost: FabricCost) -> int:
    """Returns the number of uplinks that one tunable transceiver of the book contains; 1 for a
    fabric whose table has no `channel_rate`, and if devices state the lasers."""
    part = cost.book.part(WHOLE)
    if "channel_rate" not in cost.network.fabric or part is None or part.rate is None:
        return 1
    if not any(line.part == WHOLE for line in cost.lines):
        return 1
    return max(1, part.rate // cost.network.rate("channel_rate"))


def apart(cost: FabricCost) -> FabricCost:
    """Returns the cost with a laser for each uplink; unchanged if each has one already, or if the
    book does not separate lasers from transceivers."""
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
