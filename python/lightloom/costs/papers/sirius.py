"""Sirius §2 and §5 (Ballani et al., SIGCOMM 2020): the scale tax, and a Clos of 4,000 racks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs import book as books

TERABIT = 10**12


def watts_per_tbps(layers: int) -> Fraction:
    """Fig 2a: power per Tb/s of bisection bandwidth with a number of layers of switches [W/(Tb/s)].
    A path through L layers has 2L − 1 stages of a switch and two transceivers; a direct link has
    two transceivers.

    >>> float(watts_per_tbps(0)), float(watts_per_tbps(4))
    (50.0, 486.71875)
    """
    switch, transceiver = _switch()[1], _transceiver()[1]
    return 2 * transceiver if layers == 0 else (2 * layers - 1) * (switch + 2 * transceiver)


def reach(layers: int, ports: int = 64) -> int:
    """The largest number of ends that L layers connect: k·(k/2)^(L−1); a direct link connects two.

    >>> reach(3)
    65536
    """
    return 2 if layers == 0 else ports * (ports // 2) ** (layers - 1)


@dataclass(frozen=True)
class Count:
    """The boxes of a folded Clos without oversubscription, and their power."""

    switches: Fraction
    transceivers: Fraction
    power: Fraction
    """[W]"""
    cost: Fraction
    """[USD]"""


def clos(racks: int, rack_rate: int, layers: int) -> Count:
    """A Clos of racks with a rate [b/s] and a number of layers, including the rack switches, in
    units of the book's switch; links of servers have no transceivers."""
    book = books.load("sirius-2020")
    switch, transceiver = book.parts["switch"], book.parts["transceiver"]
    ports = Fraction(racks * rack_rate, switch.rate or 1)
    switches = (2 * layers - 1) * ports / (switch.ports or 1)
    ends = 2 * (layers - 1) * Fraction(racks * rack_rate, transceiver.rate or 1)
    prices = [book.price(n) for n in ("switch", "transceiver")]
    powers = [book.power(n) for n in ("switch", "transceiver")]
    cost, power = (
        sum((r.high * n for r, n in zip(ranges, (switches, ends), strict=True) if r), Fraction(0))
        for ranges in (prices, powers)
    )
    return Count(switches, ends, power, cost)


def _switch() -> tuple[Fraction, Fraction]:
    from lightloom.costs import readings

    return readings.components(books.load("sirius-2020"))[0]


def _transceiver() -> tuple[Fraction, Fraction]:
    from lightloom.costs import readings

    return readings.components(books.load("sirius-2020"))[1]
