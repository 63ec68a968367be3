"""Bill of Sirius: rack switches, a transceiver with a tunable laser for each uplink, gratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from math import gcd

from lightloom.counts import counted
from lightloom.economics.bills import electrical
from lightloom.economics.bills.circuits import uplinks
from lightloom.economics.bills.from_devices import FROM, passive, ports_of
from lightloom.economics.book import Book
from lightloom.economics.needs import Ends, Need
from lightloom.economics.network import Network
from lightloom.fabric_devices import lasers_of


def bill(network: Network, book: Book) -> Iterator[Need]:
    """U uplinks a rack, and the gratings of its plan (§4.1)."""
    rate, racks = network.rate("channel_rate"), network.racks
    number = int(network.fabric["uplinks"])
    base = max(1, network.rack_rate // rate)
    ports = int(network.fabric.get("grating_ports") or max(1, racks // base))
    plan = str(network.fabric.get("uplink_plan", "rotor"))
    yield from electrical.at_racks(network, (number, rate))
    yield from _transceivers(network, number, rate)
    if plan == "rotor":
        ports = ports_of(network) or ports
        formula = (
            f"{racks} racks × {number} uplinks ÷ {ports} ports (plan rotor: as if it had some)"
        )
        yield passive(network, "grating", formula, Fraction(racks * number, ports), ports)
        return
    for bank, several in Counter(_banks(plan, number, max(1, racks // ports))).items():
        formula = f"{several} × {bank}², a bank of {bank} uplinks each on {racks // bank} ports"
        yield passive(network, "grating", formula, several * bank**2, racks // bank)


def _transceivers(network: Network, number: int, rate: int) -> Iterator[Need]:
    """So many uplinks of every rack [b/s], with a tunable laser each, or as many chips of lasers as
    the link budget of the devices shares (§4.5)."""
    found = lasers_of(network.fabric)
    if found is None or found.share == 1:
        own = "" if found is None else f"; {FROM}: a laser each"
        yield from uplinks(network, number, rate, "tunable-transceiver", own)
        return
    yield from uplinks(network, number, rate, "laserless-transceiver")
    chips = f"{network.racks} racks × {counted(found.chips, 'chip')}"
    text = f"{chips}; {FROM}: one feeds {found.share} transceivers, of {number} a rack"
    yield Ends("tunable-laser", "lasers", text, network.racks, (found.chips, rate))


def _banks(plan: str, uplinks: int, base: int) -> list[int]:
    """Uplinks of each bank: all pairs of nodes meet once through the B² gratings of N ÷ B ports on
    which B uplinks of every node hang."""
    if plan == "wide":
        each = gcd(uplinks, base)
        return [each] * (uplinks // each)
    rest = uplinks % base
    return [base] * (uplinks // base) + ([rest] if rest else [])
