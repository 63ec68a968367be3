"""Whether flows take longer the later they arrive, as where queues grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .nights import Floats

EARLY, LATE = 0.2, 0.5
"""Parts of the time in which flows arrive: early ones arrive before the first, late ones after the
second."""
SLOWER = 1.25
"""If the median time of late flows is above so many times that of early ones, queues may grow. With
hadoop sizes at 1.2 times what a tree carries it was 2.3 to 3.2 in 4,000 flows, beside 1.3 to 1.9 of
a fabric that carries the load."""


def parts(arrivals: Floats) -> Floats:
    """When each flow arrived, from 0, the first, to 1, the last."""
    return np.asarray((arrivals - arrivals.min()) / (float(np.ptp(arrivals)) or 1.0))


def late_to_early(
    arrivals: Floats, times: Floats, average: Callable[[Floats], Any] = np.median
) -> float | None:
    """The average time of late flows, as a multiple of that of early ones; None without either.

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
