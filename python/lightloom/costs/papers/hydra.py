"""HydRA's Table I and Fig 5 (Christodoulopoulos et al., JOCN 7(3), 2015, §IV): 10,240 servers of 10
Gb/s in 320 racks.

Counts are those of the paper, including fractions of switches. It counts half a cable for each
server of the fat tree and a whole one for each server of HydRA, and 320 ÷ √β switches in the
middle, some ports of which have no link. `lightloom cost` counts a cable for each server, and whole
switches for the links that exist.
"""

from __future__ import annotations

from fractions import Fraction

from lightloom.costs import book as books
from lightloom.costs.amounts import Form, Range
from lightloom.costs.book import Book
from lightloom.costs.network import root

RACKS, SERVERS = 320, 32


def hydra(planes: int | Fraction) -> Form:
    """The parts of HydRA with K planes of MEMS switches, without its low-rate network."""
    ends = RACKS * SERVERS
    uplinks = RACKS * Fraction(planes)
    return Form(
        {
            "switch": Fraction(RACKS),
            "server-transceiver": Fraction(ends),
            "circuit-transceiver": uplinks,
            "circuit-switch": Fraction(planes),
            "cable": Fraction(ends),
            "circuit-cable": uplinks,
        }
    )


def fat_tree(beta: int | Fraction) -> Form:
    """The parts of a fat tree of three levels with oversubscription β, √β at each of two levels."""
    half, whole = root(Fraction(beta)), Fraction(beta)
    return Form(
        {
            "switch": 320 + 320 / half + 160 / whole,
            "server-transceiver": 10_240 + 20_480 / half + 20_480 / whole,
            "cable": 5_120 + 10_240 / half + 10_240 / whole,
        }
    )


def price(form: Form, book: Book | None = None) -> Range:
    """The cost at Table I's prices, or at those of another book."""
    chosen = book or books.load("hydra-2013")
    known = {name: chosen.price(name) for name in form.counts}
    return form.value({name: found for name, found in known.items() if found is not None})


def equal_planes(beta: int | Fraction, low_rate: int | Fraction = 0) -> Fraction:
    """Returns the number of planes K for which HydRA costs the same as the fat tree with
    oversubscription β (Fig 5); negative if it costs more even without MEMS switches.

    Args:
        beta: oversubscription of the fat tree.
        low_rate: cost of the low-rate network beside the circuits [USD], which the paper does not
            state.
    """
    none, one = price(hydra(0)).high, price(hydra(1)).high
    return (price(fat_tree(beta)).high - none - Fraction(low_rate)) / (one - none)


def saving(planes: int, beta: int | Fraction, low_rate: int | Fraction = 0) -> Fraction:
    """The share by which HydRA with K planes is cheaper than the fat tree."""
    return 1 - (price(hydra(planes)).high + Fraction(low_rate)) / price(fat_tree(beta)).high
