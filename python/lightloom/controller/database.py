"""The database of the store, SQLite or PostgreSQL: connections, version, and the role of the active
controller.

A database transaction that writes checks the fencing token of the role: a controller that lost the
role cannot write.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    create_engine,
    event,
    insert,
    inspect,
    make_url,
    select,
    text,
    update,
)
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import StaticPool

from lightloom.controller import schema
from lightloom.controller.store_url import without_password
from lightloom.errors import ConfigError, refusal

ROLE = "controller"
NO_ROLE = 0
"""A fencing token that no controller holds."""


class DeposedError(Exception):
    """Another controller holds the role, so this one must not write."""


IDLE_MS = 5_000
"""Time after which PostgreSQL ends a session that is idle in a transaction [ms].

Otherwise the lock of a controller that was stopped there would prevent others from taking over.
"""


def _ended(problem: DBAPIError) -> bool:
    """Whether the database ended the session: with code 25P03 because it was idle, or without a
    code because the connection was closed before one could be read."""
    code = getattr(problem.orig, "sqlstate", "")
    return problem.connection_invalidated or code in (None, "25P03")


class Database:
    """A database of one or several controllers."""

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        """Opens a store; creates its tables if there are none.

        Args:
            url: `sqlite:///PATH`, `sqlite://` (in memory), or of PostgreSQL.
            clock: seconds since 1970.

        Raises:
            ConfigError: if it cannot be opened, or is of a newer version.
        """
        self._clock = clock
        self._lock = threading.RLock()
        self.fence: int | None = None
        """The token of the role that this controller holds; None if the role is not checked."""
        try:
            self._engine = _engine(url)
            self._writing = self._engine.execution_options(writes=True)
            _check_not_newer(self._engine, url)
            schema.metadata.create_all(self._engine)
            self._add_columns()
            for table in schema.metadata.sorted_tables:
                for index in table.indexes:
                    # A store of an earlier release has the table without the newer index.
                    index.create(self._engine, checkfirst=True)
            self._set_version(url)
        except (SQLAlchemyError, ImportError) as problem:
            raise _unopened(url, problem) from None

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

    def _set_version(self, url: str) -> None:
        with self._engine.begin() as db:
            version = _version(db, url)
            if version is None:
                db.execute(insert(schema.meta).values(key="version", value=str(schema.VERSION)))
            elif version < schema.VERSION:
                self._upgrade(db, version)
                here = update(schema.meta).filter_by(key="version")
                db.execute(here.values(value=str(schema.VERSION)))

    def _upgrade(self, db: Connection, version: int) -> None:
        """Brings the contents of a store of an earlier version up to date."""

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
        """Raises an error unless this controller holds the role with that token and its time is not
        over.

        Raises:
            DeposedError: if another controller may hold it.
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

    def holder(self) -> str | None:
        """The name of the active controller; None if no controller holds the role now."""
        with self._read() as db:
            row = db.execute(select(schema.role).filter_by(name=ROLE)).first()
        return None if row is None or row.until <= self._clock() else str(row.holder)

    def close(self) -> None:
        """Closes all connections."""
        self._engine.dispose()

    def take_role(self, holder: str, length_s: float) -> bool:
        """Takes or extends the role of the active controller; returns whether this one holds it
        now.

        A takeover increases the fencing token, so that the former holder cannot write. If the
        database ended the session, for example because this process was stopped, the role is not
        taken.
        """
        try:
            fence = self._take_role(holder, length_s)
        except DBAPIError as problem:
            if not _ended(problem):
                raise
            return False
        if fence is None:
            return False
        # Set only after the commit: otherwise another controller might get the same token.
        self.fence = fence
        return True

    def leave_role(self) -> None:
        """Gives up the role if this controller holds it, so that another one need not wait for the
        end of its lease."""
        table, mine = schema.role, {"name": ROLE, "fence": self.fence}
        with self._lock, self._writing.begin() as db:
            db.execute(update(table).filter_by(**mine).values(until=self._clock()))
        self.fence = NO_ROLE

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


def check_database(url: str) -> None:
    """Refuses a store that cannot be opened; creates nothing.

    Raises:
        ConfigError: if it cannot be opened, or is of a newer version.
    """
    name = make_url(url).database
    if url.startswith("sqlite") and name is not None and not Path(name).exists():
        if not os.access(Path(name).parent, os.W_OK | os.X_OK):
            limit = "its folder is missing, or must not be written to"
            raise refusal("store", name, limit, "create the folder, or name a file elsewhere")
        return
    try:
        engine = _engine(url)
        try:
            _check_not_newer(engine, url)
        finally:
            engine.dispose()
    except (SQLAlchemyError, ImportError) as problem:
        raise _unopened(url, problem) from None


def _check_not_newer(engine: Engine, url: str) -> None:
    """Refuses a store of a newer version before anything in it is changed.

    Raises:
        ConfigError: if it is newer than this release.
    """
    with engine.connect() as db:
        if inspect(db).has_table(schema.meta.name):
            _version(db, url)


def _version(db: Connection, url: str) -> int | None:
    """The version of a store; None if it is new.

    Raises:
        ConfigError: if it is newer than this release.
    """
    found = db.execute(select(schema.meta.c.value).filter_by(key="version")).scalar_one_or_none()
    if found is not None and int(found) > schema.VERSION:
        limit = f"it has version {found}, and this Lightloom reads up to {schema.VERSION}"
        raise refusal("store", without_password(url), limit, "install a newer Lightloom")
    return None if found is None else int(found)


def _unopened(url: str, problem: SQLAlchemyError | ImportError) -> ConfigError:
    if isinstance(problem, ImportError):
        limit = "PostgreSQL needs the package psycopg"
        return refusal("store", without_password(url), limit, "pip install 'lightloom[controller]'")
    said = str(problem.__cause__ or problem).splitlines()[0]
    remedy = "start or create the database, or correct host, port and name"
    if url.startswith("sqlite"):
        remedy = "name a file in a folder that may be written to"
    return refusal("store", without_password(url), said, remedy)


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
        # A committed step survives a loss of power.
        cursor.execute("PRAGMA synchronous=FULL")
        cursor.close()
        if not in_memory:
            # The driver would begin a transaction only at the first write; values read before might
            # then be outdated.
            connection.isolation_level = None

    if in_memory:
        return engine

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
