"""Transactions in the store: changes of a switch with their progress, and the cross-connects that
they created."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from lightloom.controller import schema
from lightloom.controller.database import DeposedError
from lightloom.controller.parts import changed_ports
from lightloom.controller.stuck import StuckLog
from lightloom.errors import refusal
from lightloom.switches.ports import Pair

LOOP = "controller"
"""The client name of the periodic reconciliation."""
OPEN = ("planned", "draining", "changing", "verifying")
"""States of a transaction that is not over."""
OVER = ("done", "undone", "stuck")
"""States of a transaction that is over; `stuck` needs an operator."""


@dataclass(frozen=True)
class Transaction:
    """A change of one switch and its progress."""

    id: int
    switch: str
    state: str
    who: str
    plan: Mapping[str, Any]
    """`before`, `removed`, `added`, `kept`, `given_up`, `dark`: lists of pairs; the cost of the
    change, the requests that it puts into effect, and the leases on which it depends."""
    reason: str
    created: float
    updated: float
    steps: Sequence[Mapping[str, Any]] = field(default_factory=list)
    """State and time of each step so far."""
    dark_s: float | None = None
    """How long cross-connects that the policy gives up were dark; None if none was."""
    dark_until: float | None = None
    """When that time ended [s since 1970]."""

    def pairs(self, name: str) -> list[Pair]:
        """A list of the plan as pairs."""
        return [(a, b) for a, b in self.plan.get(name, ())]


# Statements of each step, built once because building them takes longer than executing them.
_SELECT = select(schema.transaction).where(schema.transaction.c.id == bindparam("number"))
_UPDATE = update(schema.transaction).where(schema.transaction.c.id == bindparam("number"))
_UPDATE = _UPDATE.values(
    {
        name: bindparam(name)
        for name in ("state", "updated", "steps", "reason", "dark_s", "dark_until")
    }
)
_OWNED = select(schema.owned.c.a, schema.owned.c.b).where(schema.owned.c.switch == bindparam("on"))


class TransactionLog(StuckLog):
    """The log of transactions."""

    def plan(self, switch: str, plan: Mapping[str, Any], who: str) -> Transaction:
        """Records a transaction before anything is changed.

        Raises:
            ConfigError: if another transaction of the switch is not over.
        """
        table = schema.transaction
        now = self._clock()
        with self._write() as db:
            busy = select(table.c.id).filter_by(switch=switch).where(table.c.state.in_(OPEN))
            if (other := db.execute(busy).scalar()) is not None:
                limit = f"transaction {other} of this switch is not over"
                raise refusal("switch", switch, limit, "wait for it, or look at its alarm")
            steps = json.dumps([{"state": "planned", "at": now}])
            values: dict[str, Any] = {"switch": switch, "state": "planned", "who": who}
            values |= {"plan": (plan_text := json.dumps(plan)), "reason": "", "steps": steps}
            values |= {"created": now, "updated": now}
            number = db.execute(insert(table).values(**values)).inserted_primary_key
            assert number is not None
            body = {key: plan[key] for key in ("removed", "added") if key in plan}
            body |= {"transaction": number[0], "switch": switch}
            # The log contains only a hash of the rest of the plan, such as hundreds of kept
            # cross-connects.
            body["plan_sha256"] = hashlib.sha256(plan_text.encode()).hexdigest()
            self._record(db, who, "planned", body)
        return _transaction({"id": number[0], **values})

    def move(
        self,
        number: int,
        state: str,
        reason: str = "",
        before: str | None = None,
        dark_s: float = 0.0,
        dark: Collection[Pair] = (),
    ) -> Transaction:
        """Records the next state of a transaction before its step begins.

        Args:
            number: number of the transaction.
            state: the next one.
            reason: reason of the state.
            before: the state that it must be in.
            dark_s: how long cross-connects that the policy gives up were dark in the last step.
            dark: cross-connects of an undone transaction that are lit again and that traffic must
                not use, because they have no light.

        Raises:
            DeposedError: if it is in another state, because another controller continues it.
        """
        now = self._clock()
        with self._write() as db:
            row = db.execute(_SELECT, {"number": number}).one()._mapping
            if before is not None and row["state"] != before:
                raise DeposedError(f"transaction {number} is {row['state']}, not {before}")
            steps = [*json.loads(row["steps"]), {"state": state, "at": now, "reason": reason}]
            said = reason if reason or state == "done" else row["reason"]
            values = {"state": state, "updated": now, "steps": json.dumps(steps), "reason": said}
            values |= {"dark_s": row["dark_s"], "dark_until": row["dark_until"]}
            if dark_s > 0:
                values |= {"dark_s": (row["dark_s"] or 0.0) + dark_s, "dark_until": now}
            moved = _transaction({**row, **values})
            db.execute(_UPDATE, {"number": number, **values})
            if state in ("done", "stuck"):
                self._own(db, moved)
            if state in OVER:
                self._end(db, moved, dark)
            if state == "done":
                self._fulfil(db, moved.switch, moved.plan.get("due", ()))
            body = {"transaction": number, "switch": moved.switch, "reason": reason}
            self._record(db, moved.who, state, body)
        return moved

    def _upgrade(self, db: Connection, version: int) -> None:
        """Before version 6, a stuck transaction lasted until the next one that was done without a
        remark."""
        super()._upgrade(db, version)
        table = schema.transaction
        ends = select(table.c.switch, func.max(table.c.id)).filter_by(state="done", reason="")
        last = dict(map(tuple, db.execute(ends.group_by(table.c.switch)).all()))
        query = select(table).filter_by(state="stuck").order_by(table.c.id)
        for row in db.execute(query).all() if version < 6 else []:
            one = _transaction(row._mapping)
            if one.id > last.get(one.switch, 0):
                self._end(db, one, ())

    @classmethod
    def _end(cls, db: Connection, one: Transaction, dark: Collection[Pair]) -> None:
        """Records which ports are stuck after a transaction, and which circuits carry no
        traffic."""
        pairs = [*one.pairs("removed"), *one.pairs("added")]
        cls._keep_away(db, one.switch, pairs, pairs if one.state == "stuck" else dark)
        ports = changed_ports(one.pairs("added"), one.pairs("removed"))
        if one.state == "stuck":
            cls._stick(db, one.switch, one.id, ports)
        table = schema.stuck_port
        query = select(table.c.port).filter_by(switch=one.switch)
        if one.state == "done" and db.execute(query.limit(1)).first():
            cls._disown_dark(db, one)
            if one.who == LOOP:
                cls._unstick(db, one.switch, ports)
            else:
                db.execute(delete(table).filter_by(switch=one.switch))

    @staticmethod
    def _disown_dark(db: Connection, done: Transaction) -> None:
        """Ends the ownership of cross-connects that a stuck transaction should have lit and did
        not. If another client lights them later, they are adopted, and traffic enters them."""
        table = schema.owned
        owned = {(a, b) for a, b in db.execute(_OWNED, {"on": done.switch}).all()}
        for a, b in owned - {*done.pairs("before"), *done.pairs("added")}:
            db.execute(delete(table).filter_by(switch=done.switch, a=a, b=b))

    @staticmethod
    def _own(db: Connection, one: Transaction) -> None:
        """Records the cross-connects that a transaction of this store created."""
        table, added = schema.owned, one.pairs("added")
        gone = added if one.state == "stuck" else [*one.pairs("removed"), *added]
        if gone:
            where = (table.c.a == bindparam("a_port"), table.c.b == bindparam("b_port"))
            statement = delete(table).where(table.c.switch == one.switch, *where)
            db.execute(statement, [{"a_port": a, "b_port": b} for a, b in gone])
        if added:
            rows = [{"switch": one.switch, "a": a, "b": b} for a, b in added]
            db.execute(insert(table), rows)

    def adopt(self, switch: str, pairs: Collection[Pair], who: str) -> None:
        """Takes ownership of cross-connects that were lit before they were requested."""
        with self._write() as db:
            rows = [{"switch": switch, "a": a, "b": b} for a, b in pairs]
            db.execute(insert(schema.owned), rows)
            self._keep_away(db, switch, pairs, ())
            self._record(db, who, "adopted", {"switch": switch, "pairs": [*pairs]})

    def owned(self, switch: str) -> set[Pair]:
        """The cross-connects that transactions of this store created and none has removed since;
        those of a stuck transaction may be among them."""
        with self._read() as db:
            found = db.execute(_OWNED, {"on": switch}).all()
        return {*map(tuple, found)}

    def transactions(
        self, switch: str | None = None, states: Sequence[str] = (), limit: int = 100
    ) -> list[Transaction]:
        """The last transactions, newest first."""
        table = schema.transaction
        query = select(table).order_by(table.c.id.desc()).limit(limit)
        if switch is not None:
            query = query.filter_by(switch=switch)
        if states:
            query = query.where(table.c.state.in_(states))
        with self._read() as db:
            return [_transaction(row._mapping) for row in db.execute(query).all()]

    def unfinished(self, switch: str | None = None) -> list[Transaction]:
        """The transactions that are not over, newest first."""
        query = select(schema.transaction).where(schema.transaction.c.state.in_(OPEN))
        if switch is not None:
            query = query.filter_by(switch=switch)
        with self._read() as db:
            # Sorted here, because the database would search these few rows in the order of a long
            # history.
            found = [_transaction(row._mapping) for row in db.execute(query).all()]
        return sorted(found, key=lambda one: -one.id)

    def stuck(self, switch: str) -> list[Transaction]:
        """The stuck transactions of a switch with ports that no later change has settled, newest
        first."""
        table, port = schema.transaction, schema.stuck_port
        numbers = select(port.c.number).filter_by(switch=switch)
        query = select(table).where(table.c.id.in_(numbers)).order_by(table.c.id.desc())
        with self._read() as db:
            return [_transaction(row._mapping) for row in db.execute(query).all()]

    def outcomes(self, switch: str) -> dict[str, tuple[int, float]]:
        """The number of transactions of a switch in each state, and their total duration [s]."""
        table = schema.transaction
        length = func.sum(table.c.updated - table.c.created)
        query = select(table.c.state, func.count(), length).filter_by(switch=switch)
        with self._read() as db:
            rows = db.execute(query.group_by(table.c.state)).all()
        return {state: (count, float(seconds)) for state, count, seconds in rows}

    def dark_s(self, switch: str, since: float) -> float:
        """The dark time of cross-connects that the policy gave up, in its changes of a switch since
        a time [s]; a change that began before counts from that time on."""
        table = schema.transaction
        query = select(table.c.dark_s, table.c.dark_until).filter_by(switch=switch)
        with self._read() as db:
            found = db.execute(query.where(table.c.dark_until > since)).all()
        return float(sum(min(seconds, end - since) for seconds, end in found))

    def transaction(self, number: int) -> Transaction | None:
        """The transaction with a number."""
        with self._read() as db:
            row = db.execute(select(schema.transaction).filter_by(id=number)).first()
        return None if row is None else _transaction(row._mapping)


def _transaction(row: Mapping[Any, Any]) -> Transaction:
    return Transaction(**{**row, "plan": _plan(row["plan"]), "steps": json.loads(row["steps"])})


@lru_cache(maxsize=8)
def _plan(text: str) -> Mapping[str, Any]:
    """A plan, which each step of its transaction reads again."""
    plan: Mapping[str, Any] = json.loads(text)
    return plan
