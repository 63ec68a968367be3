"""Whether Q of Sirius (`fabric.queue`) covers the way from a grant to the second hop.

A node has at most Q cells queued or granted for a destination, and sends it one an epoch
(Sirius §4.3). A cell is counted from its grant until it has left for the destination: the
grant travels, the cell waits for its slot and flies, and waits for its second. If that
takes more than Q epochs, slots to the destination stay empty although cells wait for them:
Q holds the network back. The paper's Q = 4 is for fibres without length (§7).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from lightloom import _core
from lightloom.config import networks

MOST = 64
"""The largest `fabric.queue` [cells]."""
_CROSSING = ("propagation", "switch_latency", "fec_latency", "codeword_wait")


def covering(fabric: Mapping[str, Any], derived: Mapping[str, float]) -> int | None:
    """The least Q [cells] that covers how long a cell is counted; None where no Q holds
    anything back: in other fabrics, and in `mode = "ideal"`.

    Counted are the epochs of the way of the grant, half an epoch for each of the slots of
    both hops, half an epoch until the next grants are made, and slot and crossing of the
    first hop: (2 · lag + 3) / 2 epochs + slot + crossing. Between granting and taking up
    lie `lag` epochs: 1, and as many as the crossing takes.
    """
    if fabric.get("kind") != "sirius" or fabric.get("mode") == "ideal":
        return None
    slots = derived.get("epoch_slots")
    if slots is None or "slot" not in fabric:
        return None
    slot = _core.control_time("fabric.slot", fabric["slot"])
    crossing = sum(_core.control_time(f"fabric.{k}", fabric.get(k, "0 ps")) for k in _CROSSING)
    lag = 1 + -(-crossing // (slot * max(1, int(slots))))
    epoch = Fraction(slots).limit_denominator(10_000) * slot
    return math.ceil(Fraction(2 * lag + 3, 2) + (slot + crossing) / epoch)


def receives(
    fabric: Mapping[str, Any], derived: Mapping[str, float], nodes: int, queue: int
) -> float:
    """What Q lets a node receive at most [b/s]: Q cells from each other while one is counted."""
    needed = covering(fabric, derived)
    assert needed is not None  # of such a fabric
    slot_s = _core.control_time("fabric.slot", fabric["slot"]) * 1e-12
    epoch_s = derived["epoch_slots"] * slot_s
    return min(queue, needed) * (nodes - 1) * derived["cell_bytes"] * 8 / (needed * epoch_s)


def held_back(
    fabric: Mapping[str, Any], derived: Mapping[str, float], cluster: Mapping[str, Any]
) -> tuple[int, int] | None:
    """Q and the one that would cover, where Q lets a node receive less than its servers can
    and more would let it receive more; None elsewhere."""
    needed = covering(fabric, derived)
    queue = int(fabric.get("queue", 0))
    if needed is None or queue >= min(needed, MOST):
        return None
    server = networks.server_rate(cluster)
    if server is None:
        return None
    servers = int(cluster.get("servers_per_rack", 1))
    nodes = int(cluster.get("racks") or cluster.get("hosts") or 0)
    if receives(fabric, derived, nodes, queue) >= server * servers:
        return None
    return queue, needed


def notes(
    fabric: Mapping[str, Any], derived: Mapping[str, float], cluster: Mapping[str, Any]
) -> Iterator[str]:
    """Says that Q holds the network back, and which Q would not."""
    found = held_back(fabric, derived, cluster)
    if found is None:
        return
    queue, needed = found
    remedy = f"{needed} covers it"
    if needed > MOST:
        remedy = f"{MOST}, the most, covers {MOST / needed:.0%} of it, shorter fibres the rest"
    yield (
        f"fabric.queue = {queue} holds it back: a cell is counted {needed} epochs from its grant "
        f"until its second hop leaves, and a node sends one an epoch to each destination; its "
        f"times and its short queues are those of this Q; raise fabric.queue: {remedy}"
    )
