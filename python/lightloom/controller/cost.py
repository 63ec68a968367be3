"""The cost of a change: dark time of circuits, and accelerators that are stopped during it.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lightloom.controller.change import Change
from lightloom.controller.jobs import Job
from lightloom.controller.racks import Racks

HOUR_S = 3600.0


@dataclass(frozen=True)
class Cost:
    """The cost of a change that is made now."""

    dark_s: float | None
    """Time for which circuits are dark; None if unknown."""
    dark_pair_s: float | None
    """Dark time, summed over cross-connects."""
    jobs: Sequence[str]
    """Jobs that lose a circuit."""
    waits_for: Sequence[str]
    """The jobs that are not at a boundary that covers the dark time."""
    accelerator_h: float | None
    """Accelerators of `waits_for` × dark time [h]; None if one of the factors is not known."""

    def table(self) -> dict[str, Any]:
        """The cost in the form that a transaction stores."""
        return {**asdict(self), "jobs": [*self.jobs], "waits_for": [*self.waits_for]}


def cost_of(
    change: Change, racks: Racks, dark_s: float | None, jobs: Sequence[Job], now: float
) -> Cost:
    """The cost of a change that is made now.

    A job loses a circuit if one of its racks is at either end of a cross-connect that is removed;
    the job is then stopped for the dark time. A new cross-connect at idle ports interrupts no
    traffic.
    """
    if change.is_empty:
        return Cost(0.0, 0.0, (), (), 0.0)
    pairs = len(change.removed) + len(change.added)
    ends = racks.at(change.removed)
    hit = [job for job in jobs if job.uses(ends)]
    running = [job for job in hit if not job.is_at_boundary(now, dark_s or 0.0)]
    return Cost(
        dark_s,
        None if dark_s is None else dark_s * pairs,
        tuple(job.name for job in hit),
        tuple(job.name for job in running),
        _accelerator_h(running, dark_s),
    )


def _accelerator_h(running: Sequence[Job], dark_s: float | None) -> float | None:
    if not running:
        return 0.0
    counts = [job.accelerators for job in running]
    if dark_s is None or any(count is None for count in counts):
        return None
    return sum(count for count in counts if count is not None) * dark_s / HOUR_S
