"""Demands with times: files that have one in their names, or records that have one each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np

from lightloom import _core
from lightloom.control.arrays import LARGEST, MAX_NODES
from lightloom.control.day.intervals import Interval, every_us, lengths, missing
from lightloom.control.demand.amounts import Amount
from lightloom.control.demand.columns import asked
from lightloom.control.demand.folding import Folded, Pair, Record, Records, fold, in_order
from lightloom.control.demand.formats import read
from lightloom.control.demand.hosts import HostMap, read_hosts
from lightloom.control.demand.matrices import Matrix
from lightloom.control.demand.nfdump import NFDUMP
from lightloom.control.demand.pmacct import PMACCT
from lightloom.control.demand.reading import Reading
from lightloom.control.demand.source import source_of
from lightloom.control.demand.times import iso, time_in
from lightloom.control.demand.units import Unit, unit_of
from lightloom.control.files import Demand, in_bytes, placed
from lightloom.errors import ConfigError, refusal

FLOWS = (NFDUMP.title, PMACCT.title)
"""Formats in which every record has a time of its own."""
Sums = dict[Pair, Amount]


@dataclass(frozen=True, eq=False)
class Day:
    """Demands in the order of time."""

    names: list[str]
    """What node i is called; empty if files only count."""
    nodes: int
    """How many there are."""
    intervals: list[Interval]
    """Two at least."""
    reading: Reading
    """How they were read."""
    notes: tuple[str, ...] = ()
    """What to know of them."""

    @property
    def played(self) -> list[Interval]:
        """All but the first, which is only measured."""
        return self.intervals[1:]

    @property
    def hours(self) -> float:
        """How long is played [h]."""
        return sum(one.length_us for one in self.played) / 3.6e9

    @property
    def total(self) -> int:
        """The demand of what is played [bytes]."""
        return sum(one.total for one in self.played)

    def demand(self, at: int) -> Demand:
        """That of an interval."""
        return Demand(self.intervals[at].matrix(self.nodes), self.names)

    def added_up(self) -> Demand:
        """That of all that is played."""
        matrix = np.zeros((self.nodes, self.nodes), np.int64)
        for one in self.played:
            matrix[one.src, one.dst] += one.bytes
        return Demand(matrix, self.names)


@dataclass
class _Heap:
    """What was read so far."""

    hosts: HostMap | None
    strict: bool
    unit: str | None
    sums: dict[int, Sums] = field(default_factory=dict)
    """By the start of the interval [µs], in bytes."""
    names: set[str] = field(default_factory=set)
    counts: set[int] = field(default_factory=set)
    """How many nodes matrices without names have."""
    title: str = ""
    has_records: bool = False
    unit_text: str = "1 B"
    records: int = 0
    total: Fraction = Fraction(0)
    within: Fraction = Fraction(0)
    unknown: Fraction = Fraction(0)
    strangers: dict[str, None] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    covers_us: int | None = None

    def take(self, found: Folded, unit: Unit) -> None:
        """Adds what was folded."""
        size = unit.size
        for start, sums in found.amounts.items():
            if start is not None:
                known = self.sums.setdefault(start, {})
                for pair, amount in sums.items():
                    known[pair] = known.get(pair, 0) + amount * size
        self.names |= found.nodes
        self.known |= found.hosts
        self.strangers |= found.strangers
        self.records += found.records
        self.total += found.total * size
        self.within += found.within * size
        self.unknown += found.unknown * size


def read_day(
    paths: Sequence[str | Path],
    *,
    every: str | None = None,
    unit: str | None = None,
    format: str | None = None,
    map: str | Path | None = None,
    columns: str | None = None,
    strict: bool = False,
) -> Day:
    """Reads demands with times.

    Files with a time in their names (`demand-2026-11-23T0245.csv`) are an interval each.
    Of one file, of files without times in their names, and with `every`, records say
    when they were.

    Args:
        paths: files, whatever `read_demand` reads.
        every: put records together into intervals of this length, like "5 min", that
            begin at whole multiples of it. Exports of flows need it.
        unit, format, map, columns, strict: as for `read_demand`, of all files.

    Raises:
        ConfigError: naming what has no time, or two of one time; as `read_demand`.
        OSError: if a file cannot be opened.
    """
    hosts = None if map is None else read_hosts(map)
    heap = _Heap(hosts, strict, unit, names=set() if hosts is None else {*hosts.racks})
    step_us = None if every is None else every_us(every)
    times = {path: time_in(Path(path).name) for path in files_of(paths)}
    # Of several files that all have times in their names, these count.
    by_name = len(times) > 1 and step_us is None and None not in times.values()
    for path, at in times.items():
        _read(heap, path, at, by_name, step_us, format, asked(columns))
    name = next(iter(times)) if len(times) == 1 else "DEMAND"
    return _day(heap, name, step_us or heap.covers_us, map)


def files_of(paths: Sequence[str | Path]) -> list[str]:
    """Paths as text; a folder is all that is in it, in the order of names."""
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


def _read(
    heap: _Heap,
    path: str,
    at: int | None,
    by_name: bool,
    step_us: int | None,
    format: str | None,
    named: Mapping[str, str],
) -> None:
    """Adds a file: as one interval that begins at `at`, or by the times of its records."""
    source = source_of(path)
    found = read(source, format, named, heap.unit)
    heap.title = heap.title or found.title
    unit = unit_of(heap.unit or "1 B", rates=isinstance(found, Records) and bool(found.covers_us))
    heap.unit_text = unit.text
    if isinstance(found, Matrix):
        found, unit = _matrix(source.name, found, heap, unit), unit_of("1 B")
    else:
        heap.has_records = True
    if found.timed and not by_name:
        at = None
    elif at is not None and step_us is not None:
        at = at // step_us * step_us
    if at is None and not found.timed:
        limit = "no time in its name, and none in its records"
        remedy = "name it like demand-2026-11-23T0245.csv, or add a column `time`"
        raise ConfigError(f"{source.name}: {limit}; {remedy}")
    if at is None and step_us is None and found.title in FLOWS:
        limit = "every flow has a time of its own"
        raise ConfigError(f'{source.name}: {limit}; say how long intervals are: --every "5 min"')
    if at is not None and at in heap.sums and step_us is None:
        raise ConfigError(f"{source.name}: a second demand of {iso(at)}; leave one of them out")

    def slot(record: Record) -> int | None:
        if at is not None or record.time_us is None:
            return at
        return record.time_us if step_us is None else record.time_us // step_us * step_us

    if at is not None:
        heap.sums.setdefault(at, {})
    else:
        heap.covers_us = heap.covers_us or found.covers_us
    heap.take(fold(found, heap.hosts, strict=heap.strict, slot=slot), unit)
    heap.notes |= dict.fromkeys(found.notes)


def _matrix(name: str, found: Matrix, heap: _Heap, unit: Unit) -> Records:
    """A matrix as records in bytes, of its names or of its numbers."""
    nodes = len(found.values)
    if not found.names and heap.hosts is not None:
        raise refusal("map", heap.hosts.name, f"{name} does not name its hosts", "leave it out")
    if not found.names:
        heap.counts.add(nodes)
    names = found.names or [str(node) for node in range(nodes)]
    try:
        matrix = in_bytes(found, unit)
    except ConfigError as problem:
        raise placed(name, problem, found.place) from None
    heap.names |= set() if heap.hosts is not None else {*names}
    rows = zip(*(ends.tolist() for ends in matrix.nonzero()), strict=True)
    records = [Record(name, names[a], names[b], int(matrix[a, b]), None) for a, b in rows]
    # One that has none says that there was none.
    records = records or [Record(name, names[0], names[0], 0, None)]
    return Records(found.title, name, records, timed=False)


def _day(heap: _Heap, name: str, step_us: int | None, map: str | Path | None) -> Day:
    """What was read, in order."""
    names = in_order(heap.names)
    counted = heap.counts and names == [str(at) for at in range(len(names))]
    if heap.counts and (not counted or heap.counts != {len(names)}):
        limit = "some have names and others none, or they have several sizes"
        raise ConfigError(f"{name}: {limit}; name nodes in every file, or in none")
    if len(names) > MAX_NODES:
        raise ConfigError(f"{name}: {len(names):,} nodes; put them together in racks with --map")
    starts = sorted(heap.sums)
    at = {name: place for place, name in enumerate(names)}
    both = zip(starts, lengths(name, starts, step_us), strict=True)
    intervals = [_interval(name, start, length, heap.sums[start], at) for start, length in both]
    total = sum(one.total for one in intervals[1:])
    if not total:
        raise ConfigError(f"{name}: no demand after the first interval; look at the unit")
    if total + intervals[0].total > LARGEST:
        raise ConfigError(f"{name}: more bytes than 63 bits hold; choose a smaller unit")
    reading = Reading(
        heap.title,
        heap.unit_text,
        heap.records if heap.has_records else None,
        None if map is None else str(map),
        len(heap.known),
        round(heap.total),
        round(heap.within),
        round(heap.unknown),
        tuple(heap.strangers),
        tuple(heap.notes),
    )
    called = [] if counted else names
    return Day(called, len(names), intervals, reading, tuple(missing(intervals)))


def _interval(name: str, start: int, length: int, sums: Sums, at: Mapping[str, int]) -> Interval:
    """The sums of an interval as columns, in the order of nodes."""
    rows = sorted((at[a], at[b], round(amount)) for (a, b), amount in sums.items() if amount)
    if any(row[2] > LARGEST for row in rows):
        raise ConfigError(f"{name}: {iso(start)}: more than 63 bits hold; choose a smaller unit")
    src, dst, amounts = np.array(rows, np.int64).reshape(-1, 3).T
    return Interval(start, length, src, dst, amounts)


def text_of(length_us: int) -> str:
    """A length as the core writes it."""
    return _core.control_time_text(length_us * 1_000_000)
