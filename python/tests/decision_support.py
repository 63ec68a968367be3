"""Fabrics for purchase decisions, made of parts with known prices: a switch is $5,000 and 500 W, a
transceiver $400, a tunable one $450 to $656 and 12 to 14 W. A rotor switch has no price."""

from __future__ import annotations

from fractions import Fraction

from economics_support import network

from lightloom.costs import book as books
from lightloom.costs.book import Book
from lightloom.costs.pricing import FabricCost, Line
from lightloom.decision.purchases import Purchase
from lightloom.units.intervals import Interval, over_runs

BOOK = books.load("sirius-2020")
#: 16 racks × 8 servers × 50 Gb/s: 6,400 Gb/s, of which half is delivered by default.
NETWORK = network("clos")
TUNABLE, ROTOR = "tunable-transceiver", "rotor-switch"


def bought(
    label: str,
    *,
    seeds: tuple[float, ...] = (),
    delivered: float = 0.5,
    carries: bool = True,
    book: Book = BOOK,
    **parts: int,
) -> Purchase:
    """A fabric with these numbers of parts: `switch=3`, `tunable_transceiver=4`."""
    lines = [
        Line(part, "core", Fraction(count), "", book.price(part), book.power(part))
        for name, count in parts.items()
        if (part := name.replace("_", "-"))
    ]
    cost = FabricCost(label, NETWORK, book, lines)
    found = over_runs(seeds) if seeds else Interval(delivered, None, 1)
    return Purchase(label, cost, found if delivered else None, seeds, carries)
