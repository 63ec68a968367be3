"""Rows of CSV whose first line names the columns, as records."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from itertools import islice

from lightloom.control.cells import delimiter_of
from lightloom.control.demand.amounts import UnreadableError, amount_of, sampled, shown
from lightloom.control.demand.columns import Columns, Layout, find
from lightloom.control.demand.records import Record, Records
from lightloom.control.demand.source import Source
from lightloom.control.demand.times import Clock
from lightloom.control.names import printable
from lightloom.errors import ConfigError
from lightloom.units.counts import counted

OPEN = "a quote is not closed"


class Rows:
    """The rows of a CSV file, with the line number at which each ends."""

    def __init__(self, source: Source) -> None:
        self.source, self.line = source, 0
        first = source.first()
        self.delimiter = delimiter_of(first)

    def __iter__(self) -> Iterator[list[str]]:
        reader = csv.reader(
            self._lines(), delimiter=self.delimiter, skipinitialspace=True, strict=True
        )
        try:
            yield from reader
        except csv.Error as problem:
            reason = OPEN if "unexpected end" in str(problem) else str(problem)
            raise ConfigError(f'{self.where()}: {reason}; quote whole cells, like "a, b"') from None

    def where(self) -> str:
        """The file and the line."""
        return f"{self.source.name}:{self.line}"

    def _lines(self) -> Iterator[str]:
        for number, text in self.source.lines():
            self.line = number
            yield text + "\n"


def read_table(source: Source, layout: Layout, named: Mapping[str, str]) -> Records:
    """Returns the records of a table.

    Raises:
        ConfigError: if the first line lacks a required column; while records are read, if one is
            invalid, with line and column.
    """
    rows = Rows(source)
    cells = iter(rows)
    header = [printable(cell.strip()) for cell in next(cells, [])]
    if not header:
        raise ConfigError(f"{source.name}: nothing in it; give a line for every record")
    columns = find(rows.where(), header, layout, named)
    clock = Clock.of("" if columns.time is None else header[columns.time])
    records = _records(rows, cells, header, columns, layout.last, clock)
    timed = columns.time is not None
    return Records(
        layout.title, source.name, records, timed=timed, clock=clock, notes=columns.notes
    )


def _records(
    rows: Rows,
    cells: Iterator[list[str]],
    header: list[str],
    columns: Columns,
    last: str,
    clock: Clock,
) -> Iterator[Record]:
    src, dst, amount, time, back = (
        *(columns.src, columns.dst, columns.bytes),
        *(columns.time, columns.back),
    )
    rate = columns.sampling
    width, at = len(header), amount
    for row in cells:
        if last and row[0].strip() == last:
            return
        if len(row) != width:
            found = f"{counted(len(row), 'cell')}, where the first line has {width}"
            raise ConfigError(f"{rows.where()}: {found}; quote what holds a `{rows.delimiter}`")
        where = rows.where()
        try:
            at = amount
            size = amount_of(row[at], rows.delimiter)
            at = amount if rate is None else rate
            one_in = 1 if rate is None else amount_of(row[rate], rows.delimiter)
            at = time if time is not None else at
            when = None if time is None else clock.time_of(row[time])
            yield Record(where, row[src].strip(), row[dst].strip(), sampled(size, one_in), when)
            if back is not None:
                at = back
                came = amount_of(row[at], rows.delimiter)
                if came:
                    came = sampled(came, one_in)
                    yield Record(where, row[dst].strip(), row[src].strip(), came, when)
        except UnreadableError as problem:
            value = f"{header[at]} = {shown(row[at])}"
            raise ConfigError(f"{where}: {value}: {problem.limit}; {problem.remedy}") from None


def first_cells(source: Source) -> list[str]:
    """Returns the cells of the first line with content; empty if it cannot be read."""
    return first_rows(source)[0]


def first_rows(source: Source) -> tuple[list[str], list[str]]:
    """Returns the cells of the first line with content, and of the next."""
    found: list[list[str]] = []
    try:
        for row in islice(Rows(source), 2):
            found.append([cell.strip() for cell in row])
    except ConfigError:
        pass
    found += [[], []]
    return found[0], found[1]
