"""Demand that is averaged over time, so that a policy does not follow a short burst."""

from __future__ import annotations

from dataclasses import replace

from lightloom.controller.matrices import Seen


class Smoothing:
    """The average of each switch: of a new demand a share counts, and what was before counts for
    the rest (an exponential average)."""

    def __init__(self, share: float) -> None:
        """Begins without demand; the first one counts whole.

        Args:
            share: above 0 to 1; 1 averages nothing.
        """
        self._share = share
        self._means: dict[str, list[list[float]]] = {}
        self._at: dict[str, float] = {}

    def of(self, switch: str, seen: Seen) -> Seen:
        """The average with a demand, which counts once however often it is read."""
        if self._share == 1.0:
            return seen
        before, size = self._means.get(switch), len(seen.matrix)
        if before is None or len(before) != size:
            self._means[switch] = [[float(entry) for entry in row] for row in seen.matrix]
        elif self._at[switch] != seen.at:
            self._means[switch] = [
                [old + self._share * (new - old) for old, new in zip(*rows, strict=True)]
                for rows in zip(before, seen.matrix, strict=True)
            ]
        self._at[switch] = seen.at
        return replace(
            seen, matrix=[[round(entry) for entry in row] for row in self._means[switch]]
        )
