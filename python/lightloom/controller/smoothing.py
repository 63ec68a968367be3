"""Averages demand over time, so that a policy does not follow short bursts."""

from __future__ import annotations

from dataclasses import replace

from lightloom.controller.matrices import Seen


class Smoothing:
    """The exponential average of each switch's demand: a new demand has the weight `share`, the
    previous average has the rest."""

    def __init__(self, share: float) -> None:
        """Creates the average without demand; the first demand has the full weight.

        Args:
            share: above 0 and at most 1; 1 means no averaging.
        """
        self._share = share
        self._means: dict[str, list[list[float]]] = {}
        self._at: dict[str, float] = {}

    def of(self, switch: str, seen: Seen) -> Seen:
        """The average including a demand, which counts once even if it is read several times."""
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
