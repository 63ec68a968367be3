"""The effect of named devices on a fabric's bill: ports of gratings and circuit switches. Devices
decide the number and the size of these, and they are bought whole. The book decides their price; if
its device has another number of ports, the price is scaled by port.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import ceil

from lightloom.costs.book import Book
from lightloom.costs.needs import Passive, pairs_of_link
from lightloom.costs.network import Network
from lightloom.devices.of_fabrics import circuit_switch_of, design_of
from lightloom.units.counts import counted

FROM = "from devices"
#: Parts whose ports devices may state → their plural.
BOXES = {"grating": "gratings", "circuit-switch": "circuit switches", "rotor-switch": "switches"}


def passive(
    network: Network, part: str, formula: str, number: int | Fraction, used: int
) -> Passive:
    """Boxes in the core with `used` ports in use; if devices are named, boxes of the devices are
    bought."""
    ports = ports_of(network)
    if ports is None:
        return Passive(part, "core", formula, number, used)
    use = "" if ports == used else f", {used} in use"
    text = f"{formula}; {FROM}: of {counted(ports, 'port')}{use}"
    return Passive(part, "core", text, number * ceil(used / ports), ports, own=True)


def in_pairs(pairs: int) -> str:
    """The factor of a formula for links of several fibre pairs; empty for one."""
    return f" × {counted(pairs, 'fibre pair')}" if pairs > 1 else ""


def ports_of(network: Network) -> int | None:
    """Returns the ports of the grating or circuit switch that the fabric names; None if it names
    none, or if its ports are not stated."""
    design = design_of(network.fabric)
    found = circuit_switch_of(network.fabric) if design is None else design["grating"]
    ports = None if found is None else found.get("ports")
    return None if ports is None else int(ports)


def differences(network: Network, book: Book, parts: Iterable[str]) -> Iterator[str]:
    """States where the devices have other boxes than the book, and which of the two decides."""
    own = ports_of(network)
    for name in dict.fromkeys(parts):
        part = book.part(name)
        if name == "circuit-switch" and own is not None:
            yield from _stages(network, book, own)
        if name not in BOXES or own is None or part is None or part.ports in (None, own):
            continue
        yield (
            f"{BOXES[name]} of {counted(own, 'port')} by devices, where {book.name} prices one of "
            f"{part.ports}: devices decide how many ports are bought, the book what one costs"
        )


def _stages(network: Network, book: Book, own: int) -> Iterator[str]:
    """States where a plane needs more ports with the book's transceivers than the switch of the
    devices has."""
    pairs = pairs_of_link(book, "circuit-transceiver", network.rate("circuit_rate"))
    if network.racks * pairs > own:
        plane = network.racks * pairs
        yield (
            f"a link takes {pairs} ports by {book.name}, {plane} a plane: two stages of switches "
            f"of {counted(own, 'port')} are bought, and the link budget of the devices is that of "
            "one"
        )
