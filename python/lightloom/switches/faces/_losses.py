"""The rows of the factory table of insertion losses that faces show."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.switches.host import Host
from lightloom.switches.ports import Pair

MOST_LOSSES = 65_536
"""Number of rows above which a factory table lists only the present cross-connects."""


def listed_losses(host: Host) -> Sequence[Pair]:
    """Returns the paths of the table, in order."""
    size = host.design.size
    if size.a * size.b <= MOST_LOSSES:
        return [(a, b) for a in range(1, size.a + 1) for b in range(1, size.b + 1)]
    listed = host.machine.connections(host.now)
    return sorted({one.pair for one in listed if size.has(one.ends[0]) and size.has(one.ends[1])})
