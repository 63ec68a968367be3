"""When epochs start: who is farther from the grating starts sooner (Sirius A.2, Fig 14)."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom import _core
from lightloom.errors import refusal


def epoch_starts(delays: Sequence[int]) -> list[int]:
    """When each node starts its first epoch, so that all cells of a slot are at the grating at
    once: max d − d_i.

    Args:
        delays: from each node to the grating, all in one whole unit, such as picoseconds.

    Raises:
        ConfigError: of a delay below 0.

    >>> epoch_starts([2, 5, 3])
    [3, 0, 2]
    """
    for node, delay in enumerate(delays):
        if delay < 0:
            limit = "light takes some time to the grating"
            raise refusal(f"delays[{node}]", delay, limit, "give a delay from 0")
    return _core.clock_starts(list(delays))
