"""Bill of an oversubscribed tree: racks below one or two layers, and more if there are many
racks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lightloom.costs.bills import electrical
from lightloom.costs.book import Book
from lightloom.costs.needs import Need
from lightloom.costs.network import Network, root


def bill(network: Network, book: Book) -> Iterator[Need]:
    """Oversubscription β at the racks' uplinks (two levels), or √β at each of two levels."""
    shape = shape_of(network, electrical.ports_of(book, "switch"))
    yield from electrical.at_racks(network, (0, 0) if shape is None else (1, shape.uplink))
    if shape is not None:
        yield from electrical.above(shape)


def shape_of(network: Network, ports: int) -> electrical.Above | None:
    """Returns the layers of a tree, or of the tree beside circuits, made of switches with that many
    ports; None if it carries nothing. In a tree of three levels, only the highest level can carry
    nothing."""
    beta = network.ratio()
    levels = int(network.fabric.get("levels", 2))
    idle = electrical.is_idle(network)
    if idle and levels == 2:
        return None
    uplink = network.rack_rate / (root(beta) if levels == 3 else beta)
    top = network.bandwidth / beta
    pods = Fraction(network.racks, int(network.fabric.get("racks_per_pod", network.racks)))
    layers = max(levels - 1, electrical.layers_above(network.racks, ports))
    if idle:
        return electrical.Above(network.racks, int(pods), uplink, top, 1)
    core = electrical.switches(network, "core")
    lowest = core if layers == 1 else electrical.switches(network, "aggregation")
    groups = int(pods) if layers > 1 else 1
    return electrical.Above(network.racks, groups, uplink, top, layers, lowest, core)
