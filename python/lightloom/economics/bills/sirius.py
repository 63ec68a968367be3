"""Bill of Sirius: rack switches, a transceiver with a tunable laser for each uplink, gratings."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lightloom.economics.bills import electrical
from lightloom.economics.bills.circuits import uplinks
from lightloom.economics.book import Book
from lightloom.economics.needs import Need, Passive
from lightloom.economics.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """U uplinks a rack; N·U ÷ G gratings of G ports, G the table's, or N ÷ base uplinks (§4.1)."""
    rate, racks = network.rate("channel_rate"), network.racks
    number = int(network.fabric["uplinks"])
    base = max(1, network.rack_rate // rate)
    ports = int(network.fabric.get("grating_ports") or max(1, racks // base))
    yield from electrical.at_racks(network, (number, rate))
    yield from uplinks(network, number, rate, "tunable-transceiver")
    formula = f"{racks} racks × {number} uplinks ÷ {ports} ports"
    yield Passive("grating", "core", formula, Fraction(racks * number, ports), ports)
