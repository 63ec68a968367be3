"""Jobs on the racks: how many accelerators each has, and when it is at a checkpoint.

A job scheduler announces its jobs and their boundaries. Between two boundaries a circuit that goes
dark stops the whole job; at a boundary it costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.controller import schema
from lightloom.controller.store import Store
from lightloom.errors import refusal


@dataclass(frozen=True)
class Job:
    """A job that runs on some racks."""

    name: str
    owner: str
    racks: Sequence[str]
    accelerators: int | None
    """How many stop if a circuit of these racks goes dark; None: unknown."""
    begins: float | None = None
    """When it is at its boundary [s since 1970]; None: no boundary is announced."""
    ends: float | None = None
    """When it goes on."""

    def is_at_boundary(self, now: float, length_s: float = 0.0) -> bool:
        """Whether it stands still from now on for so long."""
        if self.begins is None or self.ends is None:
            return False
        return self.begins <= now and now + length_s <= self.ends

    def uses(self, racks: Collection[str]) -> bool:
        """Whether one of some racks is one of its racks."""
        return any(rack in racks for rack in self.racks)


def jobs(store: Store) -> list[Job]:
    """All jobs that have not ended, by their names."""
    rows = [row for row in store.rows(schema.job) if row["ended"] is None]
    keys = ("name", "owner", "accelerators", "begins", "ends")
    return [Job(racks=json.loads(row["racks"]), **{key: row[key] for key in keys}) for row in rows]


def announce(
    store: Store, name: str, owner: str, racks: Sequence[str], accelerators: int | None
) -> Job:
    """Adds a job, or changes its racks and accelerators; a boundary that was announced stays.

    Raises:
        ConfigError: if the job is another owner's.
    """
    there = store.rows(schema.job, name=name)
    values: dict[str, Any] = {"racks": json.dumps([*racks]), "accelerators": accelerators}
    if not there:
        store.add(schema.job, owner, "job", name=name, owner=owner, **values)
    else:
        if there[0]["ended"] is None:
            _check_owner(there[0], owner)
        else:
            values |= {"begins": None, "ends": None, "ended": None}
        store.change(schema.job, owner, "job", {"name": name}, owner=owner, **values)
    return found(store, name)


def found(store: Store, name: str) -> Job:
    """The job of a name.

    Raises:
        ConfigError: if there is none, or it has ended.
    """
    named = [one for one in jobs(store) if one.name == name]
    if not named:
        raise refusal("job", name, "no such job", "announce it first")
    return named[0]


def set_boundary(store: Store, name: str, who: str, begins: float, ends: float) -> Job:
    """Announces when a job stands still; it replaces the boundary that was announced before.

    Raises:
        ConfigError: if there is no such job, it is another owner's, or the times are not in order.
    """
    _check_owner(vars(found(store, name)), who)
    if not begins < ends:
        raise refusal("ends", ends, f"must be after the start, {begins}", "choose a later time")
    store.change(schema.job, who, "boundary", {"name": name}, begins=begins, ends=ends)
    return found(store, name)


def end(store: Store, name: str, who: str, now: float, *, any_owner: bool = False) -> None:
    """Ends a job: no change waits for it any more.

    Args:
        store: the store.
        name: of the job.
        who: ends it.
        now: seconds since 1970.
        any_owner: whether it may be another owner's, such as a scheduler that is gone.

    Raises:
        ConfigError: if there is no such job, or it is another owner's.
    """
    job = found(store, name)
    if not any_owner:
        _check_owner(vars(job), who)
    store.change(schema.job, who, "job ended", {"name": name}, ended=now)


def _check_owner(job: dict[str, Any], who: str) -> None:
    if job["owner"] != who:
        limit = f"{job['owner']} holds it"
        raise refusal("job", job["name"], limit, "choose another name, or use its token")
