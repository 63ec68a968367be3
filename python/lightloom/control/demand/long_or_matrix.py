"""Decides whether a table of numbers is the long form or a matrix: numbers of racks look like
demand.

If there is a first line, the names of its columns decide. Otherwise rows of three numbers may be
either, which is an error, because a plan for the wrong interpretation would connect the wrong
fibres.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lightloom.control.arrays import MAX_NODES, Numbers
from lightloom.control.cells import Number, number_of
from lightloom.errors import ConfigError
from lightloom.units.counts import counted

COLUMNS = 3
"""Columns of records that have only the required ones [count]."""
_OF = r"(rack|tor|node|host|server|switch|leaf|site|ip|ipv4|ipv6|addr|address|net|name|id)?"
_ENDS = {
    "src": "src|source|from|sender|origin|ingress",
    "dst": "dst|dest|destination|to|receiver|target|sink|egress",
}
_UNITS = "bytes?|octets?|bits?|[kmgtp]i?b|(kilo|mega|giga|tera|peta|kibi|mebi|gibi|tebi)bytes?"
_AMOUNT = f"volume|demand|traffic|amount|size|load|weight|{_UNITS}"
ROLES = {
    **{role: re.compile(f"{_OF}({names}){_OF}") for role, names in _ENDS.items()},
    "bytes": re.compile(f"(total|sum)?({_AMOUNT})({_UNITS})?"),
}
"""Patterns of column names, in lower case, that only records have, by role."""


def role_of(name: str) -> str | None:
    """Returns the role of a column with that name: "src", "dst" or "bytes"; None if the name does
    not show it.

    >>> role_of("Source Rack"), role_of("to"), role_of("demand_GB"), role_of("tor-1")
    ('src', 'dst', 'bytes', None)
    """
    bare = re.sub(r"[\s_./()\[\]-]", "", name.lower())
    return next((role for role, form in ROLES.items() if form.fullmatch(bare)), None)


def unit_in(name: str) -> str:
    """Returns the unit at the end of the name of an amount's column; empty for bytes.

    >>> unit_in("demand_GB"), unit_in("megabytes"), unit_in("volume")
    ('GB', 'MB', '')
    """
    bare = re.sub(r"[^a-z]", "", name.lower())
    found = re.fullmatch(rf"({_AMOUNT})*?(?P<unit>[kmgt])(ilo|ega|iga|era)?b(ytes?)?", bare)
    return f"{found['unit'].upper()}B" if found else ""


def names_records(
    header: Sequence[str], row: Sequence[str], *, labelled: bool | None = None
) -> bool:
    """Whether a first line names columns of records instead of nodes of a matrix.

    Args:
        header: the cells of the first line.
        row: the cells of the next line, which in a matrix may begin with a name.
        labelled: whether its first cell is the name of a row. Default: unless it is a number.

    >>> names_records(["src", "dst", "volume"], ["0", "1", "500"])
    True
    >>> names_records(["from", "a", "to"], ["to", "5", "0"])
    False
    """
    if len(header) < COLUMNS or (row and row[0] in header[1:]):
        return False
    found = {role_of(cell) for cell in header} - {None}
    if len(found) > 1:
        return True
    # A single word can be the corner above names of rows, but not above numbers.
    if labelled is None:
        labelled = not row or number_of(row[0]) is None
    return bool(found) and len(header) == COLUMNS and not labelled


def check_matrix(
    name: str, header: Sequence[str], rows: Sequence[Sequence[Number]] | Numbers, matrix: str = ""
) -> None:
    """Raises an error for rows of three numbers that could be records as well as a matrix, or that
    are not a matrix but could be records.

    Args:
        name: the name of the file in messages.
        header: names of its columns; empty if it has none.
        rows: its numbers, without names of rows.
        matrix: how the user states that it is a matrix.

    Raises:
        ConfigError: which states how to distinguish them.
    """
    if any(len(row) != COLUMNS for row in rows):
        return
    ends = _ends(rows)
    if not ends:
        return
    several = f"{counted(len(rows), 'line')} of {COLUMNS} numbers"
    long = "begin with src,dst,bytes"
    if header:
        told = ",".join(f"{r}={c}" for r, c in zip(("src", "dst", "bytes"), header, strict=False))
        long = f"give --columns {told}"
    if len(rows) != COLUMNS or any(rows[at][at] for at in range(COLUMNS)):
        limit = f"{several} are no matrix (as many lines as columns, 0 on the diagonal)"
        raise ConfigError(
            f"{name}: {limit}; {long} if they are records of sources and destinations"
        )
    if _are_racks(ends, [row[2] for row in rows]):
        limit = f"{several} are a matrix, or records of sources and destinations"
        raise ConfigError(f"{name}: {limit}; {matrix or 'say --format matrix'}, or {long}")


def _are_racks(ends: set[int], amounts: Sequence[Any]) -> bool:
    """Whether numbers may be those of racks: they are consecutive, or small compared with the
    numbers that would be the amounts."""
    least = min((amount for amount in amounts if amount), default=0)
    return ends == {*range(len(ends))} or max(ends) < least


def _ends(rows: Sequence[Sequence[Number]] | Numbers) -> set[int]:
    """The numbers of racks if rows are records; empty if they cannot be."""
    found: set[int] = set()
    for row in rows:
        for end in row[:2]:
            if not 0 <= end < MAX_NODES or end != int(end):
                return set()
            found.add(int(end))
        if row[0] == row[1]:
            return set()
    return found
