"""The cross-connects that operators and the policy request, in the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from lightloom.controller import schema
from lightloom.controller.claims import Claim, Claims
from lightloom.switches.ports import Pair


class Wanted(NamedTuple):
    """A requested cross-connect and its owner."""

    pair: Pair
    owner: str
    priority: int
    since: float


_TABLE = schema.intent.c
_INTENTS = (
    select(*_TABLE["a", "b", "owner", "priority", "since"])
    .where(_TABLE.switch == bindparam("on"))
    .order_by(_TABLE.priority.desc(), _TABLE.since, _TABLE.a, _TABLE.b)
)


class Intents(Claims):
    """Requested cross-connects, current and deferred, with their owners."""

    def intents(self, switch: str) -> list[Wanted]:
        """The requested cross-connects of a switch, in order of priority, the highest first."""
        with self._read() as db:
            rows = db.execute(_INTENTS, {"on": switch}).all()
        return [Wanted((a, b), *rest) for a, b, *rest in rows]

    def want(self, switch: str, owner: str, pairs: Sequence[Pair], priority: int, who: str) -> None:
        """Replaces the cross-connects that an owner requests on a switch."""
        with self._write() as db:
            self._want(db, switch, owner, pairs, priority, who)

    def want_now(
        self,
        switch: str,
        owner: str,
        pairs: Sequence[Pair],
        priority: int,
        who: str,
        claim: Claim | None = None,
    ) -> None:
        """Stores the requests, and ends the client's deferred request for the switch, in one
        database transaction."""
        with self._write() as db:
            self._claim(db, claim)
            self._want(db, switch, owner, pairs, priority, who)
            self._end_waiting(db, switch, who)

    def want_each(
        self,
        switch: str,
        requests: Mapping[str, tuple[list[Pair], int]],
        who: str,
        undone: int,
        claim: Claim | None = None,
    ) -> None:
        """Replaces the requests of several owners on a switch, with a priority each, in one
        database transaction; used when a client undoes a transaction."""
        with self._write() as db:
            self._claim(db, claim)
            self._record(db, who, "undo", {"switch": switch, "transaction": undone})
            for owner, (pairs, priority) in requests.items():
                self._want(db, switch, owner, pairs, priority, who)

    def defer(self, switch: str, who: str, claim: Claim | None = None, **values: Any) -> int:
        """Adds a deferred request, which replaces the client's earlier one for the switch."""
        with self._write() as db:
            self._end_waiting(db, switch, who)
            row = {"switch": switch, "client": who, **values}
            key = db.execute(insert(schema.deferred).values(**row)).inserted_primary_key
            assert key is not None
            self._claim(db, claim, key[0])
            self._record(db, who, "deferred", {**row, "key": list(key)})
        return int(key[0])

    def _end_waiting(self, db: Connection, switch: str, who: str) -> None:
        mine: dict[str, Any] = {"switch": switch, "client": who, "outcome": None}
        for row in db.execute(select(schema.deferred.c.id).filter_by(**mine)).all():
            self._end_deferred(db, row.id, "replaced", who)

    def _end_deferred(self, db: Connection, number: int, outcome: str, who: str) -> bool:
        """Ends a deferred request; returns whether it was open."""
        values = {"outcome": outcome, "ended": self._clock()}
        still_open = update(schema.deferred).filter_by(id=number, outcome=None)
        if not db.execute(still_open.values(**values)).rowcount:
            return False
        self._record(db, who, f"deferred {outcome}", {"id": number, **values})
        return True

    @staticmethod
    def _was_replaced_by_deferred(db: Connection, switch: str, number: int, who: str) -> bool:
        """Whether the client has replaced a deferred request by one that has not taken effect: the
        circuits of the former are then lit until that one begins."""
        table = schema.deferred.c
        outcome = db.execute(select(table.outcome).where(table.id == number)).scalar_one()
        later = select(table.id).filter_by(switch=switch, client=who, outcome=None)
        return outcome == "replaced" and db.execute(later).first() is not None

    def fulfil(self, switch: str, due: Sequence[Mapping[str, Any]]) -> None:
        """Puts the requests in the plan of a transaction (`requests.Due`) into effect, in one
        database transaction, except for deferred requests that have been replaced or withdrawn
        since."""
        with self._write() as db:
            self._fulfil(db, switch, due)

    def _fulfil(self, db: Connection, switch: str, due: Sequence[Mapping[str, Any]]) -> None:
        for one in due:
            number, who = one["deferred"], one["who"]
            if (
                number is None
                or self._end_deferred(db, number, "done", who)
                or self._was_replaced_by_deferred(db, switch, number, who)
            ):
                pairs = [(a, b) for a, b in one["pairs"]]
                self._want(db, switch, one["owner"], pairs, one["priority"], who)

    def _want(
        self,
        db: Connection,
        switch: str,
        owner: str,
        pairs: Sequence[Pair],
        priority: int,
        who: str,
    ) -> None:
        table = schema.intent
        mine: dict[str, Any] = {"switch": switch, "owner": owner}
        before = db.execute(select(table).filter_by(**mine)).all()
        since = {(row.a, row.b): row.since for row in before}
        if set(since) == set(pairs) and all(row.priority == priority for row in before):
            return
        db.execute(delete(table).filter_by(**mine))
        now = self._clock()
        rows = [
            {**mine, "a": a, "b": b, "priority": priority, "since": since.get((a, b), now)}
            for a, b in sorted({*pairs})
        ]
        if rows:
            db.execute(insert(table), rows)
        body = {"switch": switch, "owner": owner, "pairs": sorted({*pairs})}
        self._record(db, who, "intent", body)

    def leave(self, switch: str, owner: str, who: str) -> None:
        """Withdraws the request of an owner for a switch.

        Its cross-connects stay lit; they have no owner unless another owner requests them.
        """
        mine = {"switch": switch, "owner": owner}
        with self._write() as db:
            rows = db.execute(select(schema.intent).filter_by(**mine)).all()
            if not rows:
                return
            db.execute(delete(schema.intent).filter_by(**mine))
            for row in rows:
                db.execute(delete(schema.owned).filter_by(switch=switch, a=row.a, b=row.b))
            pairs = sorted((row.a, row.b) for row in rows)
            self._record(db, who, "left lit", {**mine, "pairs": pairs})
