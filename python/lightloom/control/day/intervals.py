"""Intervals of a day: when each demand was measured, and for how long."""

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
    """How long intervals are that begin at these times, in their order: their step, so that
    missing intervals make none longer; or a given length, or less if the next begins sooner.

    Args:
        name: their kind, for refusals.
        known_us: their length, if given [µs].

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
    usual = known_us or _common(name, starts)
    return [min(usual, b - a) for a, b in pairwise(starts)] + [usual]


def _common(name: str, starts: Sequence[int]) -> int:
    """The step of times, of which there are two at least."""
    try:
        return step_of(starts) or 0
    except NoStepError as problem:
        remedy = 'say how long intervals are, as with --every "1 h"'
        raise ConfigError(f"{name}: {problem}; {remedy}") from None


def check_every(asked: str, step_us: int, times: Collection[int], covers_us: int | None) -> None:
    """Refuses intervals that are shorter than the step of what is put into them, or no
    multiple of it: some would have none of it, and others more than their share. Of times
    without a step, those that are shorter than half of the commonest distance.

    Args:
        asked: the length as it was asked for.
        step_us: the same [µs].
        times: of records, or of files [µs].
        covers_us: for how long records are, where their format says it [µs].

    Raises:
        ConfigError: of `every`.
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
    """Statements about unmeasured time."""
    holes = [
        (a.start_us + a.length_us, b.start_us)
        for a, b in pairwise(intervals)
        if a.start_us + a.length_us < b.start_us
    ]
    if holes:
        total = sum(end - begin for begin, end in holes) / US
        first = iso(holes[0][0])
        yield f"nothing was measured for {total:,.0f} s in total, first from {first}: left out"
