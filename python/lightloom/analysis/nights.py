"""Days and nights of a fabric whose circuits change.

During a day at least one circuit is lit; during a night none is, on any plane. Days and nights
follow from the recorded circuits only: the reconfiguration of a schedule is a night, and so is the
time before the first decision or while no circuit is requested. A fabric whose planes are dark in
turn has no nights between its circuits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Days:
    """The days in order, as beginnings and ends [s]. Two days are separated by a night."""

    start: Floats
    end: Floats

    @property
    def lit(self) -> float:
        """Total time of days [s]."""
        return float((self.end - self.start).sum())

    @property
    def between(self) -> Floats:
        """The lengths of the nights between days [s]; one fewer than the days."""
        lengths: Floats = self.start[1:] - self.end[:-1]
        return lengths

    def nights(self, until: float) -> tuple[Floats, Floats]:
        """The nights from 0 to `until`, as beginnings and ends [s]. Days and nights fill this time;
        it begins and ends with a night, unless a circuit is lit then."""
        start = np.minimum(np.append(0.0, self.end), until)
        end = np.minimum(np.append(self.start, until), until)
        dark = end > start
        return start[dark], end[dark]


def days_of(start: Floats, end: Floats) -> Days:
    """The union of circuits lit from `start` until `end` [s], in any order. Circuits that
    follow each other without a pause are one day."""
    lit = end > start
    order = np.argsort(start[lit], kind="stable")
    start, until = start[lit][order], np.maximum.accumulate(end[lit][order])
    first, last = np.ones((2, start.size), dtype=bool)
    first[1:] = last[:-1] = start[1:] > until[:-1]
    return Days(start[first], until[last])
