"""Start times of epochs: a node that is farther from the grating starts earlier (Sirius A.2, Fig
14)."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom import _core
from lightloom.errors import refusal


def epoch_starts(delays: Sequence[int]) -> list[int]:
    """Returns when each node starts its first epoch, so that all cells of a slot reach the grating
    at the same time: max d − d_i.

    Args:
        delays: from each node to the grating, all in the same integer unit, such as picoseconds.

    Raises:
        ConfigError: if a delay is negative.

    >>> epoch_starts([2, 5, 3])
    [3, 0, 2]
    """
    for node, delay in enumerate(delays):
        if delay < 0:
            limit = "light takes some time to the grating"
            raise refusal(f"delays[{node}]", delay, limit, "give a delay from 0")
    return _core.clock_starts(list(delays))
