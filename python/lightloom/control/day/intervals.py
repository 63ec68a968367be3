"""Intervals of a day: the start and the length of each measurement of demand."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lightloom.control.arrays import Integers
from lightloom.control.demand.steps import US, NoStepError, step_of
from lightloom.control.demand.times import iso
from lightloom.errors import ConfigError, refusal
from lightloom.units.durations import duration_ps

MOST = 100_000
"""Largest number of intervals of a day [count]."""


@dataclass(frozen=True, eq=False)
class Interval:
    """The demand between racks in an interval; pairs without demand are omitted."""

    start_us: int
    """Start of the interval, since 1970 [µs]."""
    length_us: int
    """Length of the interval [µs]."""
    src: Integers
    """The source of each pair."""
    dst: Integers
    """The destination of each pair."""
    bytes: Integers
    """The demand of each pair [bytes]."""

    @property
    def total(self) -> int:
        """The sum of the demand [bytes]."""
        return int(self.bytes.sum())

    @property
    def seconds(self) -> float:
        """Length of the interval [s]."""
        return self.length_us / US

    def matrix(self, nodes: int) -> Integers:
        """Returns the demand as an N × N matrix [bytes]."""
        found = np.zeros((nodes, nodes), np.int64)
        found[self.src, self.dst] = self.bytes
        return found


def every_us(text: str) -> int:
    """Converts the length of intervals from the user's form to microseconds.

    Raises:
        ConfigError: if `every` is invalid.

    >>> every_us("5 min"), every_us("30 s")
    (300000000, 30000000)
    """
    try:
        length = duration_ps("every", text) // 1_000_000
    except ConfigError:
        raise refusal("every", text, "not a time", 'write it like "5 min" or "30 s"') from None
    if not length:
        raise refusal("every", text, "must be above 0", 'write it like "5 min" or "30 s"')
    return length


def lengths(name: str, starts: Sequence[int], known_us: int | None) -> list[int]:
    """Returns the lengths of intervals with these start times: their common step, so that missing
    intervals do not make others longer; or a given length, or less if the next interval begins
    earlier.

    Args:
        name: the subject of error messages.
        known_us: the given length, if any [µs].

    Raises:
        ConfigError: if there is only one interval without a given length, there are too many, or
            they have no common step.

    >>> lengths("d", [0, 5, 10, 30, 35], None)
    [5, 5, 5, 5, 5]
    >>> lengths("d", [0, 5, 10, 30, 33], 5)
    [5, 5, 5, 3, 5]
    """
    if len(starts) < 2:
        limit = "one interval, so no plan can be made for a next one"
        raise ConfigError(f"{name}: {limit}; name several files, or records of several times")
    if len(starts) > MOST:
        limit = f"{len(starts):,} intervals, more than {MOST:,}"
        raise ConfigError(f'{name}: {limit}; combine records, as with --every "5 min"')
    usual = known_us or _common(name, starts)
    return [min(usual, b - a) for a, b in pairwise(starts)] + [usual]


def _common(name: str, starts: Sequence[int]) -> int:
    """Returns the common step of at least two times."""
    try:
        return step_of(starts) or 0
    except NoStepError as problem:
        remedy = 'give the length of intervals, as with --every "1 h"'
        raise ConfigError(f"{name}: {problem}; {remedy}") from None


def check_every(asked: str, step_us: int, times: Collection[int], covers_us: int | None) -> None:
    """Raises an error if intervals are not a multiple of the step of the measurements: some would
    then contain no measurement, and others too many. For times without a common step, only
    intervals of at most half the most frequent distance are rejected.

    Args:
        asked: the length as the user wrote it.
        step_us: the same length [µs].
        times: the times of records, or of files [µs].
        covers_us: the duration of records, if their format states it [µs].

    Raises:
        ConfigError: if `every` is invalid.
    """
    ordered = sorted(times)
    try:
        own = covers_us or step_of(ordered)
    except NoStepError as problem:
        own = problem.usual if 2 * step_us <= problem.usual else None
    if own is None or step_us % own == 0:
        return
    limit = "shorter than" if step_us < own else "no multiple of"
    limit += f" the step of the measurements, {own / US:g} s"
    raise refusal("every", asked, limit, f'write "{own / US:g} s", or a multiple of it')


def missing(intervals: Sequence[Interval]) -> Iterable[str]:
    """Describes times without measurements."""
    holes = [
        (a.start_us + a.length_us, b.start_us)
        for a, b in pairwise(intervals)
        if a.start_us + a.length_us < b.start_us
    ]
    if holes:
        total = sum(end - begin for begin, end in holes) / US
        first = iso(holes[0][0])
        yield f"nothing was measured for {total:,.0f} s in total, first from {first}: left out"
