"""Bill of a flattened butterfly: routers with a port for each host and for each other router in
their rows, and wires between routers (Kim, Dally and Abts, ISCA 2007).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from lightloom.costs.bills.electrical import Cables, gbps
from lightloom.costs.book import Book
from lightloom.costs.needs import Boxes, Ends, Need, Pieces
from lightloom.costs.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """R = Π kᵢ routers of radix c + Σ (kᵢ − 1), and R · Σ (kᵢ − 1) ÷ 2 wires between them."""
    sizes = [int(size) for size in network.fabric["routers"]]
    hosts = int(network.fabric["concentration"])
    rate = network.rate("rate") if "rate" in network.fabric else network.server_rate
    routers, others = prod(sizes), sum(size - 1 for size in sizes)
    shape = " × ".join(map(str, sizes))
    text = f"{shape} routers × ({hosts} hosts + {others} others)"
    yield Boxes("switch", "routers", text, routers, [(hosts, rate), (others, rate)])
    text = f"{routers} routers × {hosts} hosts"
    yield Ends("server-transceiver", "servers", f"{text}, the router's end", routers, (hosts, rate))
    yield Pieces("server-cable", "servers", text, routers * hosts)
    wires = routers * others // 2
    if wires:
        text = f"{routers} routers × {others} others ÷ 2, of {gbps(rate)}"
        ends = f"{routers} routers × {others} others"
        yield Ends("transceiver", "between routers", ends, routers, (others, rate))
        yield Cables("cable", "between routers", text, wires, (1, rate))
