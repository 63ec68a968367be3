"""Links of the kernel plane: devices between namespaces, and the shapers on them."""

from __future__ import annotations

from lightloom.testbed import shell
from lightloom.testbed.layout import DEVICE, UPLINK
from lightloom.testbed.setup import Setup

BURST = 64 << 10
"""Burst of a shaper [B]. A smaller one halves the rate that segmentation offload reaches."""
LATENCY_S = 0.005
"""Queueing delay limit of a shaper, beyond its burst [s]."""
MTU = 1500
TAGGED_MTU = MTU + 4
"""MTU of links whose packets servers tag."""
QUANTUM = 60_000
"""Bytes per round of both classes of a host's scheduler [B]."""


def make_links(setup: Setup) -> None:
    """Creates all links. The link of a host ends in its device or, if Open vSwitch runs on the
    host, in a port of Open vSwitch.

    Raises:
        RuntimeError: if a tool fails.
    """
    layout = setup.layout
    fabric = layout.fabric
    own, mtu = (UPLINK, TAGGED_MTU) if setup.has_server_rules else (DEVICE, MTU)
    hosts = [
        f"link add {host.port} mtu {mtu} netns {fabric} type veth "
        f"peer name {own} mtu {mtu} netns {layout.namespace(host)}"
        for host in layout.hosts
    ]
    shell.batch("ip", hosts)
    links = [
        f"link add {tor.name} mtu {mtu} type veth peer name {other.name} mtu {mtu}"
        for tor, other in layout.uplinks()
    ]
    up = [f"link set {port.name} up" for port in layout.ports()]
    shell.batch("ip", links + up, fabric)
    for host in layout.hosts:
        shell.batch("ip", [f"link set {own} up"], layout.namespace(host))
    shapes = [_shape(host.port, setup.host_bps) for host in layout.hosts]
    for ends in layout.uplinks():
        rate = setup.electrical_bps if ends[1].role == "core" else setup.circuit_bps
        shapes += [_shape(end.name, rate) for end in ends]
    shell.batch("tc", shapes, fabric)


def shape_hosts(setup: Setup) -> None:
    """Shapes the traffic that hosts send, by a queue directly behind their sockets, also with Open
    vSwitch.

    Raises:
        RuntimeError: if a tool fails.
    """
    weight = setup.optical_weight
    for host in setup.layout.hosts:
        plain = [_shape(DEVICE, setup.host_bps)]
        lines = plain if weight is None else _schedule(DEVICE, setup.host_bps, weight)
        shell.batch("tc", lines, setup.layout.namespace(host))


def emptying_s(rate_bps: int) -> float:
    """Seconds that the queue of a shaper needs to empty."""
    return LATENCY_S + BURST * 8 / rate_bps


def _shape(device: str, rate: int) -> str:
    latency = f"latency {round(LATENCY_S * 1e6)}us"
    return f"qdisc add dev {device} root tbf rate {rate}bit burst {BURST} {latency}"


def _schedule(device: str, rate: int, weight: float) -> list[str]:
    """A host's output scheduler: the class of circuits (1:2) and the class of all other traffic
    (1:3) have guaranteed shares of the rate, and each may use what the other leaves (c-Through
    §4.2)."""
    limit = int(rate * LATENCY_S / 8) + BURST
    most = f"ceil {rate}bit burst {BURST} cburst {BURST}"
    lines = [
        f"qdisc add dev {device} root handle 1: htb default 3",
        f"class add dev {device} parent 1: classid 1:1 htb rate {rate}bit {most}",
    ]
    for number, share in ((2, weight), (3, 1 - weight)):
        sure, quantum = max(1, round(rate * share)), max(MTU, round(QUANTUM * share))
        lines += [
            f"class add dev {device} parent 1:1 classid 1:{number} htb rate {sure}bit {most} "
            f"quantum {quantum}",
            f"qdisc add dev {device} parent 1:{number} handle {number}: bfifo limit {limit}",
        ]
    return lines
