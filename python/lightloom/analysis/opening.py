"""The part of a timeline that is shown first: one in which days and nights are visible.

For a schedule of many slots, it is a round: the time until its first matching is lit again. If
nights are too short to be visible beside days, as with circuits of seconds, there is no such part.
"""

from __future__ import annotations

import numpy as np

from .model import Circuits, Integers
from .nights import Days

SHOWN = 24  # slots up to which all are shown, and longest round
HANDFUL = 5  # slots at least
SLOTS = 12  # slots shown if there is no round
NOTICED = 0.02  # of a slot: a shorter night is invisible


def opening(circuits: Circuits, pair: Integers, until: float) -> tuple[float, float] | None:
    """Start and end [s], with a night at both ends; None for the whole timeline.

    `pair` is the pair of racks of each circuit; only circuits that are lit before `until` [s]
    count.
    """
    days = before(circuits.days, until)
    if days.start.size <= SHOWN:
        return None
    # All changes take the same time, but a night may also be a time without requests.
    change = float(np.quantile(days.between, 0.25, method="lower"))
    slot = change + float(np.median(days.end - days.start))
    if change < NOTICED * slot:
        return None
    first, count = in_a_row(days.between > slot)
    last = first + min(count, slots(matchings(circuits, pair, days, first))) - 1
    low = max(0.0, float(days.start[first]) - change)
    high = min(float(days.end[last]) + change, until)
    return round(low, 12), round(high, 12)  # whole picoseconds, as recorded


def before(days: Days, until: float) -> Days:
    """The circuits that begin before a time."""
    count = int(np.searchsorted(days.start, until))
    return Days(days.start[:count], days.end[:count])


def in_a_row(pauses: np.ndarray) -> tuple[int, int]:
    """The first day of a sequence without a pause, and the number of its days; the longest
    sequence, if none is long enough."""
    ends = np.append(np.flatnonzero(pauses), pauses.size)
    starts = np.append(0, ends[:-1] + 1)
    counts = ends - starts + 1
    chosen = int(np.argmax(np.minimum(counts, HANDFUL)))
    return int(starts[chosen]), int(counts[chosen])


def matchings(circuits: Circuits, pair: Integers, days: Days, first: int) -> list[Integers]:
    """The pairs that circuits connect on each of `SHOWN` + 1 days from the `first`."""
    order = np.argsort(circuits.start, kind="stable")
    begins = circuits.start[order]
    window = slice(first, first + SHOWN + 1)
    low = np.searchsorted(begins, days.start[window])
    high = np.searchsorted(begins, days.end[window])
    return [np.unique(pair[order[a:b]]) for a, b in zip(low, high, strict=True)]


def slots(matchings: list[Integers]) -> int:
    """Number of slots to show: as many rounds as have about five slots; twelve slots without a
    round."""
    again = (i for i, m in enumerate(matchings) if i and np.array_equal(m, matchings[0]))
    length = next(again, 0)
    return length * -(-HANDFUL // length) if length else SLOTS
