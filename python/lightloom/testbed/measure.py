"""Samples of the bytes that a plane has carried, and of the bytes that wait in it, during a run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

LOOK_S = 0.05
"""Shortest time between two observations [s]."""
LOOK_SHARE = 0.05
"""Largest share of the time for observations."""

Link = tuple[str, int | None, int | None]
"""Parallel links in one direction as in `links.parquet`: tier, and the numbers of their ends; None
is the core."""


@dataclass(frozen=True)
class Observed:
    """The state of a plane at one time.

    Counters start with the plane; sizes are those of frames.
    """

    at: float
    """Time of the observation [s of the monotonic clock]."""
    delivered: int
    """Bytes that left the fabric for hosts; on the user-space plane only bytes between racks."""
    carried: int
    """Bytes × links that they crossed."""
    losses: int
    """Lost packets, without those lost in the switches of servers."""
    queues: Sequence[tuple[str, str, int]]
    """Waiting bytes, as (node, name of the queue, bytes)."""
    waiting: int
    """Bytes that wait at their sources."""
    offered: int | None = None
    """Bytes that sources have offered; None if they are not counted."""
    at_sources: bool = False
    """Whether queues are those of sources."""
    links: Mapping[Link, int] = field(default_factory=dict)
    """Bytes of links of the electrical network; empty without one."""

    @property
    def queued(self) -> int:
        """Bytes that wait inside the network."""
        return 0 if self.at_sources else sum(size for *_, size in self.queues)

    @property
    def deepest(self) -> int:
        """Bytes that wait at the node with the longest queue."""
        nodes: dict[str, int] = {}
        for node, _, size in self.queues:
            nodes[node] = nodes.get(node, 0) + size
        return max(nodes.values(), default=0)


@dataclass
class Samples:
    """Byte counters at sample times; rates are computed from their differences."""

    times: list[float] = field(default_factory=list)
    """Times of the samples [s of the monotonic clock]."""
    columns: dict[str, list[int]] = field(default_factory=dict)
    """By name (a host, an uplink, or a pair of racks): bytes so far."""
    loads: list[float] = field(default_factory=list)
    """Load average of a minute."""
    observed: list[Observed] = field(default_factory=list)
    """Observations of the plane, at separate times because they take longer than reading
    counters."""
    next_look: float = 0.0
    """Time of the next observation of the plane [s of the monotonic clock]."""

    def take(self, carried: Sequence[tuple[str, int]]) -> None:
        """Records the bytes that a plane has carried so far."""
        self.times.append(time.monotonic())
        self.loads.append(os.getloadavg()[0])
        for name, size in carried:
            self.columns.setdefault(name, []).append(size)

    def look(self, observe: Callable[[], Observed]) -> None:
        """Observes the plane; less often with many hosts, because the controller's actions have to
        wait for it."""
        self.observed.append(observe())
        now = time.monotonic()
        took = now - self.observed[-1].at
        self.next_look = now + max(LOOK_S, took / LOOK_SHARE)

    def rates(self, name: str) -> list[tuple[float, float, float]]:
        """The rate in each interval between two samples: beginning [s], end [s], bits per
        second."""
        sizes = self.columns.get(name, [])
        rows = zip(self.times, self.times[1:], sizes, sizes[1:], strict=False)
        return [(a, b, (y - x) * 8 / (b - a)) for a, b, x, y in rows if b > a]


def mean_rate(rates: Sequence[tuple[float, float, float]]) -> float | None:
    """The mean rate over some intervals [b/s]; None without intervals."""
    whole = sum(b - a for a, b, _ in rates)
    return sum((b - a) * rate for a, b, rate in rates) / whole if whole > 0 else None
