"""What RotorNet and Opera have in common: an uplink of every rack to each rotor switch."""

from __future__ import annotations

from collections.abc import Iterator

from lightloom.economics.bills import electrical
from lightloom.economics.bills.circuits import uplinks
from lightloom.economics.bills.from_devices import passive
from lightloom.economics.book import Book
from lightloom.economics.needs import Need
from lightloom.economics.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """S rotor switches with a duplex port for every rack."""
    number, rate = int(network.fabric["switches"]), network.rate("link_rate")
    yield from electrical.at_racks(network, (number, rate))
    yield from uplinks(network, number, rate, "circuit-transceiver")
    formula = f"{number} switches × {network.racks} racks"
    yield passive(network, "rotor-switch", formula, number, network.racks)
