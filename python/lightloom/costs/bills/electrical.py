"""Electrical packet networks above racks, layer by layer: the common parts of Clos, tree and the
network beside circuits.

In a folded Clos of switches with k ports, one layer above the racks connects k racks, two layers
connect k·k/2, and each further layer k/2 times as many. If there are more racks than the layers of
the model connect, layers are added. (Sirius §2: three layers of 64-port switches end at 65,536
ports; 4,000 racks take four.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs.book import Book
from lightloom.costs.needs import Boxes, Ends, Links, Need, Pieces
from lightloom.costs.network import Network

#: Ports of a switch, if the book has no switch, or none with ports.
PORTS = 64
#: Capacity below ÷ above a tier from which the tier carries too little to be bought. This is the
#: largest ratio that fabrics accept; users write it to leave out an electrical network.
IDLE = 1_000


@dataclass(frozen=True)
class Above:
    """The layers of switches above the racks."""

    racks: int
    pods: int
    """The number of groups in the lowest layer; 1 if the layer connects all racks."""
    uplink: Fraction
    """The capacity from a rack upwards [b/s]."""
    top: Fraction
    """The capacity from all pods upwards [b/s]."""
    layers: int
    lowest: int = 1
    """The smallest number of switches in each group of the lowest layer."""
    highest: int = 1
    """The smallest number of switches in the highest of several layers."""


def is_idle(network: Network) -> bool:
    """Whether the tier above the oversubscription carries no traffic and is not bought."""
    return network.ratio() >= IDLE


def switches(network: Network, tier: str) -> int:
    """Returns the smallest number of switches in a tier: `core_switches` or `aggregation_switches`
    of the table."""
    return int(network.fabric.get(f"{tier}_switches") or 1)


def layers_above(racks: int, ports: int) -> int:
    """Returns the number of layers of switches that connect this number of racks.

    >>> layers_above(2048, 64), layers_above(4000, 64)
    (2, 3)
    """
    layers, reach = 1, ports
    while racks > reach:
        layers, reach = layers + 1, reach * (ports // 2)
    return layers


def ports_of(book: Book, part: str) -> int:
    """The ports of the book's switch."""
    found = book.part(part)
    return PORTS if found is None or found.ports is None or found.ports < 4 else found.ports


def at_racks(network: Network, upwards: Links, *more: Links) -> Iterator[Need]:
    """The racks with their switches, and the links of the servers."""
    racks, servers = network.racks, network.servers_per_rack
    if not network.has_rack_switches:
        return
    down: Links = (servers, network.server_rate)
    links = [link for link in (down, upwards, *more) if link[0] and link[1]]
    what = f"{racks} racks × ({servers} servers"
    tail = "".join(f" + {link[0]} × {gbps(link[1])}" for link in links[1:])
    yield Boxes("switch", "racks", f"{what}{tail})", racks, links)
    formula = f"{racks} racks × {servers} servers, the rack's end"
    yield Ends("server-transceiver", "servers", formula, racks, down)
    yield Pieces("server-cable", "servers", f"{racks} racks × {servers} servers", network.servers)


def above(shape: Above, where: str = "", prefix: str = "") -> Iterator[Need]:
    """The layers above the racks, and all links between layers, including those of the racks.

    Args:
        where: text before the place of each part, such as "beside circuits: ".
        prefix: prefix of the parts' names, such as "tree-" beside circuits.
    """
    yield from _links(shape, where, prefix)
    per_pod: Links = (Fraction(shape.racks, shape.pods), shape.uplink)
    up: Links = (1, shape.top / shape.pods)
    lowest = [per_pod] if shape.layers == 1 else [per_pod, up]
    racks = f"{shape.racks} racks × {gbps(shape.uplink)}"
    formula = racks if shape.layers == 1 else f"{racks} below, {gbps(shape.top)} above"
    yield Boxes(f"{prefix}switch", f"{where}layer 2", formula, shape.pods, lowest, shape.lowest)
    for layer in range(3, shape.layers + 1):
        formula = f"{gbps(shape.top)} below and above"
        both: list[Links] = [(shape.pods, up[1]), (shape.pods, up[1])]
        yield Boxes(f"{prefix}switch", f"{where}layer {layer}", formula, 1, both)
    if shape.layers > 1:
        place = f"{where}layer {shape.layers + 1}"
        formula = f"{gbps(shape.top)} below"
        yield Boxes(f"{prefix}switch", place, formula, 1, [(shape.pods, up[1])], shape.highest)


def _links(shape: Above, where: str, prefix: str) -> Iterator[Need]:
    """The links between layers: two transceivers and a cable for each."""
    lowest: Links = (1, shape.uplink)
    text = f"{shape.racks} racks × {gbps(shape.uplink)}"
    place = f"{where}racks to layer 2"
    yield Ends(f"{prefix}transceiver", place, f"2 ends × {text}", 2 * shape.racks, lowest)
    yield Cables(f"{prefix}cable", place, text, shape.racks, lowest)
    for layer in range(2, shape.layers + 1):
        bundle: Links = (1, shape.top / shape.pods)
        text = f"{shape.pods} × {gbps(bundle[1])}"
        place = f"{where}layer {layer} to {layer + 1}"
        yield Ends(f"{prefix}transceiver", place, f"2 ends × {text}", 2 * shape.pods, bundle)
        yield Cables(f"{prefix}cable", place, text, shape.pods, bundle)


@dataclass(frozen=True)
class Cables(Ends):
    """Fibres between switches, one for each pair of transceivers."""

    def count(self, book: Book) -> Fraction:
        """The number of transceivers at one end."""
        return self._twin.count(book)

    def worked(self, book: Book) -> str:
        """The calculation for the transceivers."""
        return self._twin.worked(book)

    @property
    def _twin(self) -> Ends:
        twin = self.part.replace("cable", "transceiver")
        return Ends(twin, self.where, self.formula, self.groups, self.links)


def gbps(rate: int | Fraction) -> str:
    """Formats a rate in formulas: `400 Gb/s`.

    >>> gbps(51_200_000_000_000), gbps(2_500_000_000)
    ('51.2 Tb/s', '2.5 Gb/s')
    """
    value = float(rate)
    return f"{value / 1e12:.6g} Tb/s" if value >= 1e13 else f"{value / 1e9:.6g} Gb/s"
