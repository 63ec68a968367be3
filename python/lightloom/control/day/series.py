"""Demands with times, from files with times in their names or from records with times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lightloom import _core
from lightloom.control.arrays import LARGEST, MAX_NODES
from lightloom.control.day.gathering import Asked, Gathered, Sums, gather
from lightloom.control.day.intervals import Interval, check_every, every_us, lengths, missing
from lightloom.control.demand.columns import asked
from lightloom.control.demand.folding import in_order
from lightloom.control.demand.gravity import check as check_estimate
from lightloom.control.demand.hosts import read_hosts
from lightloom.control.demand.reading import Reading
from lightloom.control.demand.times import is_zoned_in, iso, time_in
from lightloom.control.files import Demand
from lightloom.errors import ConfigError, refusal


@dataclass(frozen=True, eq=False)
class Day:
    """Demands in the order of time."""

    names: list[str]
    """The name of each node; empty if the files have no names."""
    nodes: int
    """The number of nodes."""
    intervals: list[Interval]
    """The intervals, at least two."""
    reading: Reading
    """Format, unit and counts of the files."""
    notes: tuple[str, ...] = ()
    """Notes for the user on the data."""

    @property
    def played(self) -> list[Interval]:
        """All intervals except the first, which is only measured."""
        return self.intervals[1:]

    @property
    def hours(self) -> float:
        """The duration of all replayed intervals [h]."""
        return sum(one.length_us for one in self.played) / 3.6e9

    @property
    def total(self) -> int:
        """The sum of the demand of all replayed intervals [bytes]."""
        return sum(one.total for one in self.played)

    def demand(self, at: int) -> Demand:
        """The demand of an interval."""
        return Demand(self.intervals[at].matrix(self.nodes), self.names)

    def added_up(self) -> Demand:
        """The sum of the demand of all replayed intervals."""
        matrix = np.zeros((self.nodes, self.nodes), np.int64)
        for one in self.played:
            matrix[one.src, one.dst] += one.bytes
        return Demand(matrix, self.names)


def read_day(
    paths: Sequence[str | Path],
    *,
    every: str | None = None,
    unit: str | None = None,
    format: str | None = None,
    map: str | Path | None = None,
    columns: str | None = None,
    strict: bool = False,
    estimate: str | None = None,
) -> Day:
    """Reads demands with times.

    Each file with a time in its name (`demand-2026-11-23T0245.csv`) is an interval. If there is
    only one file, if a file has no time in its name, or with `every`, the times of the records
    count.

    Args:
        paths: files that `read_demand` can read.
        every: group records into intervals of this length, such as "5 min", that begin at integer
            multiples of it. Exports of flows need it.
        unit: as for `read_demand`, for all files; so are the arguments below.
        format: the format of the files.
        map: the file with the racks of addresses and hosts.
        columns: names of columns.
        strict: raise an error for records that would otherwise be left out.
        estimate: "gravity": estimate the demand of pairs in each interval, as for `read_demand`.

    Raises:
        ConfigError: if a demand has no time, or two have the same time; as for `read_demand`.
        OSError: if a file cannot be opened.

    >>> day = read_day(["examples/demand-day"])
    >>> len(day.intervals), day.intervals[0].seconds, day.names[:2]
    (24, 3600.0, ['cache', 'gpu-0'])
    """
    if estimate is not None:
        check_estimate(estimate, map, unit)
    hosts = None if map is None else read_hosts(map)
    step_us = None if every is None else every_us(every)
    times = {path: time_in(Path(path).name) for path in files_of(paths)}
    _check_names(times)
    # If there are several files and all have times in their names, these times count.
    by_name = len(times) > 1 and step_us is None and None not in times.values()
    how = Asked(unit, format, asked(columns), hosts, strict, step_us, by_name, estimate is not None)
    found = Gathered(names=set() if hosts is None else {*hosts.racks})
    for path, at in times.items():
        gather(path, at, how, found)
    if every is not None and step_us is not None:
        check_every(every, step_us, found.times, found.covers_us)
    name = next(iter(times)) if len(times) == 1 else "DEMAND"
    return _day(found, name, step_us or found.covers_us, None if map is None else str(map))


def _check_names(times: Mapping[str, int | None]) -> None:
    """Raises an error if only some of the times in file names have a time zone."""
    named = [path for path, at in times.items() if at is not None]
    plain = [path for path in named if not is_zoned_in(Path(path).name)]
    if 0 < len(plain) < len(named):
        limit = "a time without a zone in its name, where others have one (Z)"
        raise refusal("DEMAND", plain[0], limit, "name all files alike")


def files_of(paths: Sequence[str | Path]) -> list[str]:
    """Returns paths as text; a folder stands for all files in it, sorted by name."""
    found: list[str] = []
    for path in map(str, paths):
        inside = Path(path)
        if path != "-" and inside.is_dir():
            files = sorted(str(file) for file in inside.iterdir() if file.name[:1] != ".")
            if not files:
                raise refusal("DEMAND", path, "a folder with nothing in it", "name files")
            found += files
        else:
            found.append(path)
    twice = next((path for at, path in enumerate(found) if path in found[:at]), None)
    if twice is not None:
        raise refusal("DEMAND", twice, "named twice", "name every file once")
    return found


def _day(found: Gathered, name: str, step_us: int | None, map: str | None) -> Day:
    """Returns the data read, sorted by time."""
    names = in_order(found.names)
    counted = found.counts and names == [str(at) for at in range(len(names))]
    if found.counts and (not counted or found.counts != {len(names)}):
        limit = "some have names and others none, or they have several sizes"
        raise ConfigError(f"{name}: {limit}; name nodes in every file, or in none")
    if len(names) > MAX_NODES:
        raise ConfigError(f"{name}: {len(names):,} nodes; put them together in racks with --map")
    starts = sorted(found.sums)
    at = {name: place for place, name in enumerate(names)}
    both = zip(starts, lengths(name, starts, step_us), strict=True)
    intervals = [_interval(name, start, length, found.sums[start], at) for start, length in both]
    total = sum(one.total for one in intervals[1:])
    if not total:
        raise ConfigError(f"{name}: no demand after the first interval; look at the unit")
    if total + intervals[0].total > LARGEST:
        raise ConfigError(f"{name}: more bytes than 63 bits hold; choose a smaller unit")
    notes = tuple(missing(intervals))
    return Day([] if counted else names, len(names), intervals, found.reading(map), notes)


def _interval(name: str, start: int, length: int, sums: Sums, at: Mapping[str, int]) -> Interval:
    """Returns the sums of an interval as columns, in the order of nodes."""
    rows = sorted((at[a], at[b], round(amount)) for (a, b), amount in sums.items() if amount)
    if any(row[2] > LARGEST for row in rows):
        raise ConfigError(f"{name}: {iso(start)}: more than 63 bits hold; choose a smaller unit")
    src, dst, amounts = np.array(rows, np.int64).reshape(-1, 3).T
    return Interval(start, length, src, dst, amounts)


def text_of(length_us: int) -> str:
    """Formats a length as the core reads it."""
    return _core.control_time_text(length_us * 1_000_000)
