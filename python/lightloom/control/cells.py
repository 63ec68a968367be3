"""Cells of a CSV line: their text as written, which keeps their positions, and their values.

A name may be quoted; a number may not.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

DELIMITERS = ",;\t"
DECIMAL = r"[+-]?\d+([.,]\d+)?"
"""A number with a decimal point or comma."""
UNITS = ("TB", "GB", "MB", "KB", "B")
"""Units of amounts of data."""
Number = int | float


def delimiter_of(line: str) -> str:
    """Returns the character that separates the cells of a line: the first of `DELIMITERS` outside
    quotes; a semicolon if that leaves numbers, some of which have decimal commas.

    >>> delimiter_of('"hall 1, rack 2";"hall 1, rack 3"'), delimiter_of("0;1,5;2")
    (';', ';')
    """
    bare = re.sub(r'"[^"]*"', "", line)
    if ";" in bare and all(re.fullmatch(DECIMAL, cell.strip()) for cell in bare.split(";")):
        return ";"
    return next((d for d in DELIMITERS if d in bare), " " if _spaced(bare) else ",")


def _spaced(line: str) -> bool:
    """Whether a line consists of numbers separated by blanks, as `numpy.savetxt` writes them."""
    cells = line.split()
    return len(cells) > 1 and all(number_of(cell) is not None for cell in cells)


def split(line: str, delimiter: str) -> list[str]:
    """Returns the cells of a line as written, blanks and quotes included.

    Raises:
        ValueError: if the quotes are invalid.

    >>> split('"rack 2, left", 7', ",")
    ['"rack 2, left"', ' 7']
    """
    if delimiter == " ":
        cells = re.findall(r"\s*\S+", line)
        return [*cells[:1], *(cell[1:] for cell in cells[1:])]  # without the separating blank
    pieces = line.split(delimiter)
    if '"' not in line:
        return pieces
    texts = _parsed(line, delimiter)
    if len(texts) == len(pieces):
        return pieces
    # The parser does not report the positions of cells, but a cell whose text contains k delimiters
    # consists of k + 1 pieces.
    cells, end = [], 0
    for text in texts:
        begin, end = end, end + text.count(delimiter) + 1
        cells.append(delimiter.join(pieces[begin:end]))
    return cells


def _parsed(line: str, delimiter: str) -> list[str]:
    reader = csv.reader([line, ""], delimiter=delimiter, skipinitialspace=True)
    try:
        texts = next(reader)
    except csv.Error as problem:
        raise ValueError(str(problem)) from None
    if reader.line_num > 1:
        raise ValueError("a quote is not closed")
    return texts


def text_of(cell: str, delimiter: str) -> str:
    """Returns the text of a cell without the quotes and blanks around it.

    >>> text_of(' "the ""old"" rack" ', ",")
    'the "old" rack'
    """
    bare = cell.strip()
    if not bare.startswith('"'):
        return bare
    return next(csv.reader([bare], delimiter=delimiter))[0].strip()


def column_of(cells: Sequence[str], at: int) -> int:
    """Returns the column at which the text of a cell begins in its line, counted from 1."""
    before = sum(len(cell) + 1 for cell in cells[:at])
    return before + len(cells[at]) - len(cells[at].lstrip()) + 1


def number_of(cell: str) -> Number | None:
    """Returns the number in a cell; None if it is not a number."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return None


def remedy_of(cell: str, delimiter: str) -> str:
    """Returns the remedy for a cell that is not a number; empty if unknown.

    >>> remedy_of('"1,500"', ","), remedy_of("1,5", ";"), remedy_of("5 GB", ",")
    ('write 1500', 'write 1.5', 'write 5; --unit gives the size of one, like "1 GB"')
    """
    said = text_of(cell, delimiter)
    if number_of(said) is not None:
        return "leave out the quotes"
    grouped = re.fullmatch(r"[+-]?\d{1,3}([,' ]\d{3})+(\.\d+)?", said)
    if grouped is not None:
        return "write " + re.sub("[,' ]", "", said)
    if re.fullmatch(r"[+-]?\d+,\d+", said):
        return f"write {said.replace(',', '.')}"
    amount = re.fullmatch(r"([+-]?[\d.]+) ?([kKMGTP]?i?[bB])", said)
    if amount is not None and number_of(amount[1]) is not None:
        unit = amount[2] if amount[2] in UNITS else "MB"
        return f'write {amount[1]}; --unit gives the size of one, like "1 {unit}"'
    return ""


def is_name(cell: str) -> bool:
    """Whether a cell is a name: quoted, or not a number."""
    return bool(cell.strip()) and number_of(cell) is None
