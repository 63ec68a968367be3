"""Samples of byte counters during a run."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Samples:
    """Bytes that came by, at times; rates follow from their differences."""

    times: list[float] = field(default_factory=list)
    """[s of the monotonic clock]."""
    columns: dict[str, list[int]] = field(default_factory=dict)
    """By name (a host, an uplink, or a pair of racks): bytes so far."""
    loads: list[float] = field(default_factory=list)
    """Load average of a minute."""

    def take(self, carried: Sequence[tuple[str, int]]) -> None:
        """Notes what a plane has carried by now."""
        self.times.append(time.monotonic())
        self.loads.append(os.getloadavg()[0])
        for name, size in carried:
            self.columns.setdefault(name, []).append(size)

    def rates(self, name: str) -> list[tuple[float, float, float]]:
        """Of each interval between two samples: from, until [s], bits a second."""
        sizes = self.columns.get(name, [])
        rows = zip(self.times, self.times[1:], sizes, sizes[1:], strict=False)
        return [(a, b, (y - x) * 8 / (b - a)) for a, b, x, y in rows if b > a]


def mean_rate(rates: Sequence[tuple[float, float, float]]) -> float | None:
    """Bits a second over some intervals; nothing of none."""
    whole = sum(b - a for a, b, _ in rates)
    return sum((b - a) * rate for a, b, rate in rates) / whole if whole > 0 else None
