"""Whether a table is the long form or a matrix, where its rows alone do not tell: racks
that are called by numbers look like demand.

A first line decides by the names of its columns. Without one, three numbers a line may be
either, and nothing is guessed: a plan for the other one would be of wrong fibres.
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
"""Of records that name no more than they need [count]."""
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
"""Names of columns that no racks have, in small letters alone, by what is in them."""


def role_of(name: str) -> str | None:
    """What is in a column of that name: "src", "dst" or "bytes"; None if it does not say.

    >>> role_of("Source Rack"), role_of("to"), role_of("demand_GB"), role_of("tor-1")
    ('src', 'dst', 'bytes', None)
    """
    bare = re.sub(r"[\s_./()\[\]-]", "", name.lower())
    return next((role for role, form in ROLES.items() if form.fullmatch(bare)), None)


def unit_in(name: str) -> str:
    """The unit that the name of an amount's column ends in, if it is not the byte.

    >>> unit_in("demand_GB"), unit_in("megabytes"), unit_in("volume")
    ('GB', 'MB', '')
    """
    bare = re.sub(r"[^a-z]", "", name.lower())
    found = re.fullmatch(rf"({_AMOUNT})*?(?P<unit>[kmgt])(ilo|ega|iga|era)?b(ytes?)?", bare)
    return f"{found['unit'].upper()}B" if found else ""


def names_records(
    header: Sequence[str], row: Sequence[str], *, labelled: bool | None = None
) -> bool:
    """Whether a first line names columns of records, and not nodes of a matrix.

    Args:
        header: its cells.
        row: those of the next line, which in a matrix may begin with one of these names.
        labelled: whether that is the name of a row; it is one unless it is a number.

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
    # One word may be the corner above names of rows, but not above numbers.
    if labelled is None:
        labelled = not row or number_of(row[0]) is None
    return bool(found) and len(header) == COLUMNS and not labelled


def check_matrix(
    name: str, header: Sequence[str], rows: Sequence[Sequence[Number]] | Numbers, matrix: str = ""
) -> None:
    """Refuses rows of three numbers that are records as well as a matrix, or no matrix at
    all where they could be records.

    Args:
        name: what messages call the file.
        header: names of its columns; empty if it has none.
        rows: its numbers, without names of rows.
        matrix: how to say that it is a matrix.

    Raises:
        ConfigError: that says how to tell.
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
    """Whether numbers may be those of racks: they leave none out, or are small beside what
    would be their amounts."""
    least = min((amount for amount in amounts if amount), default=0)
    return ends == {*range(len(ends))} or max(ends) < least


def _ends(rows: Sequence[Sequence[Number]] | Numbers) -> set[int]:
    """The numbers of racks, if rows are records; none if they cannot be."""
    found: set[int] = set()
    for row in rows:
        for end in row[:2]:
            if not 0 <= end < MAX_NODES or end != int(end):
                return set()
            found.add(int(end))
        if row[0] == row[1]:
            return set()
    return found
