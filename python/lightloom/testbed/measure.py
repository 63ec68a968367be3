"""Samples of what hosts receive, taken beside a run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from lightloom import _core
from lightloom.testbed import shell
from lightloom.testbed.kernel import KernelPlane
from lightloom.testbed.layout import Layout
from lightloom.testbed.user import UserPlane


@dataclass
class Samples:
    """Bytes that came by, at times; rates follow from their differences."""

    layout: Layout
    times: list[float] = field(default_factory=list)
    """[s of the monotonic clock]."""
    columns: dict[str, list[int]] = field(default_factory=dict)
    """By name (a host, an uplink, or a pair of racks): bytes so far."""
    loads: list[float] = field(default_factory=list)
    """Load average of a minute."""

    def take(self, plane: KernelPlane | UserPlane) -> None:
        """Reads the counters once."""
        self.times.append(time.monotonic())
        self.loads.append(os.getloadavg()[0])
        for name, size in self._counted(plane):
            self.columns.setdefault(name, []).append(size)

    def _counted(self, plane: KernelPlane | UserPlane) -> Sequence[tuple[str, int]]:
        racks = self.layout.racks
        if isinstance(plane, UserPlane):
            carried = plane.counts()["carried"]
            pairs = ((at // racks, at % racks, size) for at, size in enumerate(carried))
            return [(f"{a}>{b}", size) for a, b, size in pairs if a != b]
        found = _core.testbed_counters(shell.NAMESPACES / self.layout.fabric)
        rows = [(f"host {h.index}", found[h.port][3]) for h in self.layout.hosts]
        return rows + [(tor.name, found[tor.name][3]) for tor, _ in self.layout.uplinks()]

    def rates(self, name: str) -> list[tuple[float, float, float]]:
        """Of each interval between two samples: from, until [s], bits a second."""
        sizes = self.columns.get(name, [])
        rows = zip(self.times, self.times[1:], sizes, sizes[1:], strict=False)
        return [(a, b, (y - x) * 8 / (b - a)) for a, b, x, y in rows if b > a]


def mean_rate(rates: Sequence[tuple[float, float, float]]) -> float | None:
    """Bits a second over some intervals; nothing of none."""
    whole = sum(b - a for a, b, _ in rates)
    return sum((b - a) * rate for a, b, rate in rates) / whole if whole > 0 else None
