"""Which column of a table is the source, the destination, the amount and the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lightloom.control.demand.long_or_matrix import role_of, unit_in
from lightloom.errors import ConfigError, refusal

ROLES = ("src", "dst", "bytes", "time", "sampling")
NODE = "node"
"""Of counters of interfaces, with `--estimate`: the label that names the node."""
NEEDED = ROLES[:3]


@dataclass(frozen=True)
class Layout:
    """How a kind of table calls its columns; case does not count."""

    title: str
    """What a table of this kind is called."""
    names: Mapping[str, tuple[str, ...]]
    """By role: the names that a column of it may have. `back` counts what came back,
    from destination to source, `sampling` of how many packets one is counted."""
    last: str = ""
    """The first cell of the line that ends the records; empty if there is none."""

    def fits(self, header: Sequence[str]) -> bool:
        """Whether a first line has all that is needed."""
        found = {cell.strip().lower() for cell in header}
        return all(found & {*map(str.lower, self.names[role])} for role in NEEDED)


@dataclass(frozen=True)
class Columns:
    """Where each role stands in a row; None for what is not there."""

    src: int
    dst: int
    bytes: int
    time: int | None = None
    back: int | None = None
    sampling: int | None = None

    @property
    def notes(self) -> list[str]:
        """What to know of records whose amounts are multiplied."""
        told = "bytes are multiplied by the sampling rate of each record"
        return [] if self.sampling is None else [told]


def asked(text: str | None) -> dict[str, str]:
    """What `--columns` says: the name of a column by its role.

    Raises:
        ConfigError: of `columns`.

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
    """The columns of a header; `named` of them as a user names them.

    Raises:
        ConfigError: if one is missing or there twice.
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
    """How to name the columns that are missing, from those without a role: the
    only one, or the one whose name says what is in it."""
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
    """Where a role stands: in the column that is named, or in the first of its own names
    that is there."""
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
