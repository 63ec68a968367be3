"""Bill of Sirius: rack switches, a transceiver with a tunable laser for each uplink, gratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from lightloom import _core
from lightloom.economics.bills import electrical
from lightloom.economics.bills.circuits import uplinks
from lightloom.economics.book import Book
from lightloom.economics.needs import Need, Passive
from lightloom.economics.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """U uplinks a rack, and the gratings of its plan (§4.1)."""
    rate, racks = network.rate("channel_rate"), network.racks
    number = int(network.fabric["uplinks"])
    base = max(1, network.rack_rate // rate)
    ports = int(network.fabric.get("grating_ports") or max(1, racks // base))
    plan = str(network.fabric.get("uplink_plan", "rotor"))
    yield from electrical.at_racks(network, (number, rate))
    yield from uplinks(network, number, rate, "tunable-transceiver")
    if plan == "rotor":
        formula = (
            f"{racks} racks × {number} uplinks ÷ {ports} ports (plan rotor: as if it had some)"
        )
        yield Passive("grating", "core", formula, Fraction(racks * number, ports), ports)
        return
    banks = Counter(_core.sirius_banks(plan, racks, ports, number))
    for (bank, gratings, each), several in banks.items():
        formula = f"{several} × {bank}², a bank of {bank} uplinks each on {each} ports"
        yield Passive("grating", "core", formula, several * gratings, each)
