"""Bill of LIONS: wavelength converters and receivers around one grating, and the parts of its
loop-back buffers or its reflections (Yin et al., JSTQE 2013, Table I and Fig 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from lightloom.costs.book import Book
from lightloom.costs.needs import Ends, Need, Passive, Pieces
from lightloom.costs.network import Network


def bill(network: Network, book: Book) -> Iterator[Need]:
    """N hosts, k receivers at each output, and the buffers of the `architecture`."""
    hosts, rate = network.servers, network.rate("rate")
    receivers = int(network.fabric["receivers"])
    yield Ends("host-transmitter", "hosts", f"{hosts} hosts", hosts, (1, rate))
    yield Pieces("circuit-cable", "hosts", f"{hosts} hosts", hosts)
    for part in ("label-extractor", "delay-line", "wavelength-converter"):
        yield Pieces(part, "inputs", f"{hosts} inputs", hosts)
    text = f"{hosts} outputs × k = {receivers}"
    yield Ends("burst-receiver", "outputs", text, hosts, (receivers, rate))
    ports, formula = _ports(network, hosts)
    yield Passive("grating", "core", formula, 1, ports)
    yield from _loopback(network, hosts, rate)


def _ports(network: Network, hosts: int) -> tuple[int, str]:
    """The ports of the grating: those of hosts, and those of parts that retransmit."""
    kind = network.fabric["architecture"]
    if kind == "dlb":
        return 2 * hosts, f"2 × {hosts} hosts"
    if kind == "mlb":
        queues = hosts // int(network.fabric["hosts_per_queue"])
        return hosts + queues, f"{hosts} hosts + {queues} queues"
    extra = 0 if kind == "drop" else 1
    return hosts + extra, f"{hosts} hosts + {extra}"


def _loopback(network: Network, hosts: int, rate: int) -> Iterator[Need]:
    """Buffers with their receivers and transmitters (Table I), or circulators (Fig 5)."""
    kind, where = network.fabric["architecture"], "loop-back buffer"
    if kind == "ao-nack":
        text = f"2 × {hosts} inputs + {hosts} hosts + 1 that reflects"
        yield Pieces("circulator", "reflections", text, 3 * hosts + 1)
        yield Ends("burst-receiver", "reflections", f"{hosts} hosts", hosts, (1, rate))
        return
    if kind == "drop":
        return
    queues = {"slb": 1, "mlb": hosts // int(network.fabric.get("hosts_per_queue", 1))}.get(
        kind, hosts
    )
    each = hosts if kind == "slb" else int(network.fabric["transmitters"])
    yield Ends("burst-receiver", where, f"{hosts} of N outputs", hosts, (1, rate))
    text = f"{queues} memories × {each} transmitters"
    yield Ends("loopback-transmitter", where, text, queues, (each, rate))
    yield Pieces("buffer-memory", where, f"{queues}", queues)
    if kind != "slb" and each > 1:
        yield Pieces("coupler", where, f"{queues} × ({each} − 1)", Fraction(queues * (each - 1)))
