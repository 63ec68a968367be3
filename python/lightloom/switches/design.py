"""The design of an emulated switch: its ports, times, optics and behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field

from lightloom.switches.faults import Fault
from lightloom.switches.optics import Optics
from lightloom.switches.ports import Size
from lightloom.switches.states import Recovery

MS = 1_000_000_000
"""A millisecond [ps]."""


@dataclass(frozen=True)
class Design:
    """All properties of an emulated switch."""

    size: Size = field(default_factory=lambda: Size(32, 32))
    """Ports of each side."""
    name: str = "ocs"
    """The name of the switch."""
    seed: int = 1
    """Seed of settling times and of the factory table."""
    settle_ps: int = 20 * MS
    """Mean time from a command until the loss is within 0.5 dB of its target [ps]."""
    deviation_ps: int = 0
    """Standard deviation of the settling time [ps]; draws below 0 count as 0."""
    release_ps: int = 0
    """Time for which a deleted cross-connect still occupies its ports [ps]."""
    relock_ps: int = 0
    """Time from the first light until a receiver has locked [ps]."""
    link_up_ps: int = 0
    """Time from lock until the attached link carries packets [ps]."""
    give_up_settles: int = 20
    """A cross-connect that has not settled after this many settling times has failed."""
    cold_boot_ps: int = 1000 * MS
    """Duration of a cold reboot [ps]."""
    warm_boot_ps: int = 500 * MS
    """Duration of a warm reboot [ps]."""
    recovery: Recovery = Recovery.RESTORE
    """Treatment of cross-connects in a cold reboot."""
    retry_invalid: bool = True
    """Whether an INVALID connection is set up once its ports are free."""
    bidirectional: bool = False
    """Whether one cross-connect carries light in both directions."""
    optics: Optics = field(default_factory=Optics)
    """Losses and powers."""
    faults: tuple[Fault, ...] = field(default=())
    """Scheduled faults."""
