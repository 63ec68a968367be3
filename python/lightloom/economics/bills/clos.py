"""Bill of a folded Clos: racks, aggregation, core, and further layers where racks are many."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lightloom.economics.bills import electrical
from lightloom.economics.book import Book
from lightloom.economics.needs import Need
from lightloom.economics.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """Racks, pods of `racks_per_pod` and a core, `oversubscription` where the table has it."""
    pods = Fraction(network.racks, int(network.fabric.get("racks_per_pod", network.racks)))
    beta, at_rack = network.ratio(), network.fabric["oversubscription_at"] == "rack"
    uplink = network.rack_rate / beta if at_rack else network.rack_rate
    all_up = uplink * network.racks
    top = all_up if at_rack else all_up / beta
    modelled = 1 if pods == 1 else 2
    needed = electrical.layers_above(network.racks, electrical.ports_of(book, "switch"))
    layers = max(modelled, needed)
    yield from electrical.at_racks(network, (1, uplink))
    yield from electrical.above(electrical.Above(network.racks, int(pods), uplink, top, layers))
