"""Adds up the files of a day, in order, by interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from lightloom.control.day.twice import Samples
from lightloom.control.demand.amounts import Amount
from lightloom.control.demand.folding import Folded, Pair, fold
from lightloom.control.demand.formats import read
from lightloom.control.demand.goflow2 import GOFLOW2
from lightloom.control.demand.gravity import estimated_by_time
from lightloom.control.demand.hosts import HostMap
from lightloom.control.demand.matrices import Matrix
from lightloom.control.demand.nfdump import NFDUMP
from lightloom.control.demand.pmacct import PMACCT
from lightloom.control.demand.reading import Reading
from lightloom.control.demand.records import Record, Records
from lightloom.control.demand.source import Source, source_of
from lightloom.control.demand.steps import US
from lightloom.control.demand.times import ZONELESS, ZONES, iso
from lightloom.control.demand.units import Unit, unit_of
from lightloom.control.files import in_bytes, placed
from lightloom.errors import ConfigError, refusal

FLOWS = (NFDUMP.title, PMACCT.title, GOFLOW2.title)
"""Formats in which every record has its own time."""
Sums = dict[Pair, Amount]


@dataclass(frozen=True)
class Asked:
    """Options for reading the files."""

    unit: str | None
    format: str | None
    columns: Mapping[str, str]
    hosts: HostMap | None
    strict: bool
    step_us: int | None
    """The length of the intervals into which records are grouped [µs]; None if not given."""
    by_name: bool
    """Whether the times in file names are used instead of those of records."""
    estimate: bool = False
    """Whether files have counters of interfaces, from which demand is estimated."""


@dataclass
class Gathered:
    """The data read so far."""

    sums: dict[int, Sums] = field(default_factory=dict)
    """Start of an interval [µs] → pair → amount [bytes]."""
    names: set[str] = field(default_factory=set)
    """The names of nodes; their numbers if files have no names."""
    counts: set[int] = field(default_factory=set)
    """The numbers of nodes of matrices without names."""
    covers_us: int | None = None
    """The duration of records, if their format states it [µs]."""
    times: set[int] = field(default_factory=set)
    """Times of records, and of files, that are measured at a step [µs]; flows, which have arbitrary
    times, are excluded."""
    title: str = ""
    unit: str = "1 B"
    records: int | None = None
    total: Fraction = Fraction(0)
    within: Fraction = Fraction(0)
    unknown: Fraction = Fraction(0)
    strangers: dict[str, None] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    notes: dict[str, None] = field(default_factory=dict)
    zoned: bool | None = None
    """Whether times have a time zone; None before the first time."""
    local: Samples = field(default_factory=Samples)
    """Measurements at times without a time zone."""

    def add(self, found: Folded, size: Fraction) -> None:
        """Adds the sums of a file, in units of `size` bytes."""
        for start, sums in found.amounts.items():
            if start is not None:
                known = self.sums.setdefault(start, {})
                for pair, amount in sums.items():
                    known[pair] = known.get(pair, 0) + amount * size
        self.names |= found.nodes
        self.known |= found.hosts
        self.strangers |= found.strangers
        self.total += found.total * size
        self.within += found.within * size
        self.unknown += found.unknown * size

    def reading(self, map: str | None) -> Reading:
        """Returns the description of the input."""
        return Reading(
            self.title,
            self.unit,
            self.records,
            map,
            len(self.known),
            round(self.total),
            round(self.within),
            round(self.unknown),
            tuple(self.strangers),
            tuple(self.notes),
        )


def gather(path: str, at: int | None, asked: Asked, into: Gathered) -> None:
    """Adds a file; `at` is the time in its name, if it has one.

    Raises:
        ConfigError: if a demand has no time, or two have the same time; as for `read`.
    """
    source = source_of(path)
    found = (
        _estimated(source, asked)
        if asked.estimate
        else read(source, asked.format, asked.columns, asked.unit, asked.step_us)
    )
    into.title = into.title or found.title
    rates = isinstance(found, Records) and found.covers_us is not None
    unit = unit_of(asked.unit or "1 B", rates=rates)
    into.unit = unit.text
    records, size = (
        (found, Fraction(1) if asked.estimate else unit.size)
        if isinstance(found, Records)
        else (_as_records(source.name, found, unit, asked, into), Fraction(1))
    )
    start = _start(records, at, asked, into)
    if start is not None:
        into.sums.setdefault(start, {})
    else:
        _check_steps(records, into)
        into.covers_us = into.covers_us or records.covers_us
    slot = _slot(start, asked.step_us)
    if start is None and records.title not in FLOWS:
        records.records = into.local.watch(records.records)
    folded = fold(records, asked.hosts, strict=asked.strict, slot=slot)
    into.add(folded, size)
    if start is None and records.title not in FLOWS:
        into.times |= {time for time in folded.times if time is not None}
    elif start is not None and at is not None:
        into.times.add(at)
    if start is None:
        _check_zone(records, into)
    if isinstance(found, Records):
        into.records = (into.records or 0) + folded.records
    into.notes |= dict.fromkeys(records.notes)


def _estimated(source: Source, asked: Asked) -> Records:
    """Estimates demand from counters of interfaces, for each interval [bytes]."""
    step = asked.step_us

    def slot(time_us: int) -> int | None:
        if asked.by_name:
            return None
        return time_us if step is None else time_us // step * step

    unit = unit_of(str(asked.unit), rates=True)
    return estimated_by_time(source, asked.columns, unit, slot, step)


def _check_steps(records: Records, into: Gathered) -> None:
    """Raises an error if samples have another step than those of earlier files."""
    step, known = records.covers_us, into.covers_us
    if step and known and step != known:
        limit = f"a step of {step / US:g} s, where a file before has {known / US:g} s"
        raise ConfigError(f"{records.name}: {limit}; ask for all of them with one step")


def _check_zone(records: Records, into: Gathered) -> None:
    """Raises an error if times have a time zone in only some of the files, and for an hour that
    occurs twice."""
    zoned = records.clock.zoned
    if None not in (zoned, into.zoned) and zoned != into.zoned:
        limit = "times with a zone, where a file before has none" if zoned else ZONELESS
        raise ConfigError(f"{records.name}: {limit}; {ZONES}")
    into.zoned = into.zoned if zoned is None else zoned
    if zoned is False:
        into.local.check(records.name)


def _start(found: Records, at: int | None, asked: Asked, into: Gathered) -> int | None:
    """Returns the start of a file's interval [µs]; None if its records have times."""
    if found.timed and not asked.by_name:
        if asked.step_us is None and found.title in FLOWS:
            limit, remedy = "each flow has its own time", "give the length of intervals"
            raise ConfigError(f'{found.name}: {limit}; {remedy}: --every "5 min"')
        return None
    if at is None:
        limit = "no time in its name, and none in its records"
        remedy = "name it like demand-2026-11-23T0245.csv, or add a column `time`"
        raise ConfigError(f"{found.name}: {limit}; {remedy}")
    if asked.step_us is not None:
        return at // asked.step_us * asked.step_us
    if at in into.sums:
        raise ConfigError(f"{found.name}: a second demand of {iso(at)}; leave one of them out")
    return at


def _slot(start: int | None, step_us: int | None) -> Callable[[Record], int | None]:
    """Returns the function from a record to the start of its interval."""

    def of_record(record: Record) -> int | None:
        time = record.time_us
        return time if time is None or step_us is None else time // step_us * step_us

    return of_record if start is None else lambda record: start


def _as_records(name: str, found: Matrix, unit: Unit, asked: Asked, into: Gathered) -> Records:
    """Converts a matrix to records in bytes; nodes are names, or numbers if it has no names."""
    nodes = len(found.values)
    if not found.names and asked.hosts is not None:
        raise refusal("map", asked.hosts.name, f"{name} does not name its hosts", "leave it out")
    if not found.names:
        into.counts.add(nodes)
    names = found.names or [str(node) for node in range(nodes)]
    try:
        matrix = in_bytes(found, unit)
    except ConfigError as problem:
        raise placed(name, problem, found.place) from None
    if asked.hosts is None:
        into.names |= {*names}
    rows = zip(*(ends.tolist() for ends in matrix.nonzero()), strict=True)
    records = [Record(name, names[a], names[b], int(matrix[a, b]), None) for a, b in rows]
    # A matrix without demand still yields a record, which states that the demand was 0.
    records = records or [Record(name, names[0], names[0], 0, None)]
    return Records(found.title, name, records, timed=False)
