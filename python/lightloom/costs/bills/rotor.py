"""Common parts of RotorNet and Opera: every rack has an uplink to each rotor switch."""

from __future__ import annotations

from collections.abc import Iterator

from lightloom.costs.bills import electrical
from lightloom.costs.bills.circuits import uplinks
from lightloom.costs.bills.from_devices import in_pairs, passive
from lightloom.costs.book import Book
from lightloom.costs.needs import Need, pairs_of_link
from lightloom.costs.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """S rotor switches with a duplex port for every rack, or several where a link takes several
    fibre pairs."""
    number, rate = int(network.fabric["switches"]), network.rate("link_rate")
    yield from electrical.at_racks(network, (number, rate))
    yield from uplinks(network, number, rate, "circuit-transceiver")
    pairs = pairs_of_link(book, "circuit-transceiver", rate)
    formula = f"{number} switches × {network.racks} racks{in_pairs(pairs)}"
    yield passive(network, "rotor-switch", formula, number, network.racks * pairs)
