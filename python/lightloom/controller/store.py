"""The store: everything that must survive a crash, in SQLite or in PostgreSQL.

Each public method is one database transaction. A method that writes takes the fencing token of
the controller's role: a controller that lost the role cannot write.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    bindparam,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from lightloom.controller import schema
from lightloom.errors import refusal
from lightloom.switches.ports import Pair

OPEN = ("planned", "draining", "changing", "verifying")
"""States of a transaction that is not over."""
OVER = ("done", "undone", "stuck")
"""States of a transaction that is over; `stuck` needs an operator."""
FIRST_HASH = "0" * 64
ROLE = "controller"


class DeposedError(Exception):
    """Another controller holds the role: this one must not write."""


@dataclass(frozen=True)
class Wanted:
    """A wanted cross-connect and its owner."""

    pair: Pair
    owner: str
    priority: int
    since: float


@dataclass(frozen=True)
class Transaction:
    """A change of one switch and its progress."""

    id: int
    switch: str
    state: str
    who: str
    plan: Mapping[str, Any]
    """`before`, `removed`, `added`, `kept`, `away`: lists of pairs; what it costs and makes due."""
    reason: str
    created: float
    updated: float
    steps: Sequence[Mapping[str, Any]] = field(default_factory=list)
    """State and time of each step so far."""

    def pairs(self, name: str) -> list[Pair]:
        """A list of the plan as pairs."""
        return [(a, b) for a, b in self.plan.get(name, ())]


IDLE_MS = 5_000
"""PostgreSQL ends a session that stays idle in a transaction for longer [ms]: the lock of a
controller that was stopped there would keep the others from taking over."""


def _ended(problem: DBAPIError) -> bool:
    """Whether the database ended the session, by itself or because it was idle: with its code
    25P03, or, where the connection was closed before that could be read, without any."""
    code = getattr(problem.orig, "sqlstate", "")
    return problem.connection_invalidated or code in (None, "25P03")


class Store:
    """A database of one or several controllers."""

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        """Opens a store; its tables are created if there are none.

        Args:
            url: `sqlite:///PATH`, `sqlite://` (in memory), or of PostgreSQL.
            clock: seconds since 1970.

        Raises:
            ConfigError: if it cannot be opened, or is of a newer version.
        """
        self._clock = clock
        self._lock = threading.RLock()
        self.fence: int | None = None
        """The token of the role that this controller holds; None: the role is not checked."""
        try:
            self._engine = _engine(url)
            self._writing = self._engine.execution_options(writes=True)
            schema.metadata.create_all(self._engine)
            self._add_columns()
            for index in schema.transaction.indexes:
                # A store of an earlier release has the table without the newer index.
                index.create(self._engine, checkfirst=True)
            self._check_version(url)
        except SQLAlchemyError as problem:
            said = str(problem.__cause__ or problem).splitlines()[0]
            raise refusal("store", url, said, "name a file or a database") from None

    def _add_columns(self) -> None:
        """A store of an earlier release has tables without the newer columns."""
        for table in schema.metadata.sorted_tables:
            there = {column["name"] for column in inspect(self._engine).get_columns(table.name)}
            for column in table.columns:
                if column.name not in there:
                    kind = column.type.compile(self._engine.dialect)
                    once = "IF NOT EXISTS" if self._engine.dialect.name == "postgresql" else ""
                    with self._engine.begin() as db:
                        line = f"ALTER TABLE {table.name} ADD COLUMN {once} {column.name} {kind}"
                        db.execute(text(line))

    def _check_version(self, url: str) -> None:
        with self._engine.begin() as db:
            row = db.execute(select(schema.meta.c.value).filter_by(key="version")).first()
            if row is None:
                db.execute(insert(schema.meta).values(key="version", value=str(schema.VERSION)))
            elif int(row[0]) > schema.VERSION:
                limit = f"it has version {row[0]}, and this Lightloom reads up to {schema.VERSION}"
                raise refusal("store", url, limit, "install a newer Lightloom")
            elif int(row[0]) < schema.VERSION:
                here = update(schema.meta).filter_by(key="version")
                db.execute(here.values(value=str(schema.VERSION)))

    @contextmanager
    def _read(self) -> Iterator[Connection]:
        with self._lock, self._engine.begin() as db:
            yield db

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        try:
            with self._fenced() as db:
                yield db
        except DBAPIError as problem:
            if not _ended(problem):
                raise
            raise DeposedError("the database ended the session of this controller") from problem

    @contextmanager
    def _fenced(self) -> Iterator[Connection]:
        with self._lock, self._writing.begin() as db:
            if self.fence is not None:
                statement = select(schema.role.c.fence).filter_by(name=ROLE)
                # The row stays locked until this transaction is over.
                held = db.execute(statement.with_for_update()).scalar_one_or_none()
                if held != self.fence:
                    raise DeposedError("another controller holds the role")
            yield db

    def check_role(self, fence: int | None) -> None:
        """Refuses unless this controller holds the role with that token, and its time is not over.

        Raises:
            DeposedError: if another one may hold it.
        """
        if fence is None:
            return
        with self._read() as db:
            row = db.execute(select(schema.role).filter_by(name=ROLE)).first()
        if row is None or row.fence != fence or self.fence != fence or row.until <= self._clock():
            raise DeposedError("another controller holds the role, or may take it now")

    def is_active(self) -> bool:
        """Whether this controller holds the role, and its time is not over."""
        try:
            self.check_role(self.fence)
        except DeposedError:
            return False
        return True

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    # Intents

    def intents(self, switch: str) -> list[Wanted]:
        """The wanted cross-connects of a switch, those of the highest priority first."""
        table = schema.intent
        order = (table.c.priority.desc(), table.c.since, table.c.a, table.c.b)
        with self._read() as db:
            rows = db.execute(select(table).filter_by(switch=switch).order_by(*order)).all()
        return [Wanted((row.a, row.b), row.owner, row.priority, row.since) for row in rows]

    def want(self, switch: str, owner: str, pairs: Sequence[Pair], priority: int, who: str) -> None:
        """Replaces the cross-connects that an owner wants on a switch."""
        with self._write() as db:
            self._want(db, switch, owner, pairs, priority, who)

    def want_now(
        self, switch: str, owner: str, pairs: Sequence[Pair], priority: int, who: str
    ) -> None:
        """The same, and ends what this client has waiting for the switch: both or neither."""
        with self._write() as db:
            self._want(db, switch, owner, pairs, priority, who)
            self._end_waiting(db, switch, who)

    def want_each(
        self, switch: str, wishes: Mapping[str, tuple[list[Pair], int]], who: str
    ) -> None:
        """Replaces what several owners want on a switch, with a priority each: all or nothing."""
        with self._write() as db:
            for owner, (pairs, priority) in wishes.items():
                self._want(db, switch, owner, pairs, priority, who)

    def defer(self, switch: str, who: str, **values: Any) -> int:
        """Adds a deferred wish instead of the one that this client has for the switch, if any."""
        with self._write() as db:
            self._end_waiting(db, switch, who)
            row = {"switch": switch, "client": who, **values}
            key = db.execute(insert(schema.deferred).values(**row)).inserted_primary_key
            assert key is not None
            self._record(db, who, "deferred", {**row, "key": list(key)})
        return int(key[0])

    def _end_waiting(self, db: Connection, switch: str, who: str) -> None:
        mine: dict[str, Any] = {"switch": switch, "client": who, "outcome": None}
        for row in db.execute(select(schema.deferred.c.id).filter_by(**mine)).all():
            self._end_deferred(db, row.id, "replaced", who)

    def _end_deferred(self, db: Connection, number: int, outcome: str, who: str) -> bool:
        """Ends a deferred wish; whether it was open."""
        values = {"outcome": outcome, "ended": self._clock()}
        still_open = update(schema.deferred).filter_by(id=number, outcome=None)
        if not db.execute(still_open.values(**values)).rowcount:
            return False
        self._record(db, who, f"deferred {outcome}", {"id": number, **values})
        return True

    def fulfil(self, switch: str, due: Sequence[Mapping[str, Any]]) -> None:
        """Wishes take effect, as the plan of a transaction holds them (`wishes.Due`): all or
        nothing. A deferred one that was replaced or withdrawn meanwhile does not."""
        with self._write() as db:
            self._fulfil(db, switch, due)

    def _fulfil(self, db: Connection, switch: str, due: Sequence[Mapping[str, Any]]) -> None:
        for one in due:
            number, who = one["deferred"], one["who"]
            if number is None or self._end_deferred(db, number, "done", who):
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
        """Withdraws what an owner wants on a switch; its cross-connects stay lit, and belong to
        nobody unless somebody else wants them."""
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

    # Transactions

    def plan(self, switch: str, plan: Mapping[str, Any], who: str) -> Transaction:
        """Writes a transaction down before anything is touched.

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
            values |= {"plan": json.dumps(plan), "reason": "", "steps": steps}
            values |= {"created": now, "updated": now}
            number = db.execute(insert(table).values(**values)).inserted_primary_key
            assert number is not None
            self._record(db, who, "planned", {"transaction": number[0], "switch": switch, **plan})
        return _transaction({"id": number[0], **values})

    def move(
        self, number: int, state: str, reason: str = "", before: str | None = None
    ) -> Transaction:
        """Writes the next state of a transaction down, before its step begins.

        Args:
            number: of the transaction.
            state: the next one.
            reason: why.
            before: the state that it must be in.

        Raises:
            DeposedError: if it is in another state: another controller goes on with it.
        """
        table = schema.transaction
        now = self._clock()
        with self._write() as db:
            row = db.execute(select(table).filter_by(id=number)).one()._mapping
            if before is not None and row["state"] != before:
                raise DeposedError(f"transaction {number} is {row['state']}, not {before}")
            steps = [*json.loads(row["steps"]), {"state": state, "at": now, "reason": reason}]
            values = {"state": state, "updated": now, "steps": json.dumps(steps)}
            if reason:
                values["reason"] = reason
            db.execute(update(table).filter_by(id=number).values(**values))
            moved = _transaction({**row, **values})
            if state in ("done", "stuck"):
                self._own(db, moved)
            if state == "done":
                self._fulfil(db, moved.switch, moved.plan.get("due", ()))
            body = {"transaction": number, "switch": moved.switch, "reason": reason}
            self._record(db, moved.who, state, body)
        return moved

    @staticmethod
    def _own(db: Connection, one: Transaction) -> None:
        """Keeps which cross-connects this store's transactions created."""
        table, added = schema.owned, one.pairs("added")
        gone = added if one.state == "stuck" else [*one.pairs("removed"), *added]
        if gone:
            where = (table.c.a == bindparam("a_port"), table.c.b == bindparam("b_port"))
            statement = delete(table).where(table.c.switch == one.switch, *where)
            db.execute(statement, [{"a_port": a, "b_port": b} for a, b in gone])
        if added:
            rows = [{"switch": one.switch, "a": a, "b": b} for a, b in added]
            db.execute(insert(table), rows)

    def adopt(self, switch: str, pairs: Sequence[Pair], who: str) -> None:
        """Takes over cross-connects that were lit before they were requested."""
        with self._write() as db:
            rows = [{"switch": switch, "a": a, "b": b} for a, b in pairs]
            db.execute(insert(schema.owned), rows)
            self._record(db, who, "adopted", {"switch": switch, "pairs": [*pairs]})

    def owned(self, switch: str) -> set[Pair]:
        """Cross-connects that transactions of this store created and none removed since; those
        of a stuck transaction may be there, too."""
        table = schema.owned
        with self._read() as db:
            found = db.execute(select(table.c.a, table.c.b).filter_by(switch=switch)).all()
        return {(a, b) for a, b in found}

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

    def stuck(self, switch: str) -> list[Transaction]:
        """The stuck transactions of a switch since the last that is done, newest first."""
        table = schema.transaction
        done = select(func.max(table.c.id)).filter_by(switch=switch, state="done").scalar_subquery()
        query = select(table).filter_by(switch=switch, state="stuck")
        query = query.where(table.c.id > func.coalesce(done, 0)).order_by(table.c.id.desc())
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

    def busy_s(self, switch: str, since: float) -> float:
        """The total duration of the transactions of a switch since a time [s]; of one that began
        before, the part since then."""
        table = schema.transaction
        query = select(table.c.created, table.c.updated).filter_by(switch=switch)
        with self._read() as db:
            spans = db.execute(query.where(table.c.updated > since)).all()
        return float(sum(end - max(begin, since) for begin, end in spans))

    def transaction(self, number: int) -> Transaction | None:
        """The transaction of a number."""
        with self._read() as db:
            row = db.execute(select(schema.transaction).filter_by(id=number)).first()
        return None if row is None else _transaction(row._mapping)

    # Leases, tokens, answers: rows, as their modules make them

    def rows(self, table: Any, **where: Any) -> list[dict[str, Any]]:
        """Rows of a table, oldest first."""
        with self._read() as db:
            found = db.execute(select(table).filter_by(**where).order_by(*table.primary_key)).all()
        return [dict(row._mapping) for row in found]

    def add(
        self,
        table: Any,
        who: str,
        what: str,
        /,
        check: Callable[[Sequence[Mapping[str, Any]]], None] = lambda _: None,
        **values: Any,
    ) -> Any:
        """Adds a row and an audit record; returns the row's key.

        Args:
            table: of the row.
            who, what: of the record.
            check: refuses the rows that are there by raising; no other is added meanwhile.
            values: of the row.

        Raises:
            ConfigError: if there is one with the same key.
        """
        try:
            with self._write() as db:
                self._one_writer(db)
                check([dict(row._mapping) for row in db.execute(select(table)).all()])
                key = db.execute(insert(table).values(**values)).inserted_primary_key
                hidden = {k: v for k, v in values.items() if k not in ("hash", "body")}
                self._record(db, who, what, {**hidden, "key": list(key or [])})
        except IntegrityError:
            name = next(iter(values.values()))
            raise refusal(table.name, name, "there is one already", "choose another") from None
        return key[0] if key else None

    def change(
        self, table: Any, who: str, what: str, where: Mapping[str, Any], **values: Any
    ) -> int:
        """Changes rows and adds an audit record; returns how many."""
        with self._write() as db:
            count = db.execute(update(table).filter_by(**where).values(**values)).rowcount
            if count:
                self._record(db, who, what, {**where, **values})
        return int(count)

    # Audit

    def note(self, who: str, what: str, body: Mapping[str, Any]) -> None:
        """Adds an audit record."""
        with self._write() as db:
            self._record(db, who, what, body)

    def _record(self, db: Connection, who: str, what: str, body: Mapping[str, Any]) -> None:
        table = schema.audit
        self._one_writer(db)
        last = select(table.c.hash).order_by(table.c.id.desc()).limit(1)
        previous = db.execute(last).scalar() or FIRST_HASH
        values: dict[str, Any] = {"at": self._clock(), "who": who, "what": what}
        values["body"] = json.dumps(body, sort_keys=True, default=str)
        values["previous"] = previous
        db.execute(insert(table).values(**values, hash=digest(values)))

    @staticmethod
    def _one_writer(db: Connection) -> None:
        """Keeps other processes from writing until this transaction is over. On SQLite each that
        writes begins so (`_engine`)."""
        if db.dialect.name == "postgresql":
            db.execute(text("LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE"))

    def audit(self, after: int = 0, limit: int = 1000) -> list[dict[str, Any]]:
        """Audit records after a number, oldest first."""
        table = schema.audit
        query = select(table).where(table.c.id > after).order_by(table.c.id).limit(limit)
        with self._read() as db:
            return [dict(row._mapping) for row in db.execute(query).all()]

    def last_at(self) -> float:
        """When the last audit record was written [s since 1970]; 0 if there is none."""
        query = select(schema.audit.c.at).order_by(schema.audit.c.id.desc()).limit(1)
        with self._read() as db:
            return float(db.execute(query).scalar() or 0.0)

    def broken_link(self) -> int | None:
        """The first audit record that does not fit the one before it; None if all do."""
        previous, after = FIRST_HASH, 0
        while records := self.audit(after):
            for record in records:
                if record["previous"] != previous or digest(record) != record["hash"]:
                    return int(record["id"])
                previous, after = record["hash"], record["id"]
        return None

    # Role

    def take_role(self, holder: str, length_s: float) -> bool:
        """Takes or extends the role of the active controller; whether this one holds it then.

        A takeover increases the fencing token, so that the former holder cannot write. A session
        that the database ended meanwhile, as this process had stopped, has not taken it.
        """
        try:
            fence = self._take_role(holder, length_s)
        except DBAPIError as problem:
            if not _ended(problem):
                raise
            return False
        if fence is None:
            return False
        # Only once it is in the database: another controller may get the same token otherwise.
        self.fence = fence
        return True

    def _take_role(self, holder: str, length_s: float) -> int | None:
        """The token of this controller; None if another one holds the role."""
        table, now = schema.role, self._clock()
        with self._lock, self._writing.begin() as db:
            row = db.execute(select(table).filter_by(name=ROLE).with_for_update()).first()
            if row is None:
                values: dict[str, Any] = {"name": ROLE, "holder": holder, "fence": 1}
                values["until"] = now + length_s
                try:
                    with db.begin_nested():
                        db.execute(insert(table).values(**values))
                except IntegrityError:
                    return None
                return 1
            mine = row.holder == holder and self.fence == row.fence
            if not mine and row.until > now:
                return None
            fence = int(row.fence if mine else row.fence + 1)
            values = {"holder": holder, "until": now + length_s, "fence": fence}
            db.execute(update(table).filter_by(name=ROLE).values(**values))
        return fence


def digest(record: Mapping[str, Any]) -> str:
    """The hash of an audit record, which holds that of the record before it."""
    fields = [record[key] for key in ("previous", "who", "what", "body")]
    content = "\n".join([*fields, repr(float(record["at"]))])
    return hashlib.sha256(content.encode()).hexdigest()


def _transaction(row: Mapping[Any, Any]) -> Transaction:
    return Transaction(
        **{**row, "plan": json.loads(row["plan"]), "steps": json.loads(row["steps"])}
    )


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        session = {"options": f"-c idle_in_transaction_session_timeout={IDLE_MS}"}
        return create_engine(url, pool_pre_ping=True, connect_args=session)
    options: dict[str, Any] = {"connect_args": {"check_same_thread": False, "timeout": 30}}
    in_memory = url == "sqlite://"
    if in_memory:
        options["poolclass"] = StaticPool
    engine = create_engine(url, **options)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, record: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        # A committed step survives the loss of power.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()
        if not in_memory:
            # The driver would begin a transaction at its first write alone: what it had read by
            # then may be old.
            connection.isolation_level = None

    if in_memory:
        return engine

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
