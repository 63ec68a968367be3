"""What a policy sees of the switch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

PS = 1e-12
"""A picosecond [s]."""


@dataclass(frozen=True, slots=True, eq=False)
class Switch:
    """Racks with ports on one or several optical switches in parallel, and what is lit
    on them when a decision is due.

    Made by hand, with `racks` alone or more, it serves to try a policy out.

    >>> switch = Switch(racks=4, lit=((0, 2, 0),))
    >>> switch.works.shape, switch.is_lit(2, 0), switch.interval_s
    ((1, 4), True, 1.0)
    """

    racks: int
    """How many racks, counted from 0."""
    planes: int = 1
    """Optical switches in parallel, counted from 0."""
    ports: int = 1
    """Ports of a rack on each plane."""
    rate_bps: int = 10_000_000_000
    """What a circuit carries, each way [b/s]."""
    interval_ps: int = 1_000_000_000_000
    """From one decision to the next [ps]."""
    lit: tuple[tuple[int, int, int], ...] = ()
    """Circuits that are lit: two racks (the lower first, or the one that sends) and the
    plane. Days of a schedule are not among them."""
    directed: bool = False
    """Whether each of these leads from its first rack to its second only."""
    works: NDArray[np.bool_] = field(default_factory=lambda: np.empty((0, 0), bool))
    """Which ports work: an entry per plane and rack; all, unless given."""
    night_ps: int = 0
    """The night that a schedule needs [ps]: nothing is sent for so long at the beginning
    of each slot, and one of a shorter night than the switch's is refused. 0 where a
    schedule may have any."""
    shortest_slot_ps: int = 0
    """A slot of a schedule lasts so long or longer, its night included [ps]; 0 where it
    may last any time."""

    def __post_init__(self) -> None:
        if not self.works.size:
            object.__setattr__(self, "works", np.ones((self.planes, self.racks), bool))

    @property
    def interval_s(self) -> float:
        """From one decision to the next [s]."""
        return self.interval_ps * PS

    @property
    def bytes_per_interval(self) -> int:
        """What a circuit that is always lit carries from one decision to the next, each
        way [bytes]."""
        return self.rate_bps * self.interval_ps // 8_000_000_000_000

    def is_lit(self, a: int, b: int) -> bool:
        """Whether a circuit leads from rack `a` to rack `b`, on any plane."""
        pairs = {(x, y) for x, y, _ in self.lit}
        return (a, b) in pairs or (not self.directed and (b, a) in pairs)
