"""Bill of Sirius: rack switches, a transceiver with a tunable laser for each uplink, and
gratings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from lightloom import _core
from lightloom.costs.bills import electrical
from lightloom.costs.bills.circuits import uplinks
from lightloom.costs.bills.from_devices import FROM, in_pairs, passive, ports_of
from lightloom.costs.book import Book
from lightloom.costs.needs import Need, Pieces, pairs_of_link
from lightloom.costs.network import Network
from lightloom.devices.of_fabrics import Lasers, lasers_of
from lightloom.units.counts import counted

WITH_LASER = "tunable-transceiver"


def bill(network: Network, book: Book) -> Iterator[Need]:
    """U uplinks for each rack, and the gratings of the uplink plan (§4.1)."""
    rate, racks = network.rate("channel_rate"), network.racks
    number = int(network.fabric["uplinks"])
    base = max(1, network.rack_rate // rate)
    ports = int(network.fabric.get("grating_ports") or max(1, racks // base))
    plan = str(network.fabric.get("uplink_plan", "rotor"))
    yield from electrical.at_racks(network, (number, rate))
    yield from _transceivers(network, book, number, rate)
    pairs = pairs_of_link(book, _transceiver(network, book, rate), rate)
    if plan == "rotor":
        ports = ports_of(network) or ports
        formula = (
            f"{racks} racks × {number} uplinks ÷ {ports} ports{in_pairs(pairs)} "
            "(plan rotor: as if it had some)"
        )
        boxes = Fraction(racks * number * pairs, ports)
        yield passive(network, "grating", formula, boxes, ports)
        return
    banks = Counter(_core.sirius_banks(plan, racks, ports, number))
    for (bank, gratings, each), several in banks.items():
        formula = f"{several} × {bank}², a bank of {bank} uplinks each on {each} ports"
        formula += in_pairs(pairs)
        yield passive(network, "grating", formula, several * gratings * pairs, each)


def _transceivers(network: Network, book: Book, number: int, rate: int) -> Iterator[Need]:
    """The transceivers of `number` uplinks of every rack, at `rate` [b/s], each with a tunable
    laser; or, if devices are named, transceivers without lasers, and the lasers of the devices'
    chips, which the link budget allows several transceivers to share (§4.5)."""
    found = lasers_of(network.fabric)
    part = _transceiver(network, book, rate)
    own = "" if found is None else f"; {FROM}: a laser each"
    yield from uplinks(network, number, rate, part, own if part == WITH_LASER else "")
    if found is None or part == WITH_LASER:
        return
    chips = f"{network.racks} racks × {counted(found.chips, 'chip')}"
    bank = "" if found.each == 1 else f" × {found.each} lasers"
    feeds = "a laser each" if found.share == 1 else f"one feeds {found.share} transceivers"
    text = f"{chips}{bank}; {FROM}: {feeds}, of {number} a rack"
    yield Pieces("tunable-laser", "lasers", text, network.racks * found.number)


def _transceiver(network: Network, book: Book, rate: int) -> str:
    """The part that an uplink takes at each end."""
    found = lasers_of(network.fabric)
    return WITH_LASER if found is None or _whole(found, book, rate) else "laserless-transceiver"


def _whole(found: Lasers, book: Book, rate: int) -> bool:
    """Whether a transceiver of the book, including its laser, matches that of the fabric: the same
    rate, and a laser of its own. The rate does not matter for a laser."""
    part = book.part("tunable-transceiver")
    of_rate = part is None or part.rate in (None, rate)
    return of_rate and found.share == found.each == 1
