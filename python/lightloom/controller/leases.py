"""Leases: two racks are connected for an owner from one time to another.

A lease is refused if one of its racks is leased at the same time, unless the new lease has a higher
priority; then the other lease is not served while the two overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, and_, bindparam, or_

from lightloom.controller import schema
from lightloom.controller.claims import Claim
from lightloom.controller.store import Store
from lightloom.errors import refusal
from lightloom.units.dates import utc

MOST_PRIORITY = 100


@dataclass(frozen=True)
class Lease:
    """A reservation."""

    id: int
    switch: str
    racks: tuple[str, str]
    owner: str
    priority: int
    begins: float
    ends: float
    released: float | None

    @property
    def until(self) -> float:
        """Time at which the lease ends or ended [s since 1970]."""
        return self.ends if self.released is None else min(self.ends, self.released)

    def is_active(self, now: float) -> bool:
        """Whether its racks are to be connected at a time."""
        return self.begins <= now < self.until

    def overlaps(self, begins: float, ends: float) -> bool:
        """Whether it is active at some time in an interval."""
        return self.begins < ends and begins < self.until


Asked = tuple[str, tuple[str, str], int, float, float]
"""Switch, racks, priority, begin and end of a lease."""


def _is_left(now: Any) -> ColumnElement[bool]:
    """The condition of the leases that are not over at a time."""
    table = schema.lease.c
    return and_(table.ends > now, or_(table.released.is_(None), table.released > now))


_IS_LEFT = _is_left(bindparam("now"))


def leases(store: Store, now: float, switch: str | None = None) -> list[Lease]:
    """The leases that are not over, oldest first."""
    where: dict[str, Any] = {} if switch is None else {"switch": switch}
    return [_lease(row) for row in store.rows(schema.lease, _IS_LEFT, now=now, **where)]


def _lease(row: Mapping[str, Any]) -> Lease:
    return Lease(
        row["id"],
        row["switch"],
        (row["rack_a"], row["rack_b"]),
        row["owner"],
        row["priority"],
        row["begins"],
        row["ends"],
        row["released"],
    )


def reserve(
    store: Store,
    switch: str,
    racks: tuple[str, str],
    owner: str,
    priority: int,
    begins: float,
    ends: float,
    claim: Claim | None = None,
) -> Lease:
    """Adds a lease; returns the existing one if the same HTTP request has added it before.

    Raises:
        ConfigError: for the same rack twice, for times in the wrong order, or for a rack that
            another lease holds; names the owner and the time at which the rack is free.
    """
    if claim is not None and claim.made is not None:
        return _numbered(store, claim.made)
    asked = (switch, racks, priority, begins, ends)
    _check_values(*asked[1:])
    check = partial(_check_others, asked)
    values: dict[str, Any] = {"switch": switch, "rack_a": racks[0], "rack_b": racks[1]}
    values |= {"owner": owner, "priority": priority, "begins": begins, "ends": ends}
    beside = _is_left(begins)
    add = partial(
        store.add, schema.lease, owner, "reserve", check=check, beside=beside, claim=claim
    )
    return _numbered(store, add(**values))


def check_lease(
    store: Store,
    switch: str,
    racks: tuple[str, str],
    priority: int,
    begins: float,
    ends: float,
) -> None:
    """Refuses a lease as `reserve` does; adds none.

    Raises:
        ConfigError: as `reserve`.
    """
    _check_values(racks, priority, begins, ends)
    rows = store.rows(schema.lease, _IS_LEFT, now=begins, switch=switch)
    _check_others((switch, racks, priority, begins, ends), rows)


def _check_values(racks: tuple[str, str], priority: int, begins: float, ends: float) -> None:
    if racks[0] == racks[1]:
        raise refusal("racks", racks[0], "a circuit joins two racks", "name another one")
    if not begins < ends:
        limit = f"must be after the start, {utc(begins)}"
        raise refusal("ends", utc(ends), limit, "choose a later time")
    if not 0 <= priority <= MOST_PRIORITY:
        limit = f"must be 0 to {MOST_PRIORITY}"
        raise refusal("priority", priority, limit, "correct it")


def _check_others(asked: Asked, rows: Sequence[Mapping[str, Any]]) -> None:
    switch, racks, priority, begins, ends = asked
    listed = [_lease(row) for row in rows if row["switch"] == switch]
    others = [one for one in listed if {*racks} & {*one.racks}]
    above = [one for one in others if one.priority >= priority]
    holding = [one for one in above if one.overlaps(begins, ends)]
    if holding:
        first, most = min(holding, key=lambda one: one.id), max(one.priority for one in holding)
        limit = f"{first.owner} holds it (lease {first.id}) until {utc(first.until)}"
        remedy = f"begin at {utc(_free_from(above, begins, ends))} or later"
        if most < MOST_PRIORITY:
            remedy += f", or use a priority above {most}"
        raise refusal("rack", min({*racks} & {*first.racks}), limit, remedy)


def _free_from(others: Sequence[Lease], begins: float, ends: float) -> float:
    """The first time at which a lease of the same length overlaps none of some others."""
    length = ends - begins
    while overlapping := [one.until for one in others if one.overlaps(begins, begins + length)]:
        begins = max(overlapping)
    return begins


def _numbered(store: Store, number: int) -> Lease:
    return _lease(store.rows(schema.lease, id=number)[0])


def release(store: Store, number: int, who: str, now: float) -> None:
    """Ends a lease.

    Raises:
        ConfigError: if there is no such lease, or it has ended.
    """
    rows = store.rows(schema.lease, id=number)
    if not rows or not (found := _lease(rows[0])).until > now:
        limit = "no such lease" if not rows else f"it ended at {utc(found.until)}"
        raise refusal("lease", number, limit, "list them with lightloom circuits get")
    store.change(schema.lease, who, "release", {"id": number}, released=now)
