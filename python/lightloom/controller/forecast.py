"""The traffic of the next interval by simulation, with the circuits that are lit and after a
change.

A hybrid network with the racks of the switch is simulated, with one server per rack. The last
demand is offered over one interval, the bytes of each pair in equal parts at equal distances. The
change is made at the beginning, and its circuits are dark while the switch settles.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightloom.controller.config import NetworkTable
from lightloom.controller.matrices import Matrix
from lightloom.controller.racks import Circuit
from lightloom.policies import bits_per_second

MOST_FLOWS = 50_000
"""Largest number of parts of demand in a simulation, unless more pairs of racks have demand."""
PARTS = 100
"""Largest number of parts of a pair's demand."""
DECISIONS = 1_000
"""The change begins at the first decision of the simulated policy, after 1 ÷ this number of the
interval."""


@dataclass(frozen=True)
class Carried:
    """Shares of the demand at the end of an interval."""

    delivered: float
    on_circuits: float
    """The part of it that circuits carried."""


def carried(
    network: NetworkTable,
    demand: Matrix,
    before: Sequence[Circuit],
    after: Sequence[Circuit],
    interval_ps: int,
    settle_ps: int,
) -> Carried:
    """Simulates an interval that begins with `before` lit and goes to `after` at once.

    Args:
        network: rates of the racks.
        demand: racks × racks [bytes] of one interval; the diagonal does not count.
        before: bidirectional circuits at the beginning.
        after: bidirectional circuits after the change.
        interval_ps: length of the interval.
        settle_ps: dark time of circuits that change.

    Raises:
        ConfigError: if the simulator refuses the rates.
    """
    pairs = [
        (a, b, size)
        for a, row in enumerate(demand)
        for b, size in enumerate(row)
        if a != b and size > 0
    ]
    offered = sum(size for _, _, size in pairs)
    if offered == 0:
        return Carried(0.0, 0.0)
    # Imported at the first forecast, as in `page`.
    from lightloom import api

    # A fixed policy needs a circuit; if none is lit, two additional racks without demand have one.
    racks = len(demand)
    idle = (racks, racks + 1)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "demand.csv"
        trace.write_text("\n".join(["src,dst,bytes,arrival_ps", *_flows(pairs, interval_ps)]))
        fabric = {
            **_network(network),
            "policy": {"kind": "fixed", "circuits": [list(ends) for ends in after or [idle]]},
            "initial": [list(ends) for ends in before],
            "interval": f"{interval_ps // DECISIONS} ps",
            "settle": f"{settle_ps} ps",
        }
        summary = api.run(
            {
                "cluster": _cluster(network, racks if after else racks + 2),
                "workload": {"trace": str(trace)},
                "fabric": [fabric],
                "run": {"stop": f"{interval_ps} ps"},
            }
        ).summary
    delivered = summary["bytes_delivered"] / offered
    # A circuit may have sent more bytes than have arrived.
    return Carried(delivered, delivered * min(1.0, summary["circuit_share"] or 0.0))


def _flows(pairs: Sequence[tuple[int, int, int]], interval_ps: int) -> Iterator[str]:
    parts = max(1, min(PARTS, MOST_FLOWS // len(pairs)))
    for a, b, size in pairs:
        count = min(parts, size)
        for part in range(count):
            amount = size * (part + 1) // count - size * part // count
            yield f"{a},{b},{amount},{interval_ps * part // count}"


def _cluster(network: NetworkTable, racks: int) -> dict[str, Any]:
    return {"racks": racks, "servers_per_rack": 1, "server_rate": f"{_rate(network)} b/s"}


def _rate(network: NetworkTable) -> int:
    """The highest rate at which a rack sends: over its circuit and over the packet network."""
    packets = 0 if network.packet_rate is None else bits_per_second(network.packet_rate)
    return bits_per_second(network.circuit_rate) + packets


def _network(network: NetworkTable) -> dict[str, Any]:
    made: dict[str, Any] = {"kind": "hybrid", "circuit_rate": network.circuit_rate}
    # Losses of the transport beyond the dark time are not included.
    made |= {"ramp": "0 s", "dip": "0 s"}
    if network.packet_rate is None:
        return {**made, "electrical": False}
    ratio = _rate(network) / bits_per_second(network.packet_rate)
    return {**made, "electrical": True, "oversubscription": ratio}
