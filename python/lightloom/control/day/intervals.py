"""Intervals of a day: when each demand was measured, and for how long."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lightloom.control.arrays import Integers
from lightloom.control.demand.times import iso
from lightloom.errors import ConfigError, refusal
from lightloom.units.durations import duration_ps

US = 1_000_000
"""Microseconds [count] of a second."""
MOST = 100_000
"""Intervals [count] of a day."""


@dataclass(frozen=True, eq=False)
class Interval:
    """What racks had for each other in some time; pairs without demand are left out."""

    start_us: int
    """When it began, since 1970 [µs]."""
    length_us: int
    """How long it was [µs]."""
    src: Integers
    """By pair: the source."""
    dst: Integers
    """The destination."""
    bytes: Integers
    """The demand [bytes]."""

    @property
    def total(self) -> int:
        """All demand [bytes]."""
        return int(self.bytes.sum())

    @property
    def seconds(self) -> float:
        """How long it was [s]."""
        return self.length_us / US

    def matrix(self, nodes: int) -> Integers:
        """The demand as N × N [bytes]."""
        found = np.zeros((nodes, nodes), np.int64)
        found[self.src, self.dst] = self.bytes
        return found


def every_us(text: str) -> int:
    """A length of intervals as users write it [µs].

    Raises:
        ConfigError: of `every`.

    >>> every_us("5 min"), every_us("30 s")
    (300000000, 30000000)
    """
    try:
        length = duration_ps("every", text) // 1_000_000
    except ConfigError:
        raise refusal("every", text, "no time", 'write it like "5 min" or "30 s"') from None
    if not length:
        raise refusal("every", text, "no time at all", 'write it like "5 min" or "30 s"')
    return length


def lengths(name: str, starts: Sequence[int], known_us: int | None) -> list[int]:
    """How long intervals are that begin at these times, in their order: the smallest
    distance of two, of which all others have to be multiples, so that missing intervals
    make none longer; or a given length, or less if the next begins sooner.

    Args:
        name: of what they are, for refusals.
        known_us: their length, if somebody says it [µs].

    Raises:
        ConfigError: for one alone, or too many; for times without a common length.

    >>> lengths("d", [0, 5, 10, 30, 35], None)
    [5, 5, 5, 5, 5]
    >>> lengths("d", [0, 5, 10, 30, 33], 5)
    [5, 5, 5, 3, 5]
    """
    if len(starts) < 2:
        limit = "one interval, of which nothing can be decided for a next"
        raise ConfigError(f"{name}: {limit}; name several files, or records of several times")
    if len(starts) > MOST:
        limit = f"{len(starts):,} intervals, more than {MOST:,}"
        raise ConfigError(f'{name}: {limit}; put records together, as with --every "5 min"')
    gaps = [b - a for a, b in pairwise(starts)]
    usual = known_us or _common(name, gaps)
    return [min(usual, gap) for gap in gaps] + [usual]


def _common(name: str, gaps: Sequence[int]) -> int:
    """The smallest of distances, if it is their greatest common divisor."""
    least = min(gaps)
    other = next((gap for gap in gaps if gap % least), None)
    if other is None:
        return least
    limit = f"intervals of no common length: {least / US:g} s and {other / US:g} s between times"
    raise ConfigError(f'{name}: {limit}; say how long they are, as with --every "1 h"')


def missing(intervals: Sequence[Interval]) -> Iterable[str]:
    """What is said of time that nobody measured."""
    holes = [
        (a.start_us + a.length_us, b.start_us)
        for a, b in pairwise(intervals)
        if a.start_us + a.length_us < b.start_us
    ]
    if holes:
        total = sum(end - begin for begin, end in holes) / US
        first = iso(holes[0][0])
        yield f"nothing was measured for {total:,.0f} s in all, first from {first}: left out"
