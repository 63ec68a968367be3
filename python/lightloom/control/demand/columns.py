"""The columns of a table that hold source, destination, amount and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lightloom.control.demand.long_or_matrix import role_of, unit_in
from lightloom.errors import ConfigError, refusal

ROLES = ("src", "dst", "bytes", "time", "sampling")
NODE = "node"
"""The label that names the node of a counter, with `--estimate`."""
NEEDED = ROLES[:3]


@dataclass(frozen=True)
class Layout:
    """The column names of a kind of table; case is ignored."""

    title: str
    """The name of this kind of table."""
    names: Mapping[str, tuple[str, ...]]
    """Role → accepted column names.

    `back` counts bytes from destination to source; `sampling` is the sampling rate: one in this
    number of packets is counted.
    """
    last: str = ""
    """The first cell of the line that ends the records; empty if there is none."""

    def fits(self, header: Sequence[str]) -> bool:
        """Whether a first line has all required columns."""
        found = {cell.strip().lower() for cell in header}
        return all(found & {*map(str.lower, self.names[role])} for role in NEEDED)


@dataclass(frozen=True)
class Columns:
    """The index of each role's column in a row; None if the table does not have it."""

    src: int
    dst: int
    bytes: int
    time: int | None = None
    back: int | None = None
    sampling: int | None = None

    @property
    def notes(self) -> list[str]:
        """Notes for the user if amounts are multiplied by a sampling rate."""
        told = "bytes are multiplied by the sampling rate of each record"
        return [] if self.sampling is None else [told]


def asked(text: str | None) -> dict[str, str]:
    """Parses `--columns`: role → name of its column.

    Raises:
        ConfigError: if `columns` is invalid.

    >>> asked("src=from rack, bytes=octets")
    {'src': 'from rack', 'bytes': 'octets'}
    """
    found: dict[str, str] = {}
    for part in (text or "").split(",") if text is not None else []:
        role, equals, name = (piece.strip() for piece in part.partition("="))
        if not equals or not name or role not in (*ROLES, NODE):
            remedy = "write src=NAME,dst=NAME,bytes=NAME, and time=NAME where there is one"
            raise refusal("columns", text, f"`{part.strip()}` names no column", remedy)
        if role in found:
            raise refusal("columns", text, f"{role} comes twice", "name each column once")
        found[role] = name
    return found


def find(where: str, header: Sequence[str], layout: Layout, named: Mapping[str, str]) -> Columns:
    """Returns the columns of a header; `named` holds the roles whose columns the user names.

    Raises:
        ConfigError: if a column is missing or occurs twice.
    """
    at = {role: _place(where, header, layout, role, named.get(role)) for role in ROLES}
    back = None if named else _place(where, header, layout, "back", None)
    src, dst, amount = (at[role] for role in NEEDED)
    if src is None or dst is None or amount is None:
        role = next(role for role in NEEDED if at[role] is None)
        limit = f"no column `{role}`: it has {', '.join(f'`{cell}`' for cell in header)}"
        raise ConfigError(f"{where}: {limit}; name it, or give {_told(at, header)}")
    return Columns(src, dst, amount, at["time"], back, at["sampling"])


def _told(at: Mapping[str, int | None], header: Sequence[str]) -> str:
    """Suggests values for the missing columns: the only column without a role, or the one whose
    name fits."""
    told, unit = [], ""
    left = [cell for place, cell in enumerate(header) if place not in {*at.values()}]
    for role in (role for role in NEEDED if at[role] is None):
        alike = left if len(left) == 1 else [cell for cell in left if role_of(cell) == role]
        name = alike[0] if alike else "NAME"
        told.append(f"{role}={name}")
        unit = f" --unit {unit_in(name)}" if role == "bytes" and unit_in(name) else unit
    matrix = ", or --format matrix if they are nodes" if told and len(header) == len(NEEDED) else ""
    return f"--columns {','.join(told)}{unit}{matrix}"


def _place(
    where: str, header: Sequence[str], layout: Layout, role: str, name: str | None
) -> int | None:
    """Returns the index of a role's column: the one that the user names, or the first accepted name
    in the header."""
    for wanted in [name] if name is not None else layout.names.get(role, ()):
        places = [at for at, cell in enumerate(header) if cell.lower() == str(wanted).lower()]
        if len(places) > 1:
            raise ConfigError(f"{where}: two columns are called `{wanted}`; name each column once")
        if places:
            return places[0]
    if name is not None:
        there = ", ".join(f"`{cell}`" for cell in header)
        raise refusal("columns", f"{role}={name}", f"{where} has {there}", "name one of these")
    return None
