"""The cost estimate of c-Through (Wang et al., SIGCOMM 2010, §2, §7.3)."""

from __future__ import annotations

from fractions import Fraction

from lightloom.costs import book as books
from lightloom.costs.amounts import Form, Range
from lightloom.costs.needs import stages

RACKS, LARGE, BOX = 52, 1000, 320


def price() -> Range:
    """52 switches of 48 ports, the same number of transceivers, one MEMS switch of 80 ports
    [USD]."""
    book = books.load("cthrough-2010")
    one = Fraction(1)
    form = Form({"switch": RACKS * one, "circuit-transceiver": RACKS * one, "circuit-switch": one})
    found = {name: book.price(name) for name in form.counts}
    return form.value({name: price for name, price in found.items() if price is not None})


def large_switches() -> tuple[int, int]:
    """§7.3: leaves and spines of 320 ports that connect 1,000 racks."""
    return stages(LARGE, BOX)
