"""Bill of Mordia: every rack has a port of the ring, with a transceiver of one wavelength and an
output of a wavelength-selective switch. Amplifiers and filters around the ring are left out,
because their number depends on its loss, which is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterator

from lightloom.costs.bills import electrical
from lightloom.costs.bills.circuits import BESIDE, uplinks
from lightloom.costs.bills.from_devices import FROM, ports_of
from lightloom.costs.book import Book
from lightloom.costs.needs import Boxes, Ends, Need, Pieces
from lightloom.costs.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """A wavelength for each rack, and a packet switch beside the ring if `packet_rate` is given."""
    rate, racks = network.rate("link_rate"), network.racks
    beside = (1, network.rate("packet_rate")) if "packet_rate" in network.fabric else (0, 0)
    yield from electrical.at_racks(network, (1, rate), beside)
    yield from uplinks(network, 1, rate, "dwdm-transceiver")
    ports = ports_of(network)
    rings = "" if ports is None else f"; {FROM}: a ring has {ports} wavelengths"
    yield Pieces("wss-output", "ring", f"{racks} racks{rings}", racks)
    if beside[0]:
        place, formula = f"{BESIDE}packet switch", f"{racks} racks × {electrical.gbps(beside[1])}"
        yield Boxes("tree-switch", place, formula, 1, [(racks, beside[1])])
        yield Ends("tree-transceiver", place, f"2 ends × {formula}", 2 * racks, beside)
        yield electrical.Cables("tree-cable", place, formula, racks, beside)
