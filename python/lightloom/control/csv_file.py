"""Demand matrices in CSV files: numbers, perhaps with names around them, and the
line and column of whatever is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lightloom.control.arrays import LARGEST, MAX_NODES, Numbers
from lightloom.errors import ConfigError, refusal

Number = int | float
DELIMITERS = ",;\t"


@dataclass
class Csv:
    """What a CSV file holds, read by `read_csv`."""

    path: Path
    delimiter: str = ","
    header: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    rows: list[list[Number]] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    """Number and text of the line of each row."""

    @property
    def names(self) -> list[str]:
        """What its nodes are called; empty if it does not say."""
        return self.header[1:] if self.header and self.labels else self.header or self.labels

    def place(self, row: int, column: int) -> str:
        """Where an entry stands: `:line:column`."""
        number, line = self.lines[row]
        return f":{number}:{self._column(line, column + bool(self.labels))}"

    def array(self) -> Numbers:
        """Its numbers, as int64 if they are whole."""
        if any(isinstance(value, float) for row in self.rows for value in row):
            return np.array(self.rows, np.float64)
        try:
            return np.array(self.rows, np.int64)
        except OverflowError:
            entries = ((i, j, v) for i, row in enumerate(self.rows) for j, v in enumerate(row))
            i, j, value = next(entry for entry in entries if abs(entry[2]) > LARGEST)
            limit, remedy = "does not fit 63 bits", "give demand in a larger unit"
            problem = refusal(f"demand[{i}][{j}]", value, limit, remedy)
            raise ConfigError(f"{self.path}{self.place(i, j)}: {problem}") from None

    def take(self, number: int, line: str) -> None:
        """Reads one line."""
        if not self.lines:
            if not self.header:
                self.delimiter = next((d for d in DELIMITERS if d in line), ",")
                if self._is_header(line):
                    self.header = self._texts(line)
                    return
            labelled = _is_name(line.split(self.delimiter)[0])
        else:
            labelled = bool(self.labels)
        cells = line.split(self.delimiter)
        if labelled:
            self.labels.append(_bare(cells[0]))
        self.lines.append((number, line))
        self.rows.append(self._numbers(number, line, cells, int(labelled)))
        if len(self.rows[-1]) != len(self.rows[0]):
            found, first = len(self.rows[-1]), self.lines[0][0]
            found_text = f"{found} numbers, where line {first} has {len(self.rows[0])}"
            raise self.wrong(number, 1, found_text, "give every row as many")
        if len(self.rows) > MAX_NODES:
            raise self.wrong(number, 1, f"more than {MAX_NODES} rows", "merge nodes")

    def wrong(self, line: int, column: int, limit: str, remedy: str) -> ConfigError:
        """A refusal of something in the file."""
        return ConfigError(f"{self.path}:{line}:{column}: {limit}; {remedy}")

    def _numbers(self, number: int, line: str, cells: list[str], first: int) -> list[Number]:
        try:
            return [int(cell) for cell in cells[first:]]
        except ValueError:
            pass
        row: list[Number] = []
        for at, cell in enumerate(cells[first:], first):
            value = _number(cell)
            if value is None:
                shown = f"`{cell.strip()}` is not a number" if cell.strip() else "nothing here"
                column = self._column(line, at)
                raise self.wrong(number, column, shown, "write 0 where there is no demand")
            row.append(value)
        return row

    def _is_header(self, line: str) -> bool:
        """Whether all cells are names. The first may be empty, in the corner of a
        table, but what begins with a number is a row."""
        corner, *cells = line.split(self.delimiter)
        return _number(corner) is None and all(_is_name(cell) for cell in cells or [corner])

    def _texts(self, line: str) -> list[str]:
        return [_bare(cell) for cell in line.split(self.delimiter)]

    def _column(self, line: str, cell: int) -> int:
        """Where a cell's text begins, counted from 1."""
        cells = line.split(self.delimiter)
        before = sum(len(c) + 1 for c in cells[:cell])
        return before + len(cells[cell]) - len(cells[cell].lstrip()) + 1


def read_csv(path: Path) -> Csv:
    """Reads a file whose lines are rows of numbers. Blank lines and those that
    begin with `#` are skipped; a first line and a first column may hold names."""
    found = Csv(path)
    for number, line in _lines(path):
        found.take(number, line)
    if not found.rows:
        raise ConfigError(f"{path}: no numbers; give a line for every source")
    if found.names and len(found.names) != len(found.rows):
        limit = f"{len(found.names)} names for {len(found.rows)} rows"
        raise ConfigError(f"{path}: {limit}; name every node once and give it a row")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines that hold something, counted from 1."""
    with path.open(encoding="utf-8-sig") as file:
        try:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.lstrip().startswith("#"):
                    yield number, line.rstrip("\n")
        except UnicodeDecodeError:
            raise ConfigError(f"{path}: not UTF-8; save it as UTF-8") from None


def _is_name(cell: str) -> bool:
    return bool(cell.strip()) and _number(cell) is None


def _bare(cell: str) -> str:
    return cell.strip().strip('"')


def _number(cell: str) -> Number | None:
    """What a cell says; None if it is no number."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return None
