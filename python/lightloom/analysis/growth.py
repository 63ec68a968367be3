"""Tests whether later flows take longer, as they do if queues grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .nights import Floats

EARLY, LATE = 0.2, 0.5
"""Parts of the arrival time: early flows arrive before the first, late flows after the second."""
SLOWER = 1.25
"""If the median time of late flows is above this multiple of the early flows' median, queues may
grow. With hadoop sizes at 1.2 times the capacity of a tree it was 2.3 to 3.2 in 4,000 flows,
compared with 1.3 to 1.9 on a fabric that carries the load."""


def parts(arrivals: Floats) -> Floats:
    """Arrival time of each flow, scaled from 0 for the first to 1 for the last."""
    return np.asarray((arrivals - arrivals.min()) / (float(np.ptp(arrivals)) or 1.0))


def late_to_early(
    arrivals: Floats, times: Floats, average: Callable[[Floats], Any] = np.median
) -> float | None:
    """Average time of late flows ÷ that of early ones; None if either group is empty.

    >>> late_to_early(np.arange(10.0), 1 + np.arange(10.0))
    5.33...
    """
    if not arrivals.size:
        return None
    at = parts(arrivals)
    early, late = at <= EARLY, at > LATE
    if not early.any() or not late.any():
        return None
    least = float(average(times[early]))
    return float(average(times[late])) / least if least else None
