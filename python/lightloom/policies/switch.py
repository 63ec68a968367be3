"""The switch as a policy sees it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

PS = 1e-12
"""A picosecond [s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Switch:
    """Racks with ports on one or several parallel optical switches, and the circuits that are lit
    when a decision is due.

    A user can construct it, with `racks` alone or with more values, to try a policy.

    >>> switch = Switch(racks=4, lit=((0, 2, 0),))
    >>> switch.works.shape, switch.is_lit(2, 0), switch.interval_s
    ((1, 4), True, 1.0)
    """

    racks: int
    """Number of racks; they are numbered from 0."""
    planes: int = 1
    """Number of parallel optical switches; they are numbered from 0."""
    ports: int = 1
    """Ports of a rack on each plane [count]."""
    rate_bps: int = 10_000_000_000
    """Rate of a circuit in each direction [b/s]."""
    interval_ps: int = 1_000_000_000_000
    """Time between two decisions [ps]."""
    lit: tuple[tuple[int, int, int], ...] = ()
    """The circuits that are lit: two racks (the lower first, or the sender first if `directed`) and
    the plane. Circuits of a schedule are not included."""
    directed: bool = False
    """Whether each of these circuits leads only from its first rack to its second."""
    works: NDArray[np.bool_] = field(default_factory=lambda: np.empty((0, 0), bool))
    """Whether the port of each plane (row) and rack (column) works. Default: all work."""
    night_ps: int = 0
    """The shortest night of a schedule [ps]: nothing is sent during the night at the beginning of
    each slot, and a schedule with a shorter night is an error. 0 if any night is allowed."""
    shortest_slot_ps: int = 0
    """The shortest slot of a schedule, its night included [ps]; 0 if any slot is allowed."""

    def __post_init__(self) -> None:
        if not self.works.size:
            object.__setattr__(self, "works", np.ones((self.planes, self.racks), bool))

    @property
    def interval_s(self) -> float:
        """Time between two decisions [s]."""
        return self.interval_ps * PS

    @property
    def bytes_per_interval(self) -> int:
        """Bytes that a permanent circuit carries in each direction between two decisions."""
        return self.rate_bps * self.interval_ps // 8_000_000_000_000

    def is_lit(self, a: int, b: int) -> bool:
        """Whether a circuit leads from rack `a` to rack `b`, on any plane."""
        pairs = {(x, y) for x, y, _ in self.lit}
        return (a, b) in pairs or (not self.directed and (b, a) in pairs)
