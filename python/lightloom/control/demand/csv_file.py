"""Demand matrices in CSV files: numbers with optional names.

Errors give the line and column of cells that are not numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lightloom.control.arrays import LARGEST, MAX_NODES, Numbers
from lightloom.control.cells import (
    Number,
    column_of,
    delimiter_of,
    is_name,
    number_of,
    remedy_of,
    split,
    text_of,
)
from lightloom.control.demand.long_or_matrix import check_matrix
from lightloom.control.demand.source import Line, Source
from lightloom.control.names import Axis, agreed, printable
from lightloom.errors import ConfigError, refusal
from lightloom.units.counts import counted


@dataclass
class Csv:
    """The contents of a CSV file, read by `read_csv`. If rows and columns have names, the rows are
    in the order of the columns; otherwise in the order of the file."""

    name: str
    """The name in messages."""
    delimiter: str = ","
    header: list[str] = field(default_factory=list)
    """The names in the first line, including that of the corner."""
    header_line: Line | None = None
    labelled: bool = False
    """Whether rows begin with a name."""
    labels: list[str] = field(default_factory=list)
    """The names of the rows, in the order of the file."""
    rows: list[list[Number]] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    """The line of each row."""
    names: list[str] = field(default_factory=list)
    """The names of the nodes; empty if the file has none."""

    def place(self, row: int, column: int) -> str:
        """The position of an entry, as `:line:column`."""
        return self._place(self.lines[row], column + self.labelled)

    def array(self) -> Numbers:
        """The numbers, as int64 if all are integers."""
        if any(isinstance(value, float) for row in self.rows for value in row):
            return np.array(self.rows, np.float64)
        try:
            return np.array(self.rows, np.int64)
        except OverflowError:
            entries = ((i, j, v) for i, row in enumerate(self.rows) for j, v in enumerate(row))
            i, j, value = next(entry for entry in entries if abs(entry[2]) > LARGEST)
            limit, remedy = "does not fit 63 bits", "give demand in a larger unit"
            problem = refusal(f"demand[{i}][{j}]", value, limit, remedy)
            raise ConfigError(f"{self.name}{self.place(i, j)}: {problem}") from None

    def take(self, number: int, line: str) -> None:
        """Reads one line."""
        first = self.header_line is None and not self.lines
        if first:
            self.delimiter = delimiter_of(line)
        cells = self._split(number, line)
        if first and _is_header(cells):
            self.header = [self._name(cell) for cell in cells]
            self.header_line = number, line
            return
        if not self.lines:
            below_corner = self.header[:1] == [""] and not cells[0].strip()
            self.labelled = is_name(cells[0]) or below_corner
        if self.labelled:
            self.labels.append(self._name(cells[0]))
        self.lines.append((number, line))
        self.rows.append(self._numbers(number, cells))
        if len(self.rows[-1]) != len(self.rows[0]):
            found, first_line = len(self.rows[-1]), self.lines[0][0]
            found_text = (
                f"{counted(found, 'number')}, where line {first_line} has {len(self.rows[0])}"
            )
            raise self.wrong(number, 1, found_text, "give every row as many")
        if len(self.rows) > MAX_NODES:
            raise self.wrong(number, 1, f"more than {MAX_NODES} rows", "merge nodes")

    def align(self) -> None:
        """Sorts the rows into the order of the columns, by their names."""
        columns, numbers = self._columns(), len(self.rows[0])
        if columns and not self.labels and len(columns) != len(self.rows):
            limit = f"{counted(len(columns), 'name')} for {counted(len(self.rows), 'row')}"
            raise ConfigError(f"{self.name}: {limit}; name every node once and give it a row")
        if self.header_line and self.labels and len(columns) != numbers:
            limit = f"{counted(len(columns), 'name')} for {counted(numbers, 'column')}"
            raise self.wrong(self.header_line[0], 1, limit, "name every column once")
        self.names, order = agreed(self.labels, columns, self._where)
        if order is not None:
            self.rows = [self.rows[at] for at in order]
            self.lines = [self.lines[at] for at in order]

    def wrong(self, line: int, column: int, limit: str, remedy: str) -> ConfigError:
        """Returns an error at a position of the file."""
        return ConfigError(f"{self.name}:{line}:{column}: {limit}; {remedy}")

    def _columns(self) -> list[str]:
        """The names of the columns: the first line, without the corner if there is one."""
        return self.header[self._corner() :]

    def _corner(self) -> int:
        """The number of cells of the first line above the names of rows: 1; or 0 if the first line
        begins with the name of a column, as R writes tables."""
        full = 0 < len(self.header) == len(self.rows[0]) and self.header[0] in self.labels
        return int(self.labelled and not full)

    def _name(self, cell: str) -> str:
        return printable(text_of(cell, self.delimiter))

    def _split(self, number: int, line: str) -> list[str]:
        try:
            return split(line, self.delimiter)
        except ValueError as problem:
            raise self.wrong(number, 1, str(problem), 'write names like "a" or "b, c"') from None

    def _numbers(self, number: int, cells: list[str]) -> list[Number]:
        first = int(self.labelled)
        try:
            return [int(cell) for cell in cells[first:]]
        except ValueError:
            pass
        row: list[Number] = []
        for at, cell in enumerate(cells[first:], first):
            value = number_of(cell)
            if value is None:
                shown = f"`{cell.strip()}` is not a number" if cell.strip() else "nothing here"
                remedy = remedy_of(cell, self.delimiter) or "write 0 where there is no demand"
                raise self.wrong(number, column_of(cells, at), shown, remedy)
            row.append(value)
        return row

    def _place(self, line: Line, cell: int) -> str:
        return f":{line[0]}:{column_of(split(line[1], self.delimiter), cell)}"

    def _where(self, axis: Axis, at: int) -> str:
        if axis == "column" and self.header_line is not None:
            return f"{self.name}{self._place(self.header_line, at + self._corner())}"
        return f"{self.name}{self._place(self.lines[at], 0)}"


def read_csv(source: Source, *, certain: bool = False) -> Csv:
    """Reads a matrix. Blank lines and lines that begin with `#` are skipped. The first line and the
    first column may contain names, which may be quoted. Unless `certain`, a table that could also
    be records of numbered nodes is an error."""
    found = Csv(source.name)
    for number, line in source.lines():
        found.take(number, line)
    if not found.rows:
        raise ConfigError(f"{source.name}: no numbers; give a line for every source")
    if not (certain or found.labelled):
        check_matrix(source.name, found.header, found.rows)
    found.align()
    return found


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a first line contains names: no numbers, and at least one cell besides the corner of
    the table, which may be empty."""
    return all(number_of(cell) is None for cell in cells) and any(
        is_name(cell) for cell in cells[1:] or cells
    )
