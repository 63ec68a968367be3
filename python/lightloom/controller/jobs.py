"""Jobs on the racks: their accelerators, and the times of their checkpoints.

A job scheduler announces its jobs and their boundaries. Between two boundaries a circuit that goes
dark stops the whole job; at a boundary it costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, or_

from lightloom.controller import schema
from lightloom.controller.store import Store
from lightloom.errors import refusal
from lightloom.units.dates import utc

_JOB = schema.job.c
# Each alternative can be searched in the index of both columns.
_IS_OPEN = or_(
    _JOB.ended.is_(None) & _JOB.until.is_(None),
    _JOB.ended.is_(None) & (_JOB.until > bindparam("now")),
)
"""The condition of the jobs that have not ended."""


@dataclass(frozen=True)
class Job:
    """A job that runs on some racks."""

    name: str
    owner: str
    racks: Sequence[str]
    accelerators: int | None
    """Number of accelerators that stop if a circuit of these racks goes dark; None if unknown."""
    begins: float | None = None
    """Time of the job's next boundary [s since 1970]; None if none is announced."""
    ends: float | None = None
    """Time at which the job continues [s since 1970]."""
    until: float | None = None
    """Time at which it ends, unless it is announced again; None if only a request ends it."""

    def is_at_boundary(self, now: float, length_s: float = 0.0) -> bool:
        """Whether it is stopped from now on for at least `length_s`."""
        if self.begins is None or self.ends is None:
            return False
        return self.begins <= now and now + length_s <= self.ends

    def uses(self, racks: Collection[str]) -> bool:
        """Whether it runs on one of some racks."""
        return any(rack in racks for rack in self.racks)


def jobs(store: Store, now: float) -> list[Job]:
    """All jobs that have not ended, by their names."""
    rows = store.rows(schema.job, _IS_OPEN, now=now)
    keys = ("name", "owner", "accelerators", "begins", "ends", "until")
    return [Job(racks=json.loads(row["racks"]), **{key: row[key] for key in keys}) for row in rows]


def _has_ended(row: Mapping[str, Any], now: float) -> bool:
    return row["ended"] is not None or (row["until"] is not None and row["until"] <= now)


def announce(
    store: Store,
    name: str,
    owner: str,
    racks: Sequence[str],
    accelerators: int | None,
    now: float,
    until: float | None = None,
) -> Job:
    """Adds a job, or changes it; an announced boundary is kept.

    Args:
        store: the store.
        name: name of the job.
        owner: client that announces it.
        racks: racks on which it runs.
        accelerators: number of accelerators; None if unknown.
        now: seconds since 1970.
        until: time at which it ends, unless it is announced again.

    Raises:
        ConfigError: if the job belongs to another owner, or the time is over.
    """
    if until is not None and until <= now:
        limit = f"it is over: the time is {utc(now)}"
        raise refusal("until", utc(until), limit, "choose a later time")
    there = store.rows(schema.job, name=name)
    values: dict[str, Any] = {"racks": json.dumps([*racks]), "accelerators": accelerators}
    values["until"] = until
    if not there:
        store.add(schema.job, owner, "job", name=name, owner=owner, **values)
    else:
        if not _has_ended(there[0], now):
            _check_owner(there[0], owner)
        else:
            values |= {"begins": None, "ends": None, "ended": None}
        store.change(schema.job, owner, "job", {"name": name}, owner=owner, **values)
    return found(store, name, now)


def found(store: Store, name: str, now: float) -> Job:
    """The job with a name.

    Raises:
        ConfigError: if there is none, or it has ended.
    """
    named = [one for one in jobs(store, now) if one.name == name]
    if not named:
        raise refusal("job", name, "no such job", "announce it first")
    return named[0]


def set_boundary(
    store: Store,
    name: str,
    who: str,
    begins: float,
    ends: float,
    now: float,
    *,
    any_owner: bool = False,
) -> Job:
    """Announces when a job stands still; it replaces the boundary that was announced before.

    Args:
        store: the store.
        name: name of the job.
        who: client that announces it.
        begins, ends: the boundary [s since 1970].
        now: the time.
        any_owner: whether the job may be another owner's.

    Raises:
        ConfigError: if there is no such job, it is another owner's, or the times are not in order.
    """
    job = found(store, name, now)
    if not any_owner:
        _check_owner(vars(job), who)
    if not begins < ends:
        limit = f"must be after the start, {utc(begins)}"
        raise refusal("ends", utc(ends), limit, "choose a later time")
    store.change(schema.job, who, "boundary", {"name": name}, begins=begins, ends=ends)
    return found(store, name, now)


def end(store: Store, name: str, who: str, now: float, *, any_owner: bool = False) -> None:
    """Ends a job: no change waits for it any more.

    Args:
        store: the store.
        name: name of the job.
        who: client that ends it.
        now: seconds since 1970.
        any_owner: whether it may be another owner's, such as a scheduler that is gone.

    Raises:
        ConfigError: if there is no such job, or it is another owner's.
    """
    job = found(store, name, now)
    if not any_owner:
        _check_owner(vars(job), who)
    store.change(schema.job, who, "job ended", {"name": name}, ended=now)


def _check_owner(job: dict[str, Any], who: str) -> None:
    if job["owner"] != who:
        limit = f"{job['owner']} holds it"
        raise refusal("job", job["name"], limit, "choose another name, or use its token")
