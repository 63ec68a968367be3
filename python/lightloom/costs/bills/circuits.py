"""Common parts of networks with optical circuits: rack switches with their uplinks, a transceiver
and a fibre for each uplink, optical switches, and an electrical network beside them.
"""

from __future__ import annotations

from collections.abc import Iterator

from lightloom.costs.bills import electrical
from lightloom.costs.bills.electrical import gbps
from lightloom.costs.bills.from_devices import FROM, ports_of
from lightloom.costs.bills.tree import shape_of
from lightloom.costs.book import Book
from lightloom.costs.needs import Boxes, Ends, Fibres, Mirrors, Need
from lightloom.costs.network import Network
from lightloom.units.counts import counted

BESIDE = "beside circuits: "


def uplinks(network: Network, number: int, rate: int, part: str, more: str = "") -> Iterator[Need]:
    """The transceivers and fibres of `number` uplinks of every rack, at `rate` [b/s]; `more` is
    added to the description of the transceivers."""
    racks = network.racks
    formula = f"{racks} racks × {number} of {gbps(rate)}{more}"
    yield Ends(part, "uplinks of racks", formula, racks, (number, rate))
    place, links = "uplinks of racks", (number, rate)
    yield Fibres("circuit-cable", place, f"{racks} racks × {number}", racks, links, part)


def beside_tree(network: Network, book: Book) -> Iterator[Need]:
    """Rack switches with an uplink to each plane of optical switches and, if there is one, to an
    electrical tree."""
    planes, rate = int(network.fabric.get("planes", 1)), network.rate("circuit_rate")
    tree = None
    if network.fabric.get("electrical", True):
        tree = shape_of(network, electrical.ports_of(book, "tree-switch"))
    upwards = (1, tree.uplink) if tree is not None and priced_tree(book) else (0, 0)
    yield from electrical.at_racks(network, (planes, rate), upwards)
    yield from uplinks(network, planes, rate, "circuit-transceiver")
    yield from mirrors(network, planes, rate)
    if tree is not None:
        yield from electrical.above(tree, BESIDE, "tree-")


def dual_homed(network: Network, book: Book) -> Iterator[Need]:
    """As `beside_tree`, but every server has a second link, to a network of its own (HydRA
    §III.A)."""
    planes, rate = int(network.fabric["planes"]), network.rate("circuit_rate")
    yield from electrical.at_racks(network, (planes, rate))
    yield from uplinks(network, planes, rate, "circuit-transceiver")
    yield from mirrors(network, planes, rate)
    tree = shape_of(network, electrical.ports_of(book, "tree-switch"))
    if tree is None:
        return
    slow = tree.uplink / network.servers_per_rack
    text = f"{network.racks} racks × ({network.servers_per_rack} servers + {gbps(tree.uplink)})"
    links = [(network.servers_per_rack, slow), (1, tree.uplink)]
    yield Boxes("tree-switch", f"{BESIDE}racks", text, network.racks, links)
    yield from electrical.above(tree, BESIDE, "tree-")


def mirrors(network: Network, planes: int, rate: int) -> Iterator[Need]:
    """A MEMS switch for each plane, with a duplex port for every rack."""
    ports = ports_of(network)
    text = "" if ports is None else f"; {FROM}: of {ports} ports"
    formula = f"{counted(planes, 'plane')} × {network.racks} racks{text}"
    yield Mirrors("circuit-switch", "planes", formula, planes, network.racks, rate, ports)


def priced_tree(book: Book) -> bool:
    """Whether the book includes the electrical tree beside circuits. If its source leaves it out,
    rack switches have no port for the tree either."""
    part = book.part("tree-switch")
    return part is None or part.excluded is None
