"""Bill of a folded Clos: racks, aggregation, core, and further layers if there are many racks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lightloom.costs.bills import electrical
from lightloom.costs.book import Book
from lightloom.costs.needs import Need
from lightloom.costs.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """The racks and the layers above them: the fewest that the book's switches need, except that
    pods and a core are kept if the Clos is oversubscribed between them; or the `tiers` of the
    table. A tier that carries no traffic is left out."""
    pods = Fraction(network.racks, int(network.fabric.get("racks_per_pod", network.racks)))
    beta, at_rack = network.ratio(), network.fabric["oversubscription_at"] == "rack"
    uplink = network.rack_rate / beta if at_rack else network.rack_rate
    all_up = uplink * network.racks
    top = all_up if at_rack else all_up / beta
    withheld = pods > 1 and beta > 1 and not at_rack
    asked = int(network.fabric.get("tiers", 3 if withheld else 2)) - 1
    needed = electrical.layers_above(network.racks, electrical.ports_of(book, "switch"))
    layers = max(asked, needed)
    groups = 1 if layers == 1 else int(pods)
    if electrical.is_idle(network):
        if at_rack:
            yield from electrical.at_racks(network, (0, 0))
            return
        groups, layers = int(pods), 1
    yield from electrical.at_racks(network, (1, uplink))
    # If pods and a core are billed as one layer, there is no number of switches in each pod.
    own = electrical.switches(network, "aggregation") if groups == pods else 1
    least = (own, electrical.switches(network, "core"))
    yield from electrical.above(
        electrical.Above(network.racks, groups, uplink, top, layers, *least)
    )
