"""Limits on the changes of a policy: dwell, gain, dark time per hour, quiet hours."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from lightloom.controller.config import LimitsTable, quiet_minutes
from lightloom.switches.ports import Pair
from lightloom.units.durations import duration_ps

HOUR_S = 3600.0


@dataclass(frozen=True)
class Limits:
    """The limits of a controller, in seconds."""

    dwell_s: float = 0.0
    gain: float = 0.0
    dark_per_hour_s: float | None = None
    quiet: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, table: LimitsTable) -> Limits:
        """Reads the limits of a table."""
        dark = table.dark_per_hour
        return cls(
            duration_ps("limits.dwell", table.dwell) / 1e12,
            table.gain,
            None if dark is None else duration_ps("limits.dark_per_hour", dark) / 1e12,
            tuple(quiet_minutes(text) for text in table.quiet),
        )

    def is_quiet(self, now: float) -> bool:
        """Whether a time is within a quiet time (UTC)."""
        clock = datetime.fromtimestamp(now, UTC)
        minute = 60 * clock.hour + clock.minute
        return any(
            start <= minute < end if start <= end else minute >= start or minute < end
            for start, end in self.quiet
        )

    def refusal(
        self,
        now: float,
        wanted: Collection[Pair],
        lit: Sequence[tuple[Pair, float]],
        gained: float,
        spent_s: float,
        dark_s: float,
    ) -> str | None:
        """The reason why a policy's change must not be made now; None if it may be made.

        Args:
            now: seconds since 1970.
            wanted: cross-connects that the policy requests.
            lit: cross-connects that it requested before, with the times since when.
            gained: increase of the share of demand between connected racks.
            spent_s: the dark time of the policy's earlier changes within the last hour.
            dark_s: the dark time of this change; 0 if it removes nothing of the policy.
        """
        if self.is_quiet(now):
            return "quiet hours"
        young = [pair for pair, since in lit if pair not in wanted and now - since < self.dwell_s]
        if young:
            return f"dwell: {len(young)} cross-connects are lit for less than {self.dwell_s:g} s"
        if gained < self.gain:
            return f"gain: {gained:.3f} of the demand, and {self.gain:g} is needed"
        if self.dark_per_hour_s is not None:
            left = max(0.0, self.dark_per_hour_s - spent_s)
            if dark_s > left:
                return (
                    f"dark time: {dark_s:.3g} s are needed, and {left:.3g} s of the hour are left"
                )
        return None
