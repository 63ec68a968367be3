"""Requests that take effect later: at a time, or at a checkpoint of the jobs that they interrupt.

A client has at most one such request for a switch. It is open until a transaction has carried it
out, its client has sent another request, or it is withdrawn.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lightloom.controller import schema
from lightloom.controller.claims import Claim
from lightloom.controller.store import Store
from lightloom.errors import ConfigError, refusal
from lightloom.switches.ports import Pair
from lightloom.units.dates import utc

CHECKPOINT = "at checkpoint"
Outcome = Literal["done", "replaced", "withdrawn"]


@dataclass(frozen=True)
class Deferred:
    """A request that has not taken effect."""

    id: int
    switch: str
    who: str
    """The client that requested it."""
    pairs: Sequence[Pair]
    """All cross-connects that this client then requests."""
    priority: int
    at: float | None
    """Time at which it begins [s since 1970]; None if it begins at a checkpoint."""
    created: float

    @property
    def when(self) -> str | float:
        """The time in the form that the client sent."""
        return CHECKPOINT if self.at is None else self.at

    def is_due(self, now: float, waits_for: Sequence[str]) -> bool:
        """Whether it may begin now; `waits_for` has the jobs that its change would stop."""
        return not waits_for if self.at is None else self.at <= now


def waiting(store: Store, switch: str | None = None) -> list[Deferred]:
    """All open requests, oldest first."""
    where: dict[str, Any] = {"outcome": None}
    if switch is not None:
        where["switch"] = switch
    return [_deferred(row) for row in store.rows(schema.deferred, **where)]


def defer(
    store: Store,
    switch: str,
    who: str,
    pairs: Sequence[Pair],
    priority: int,
    at: float | None,
    now: float,
    claim: Claim | None = None,
) -> Deferred:
    """Stores a deferred request, which replaces the client's earlier one for the switch. Returns
    the stored one if the same HTTP request has stored it before.

    Raises:
        ConfigError: if the time is over.
    """
    if claim is not None and claim.made is not None:
        return _numbered(store, claim.made)
    if at is not None and at <= now:
        limit = f"it is over: the time is {utc(now)}"
        raise refusal("when", utc(at), limit, 'choose a later time, or "now"')
    text = json.dumps(sorted({*pairs}))
    values = {"pairs": text, "priority": priority, "at": at, "created": now}
    return _numbered(store, store.defer(switch, who, claim, **values))


def end(store: Store, number: int, who: str, outcome: Outcome, now: float) -> None:
    """Ends an open request.

    Raises:
        ConfigError: if it is not open, for example because a pass has carried it out meanwhile.
    """
    where = {"id": number, "outcome": None}
    what = f"deferred {outcome}"
    if not store.change(schema.deferred, who, what, where, outcome=outcome, ended=now):
        raise _not_waiting(number)


def found(store: Store, number: int) -> Deferred:
    """The open request with a number.

    Raises:
        ConfigError: if there is none.
    """
    named = [one for one in waiting(store) if one.id == number]
    if not named:
        raise _not_waiting(number)
    return named[0]


def _not_waiting(number: int) -> ConfigError:
    remedy = "list them with lightloom circuits get"
    return refusal("deferred", number, "no such change is waiting", remedy)


def _numbered(store: Store, number: int) -> Deferred:
    return _deferred(store.rows(schema.deferred, id=number)[0])


def _deferred(row: dict[str, Any]) -> Deferred:
    pairs = [(a, b) for a, b in json.loads(row["pairs"])]
    keys = ("id", "switch", "priority", "at", "created")
    return Deferred(who=row["client"], pairs=pairs, **{key: row[key] for key in keys})
