"""The store: everything that must survive a crash, in SQLite or in PostgreSQL.

Each public method is one database transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Select, bindparam, insert, select, update
from sqlalchemy.exc import IntegrityError

from lightloom.controller.claims import Claim
from lightloom.controller.transaction_log import TransactionLog
from lightloom.errors import refusal


class Store(TransactionLog):
    """Intents and transactions, and the rows of leases, jobs and tokens, whose modules define
    them."""

    def rows(self, table: Any, *conditions: Any, **where: Any) -> list[dict[str, Any]]:
        """Rows of a table that meet conditions and have some values, oldest first.

        Args:
            table: the table.
            conditions: constant expressions.
            where: values of columns, and of parameters of the conditions.
        """
        query = _query(table, conditions, tuple((name, where[name] is None) for name in where))
        with self._read() as db:
            found = [dict(row._mapping) for row in db.execute(query, where).all()]
        # Sorted here, because the database would search a few rows in the order of a long history.
        keys = [column.name for column in table.primary_key]
        return sorted(found, key=lambda row: [row[key] for key in keys])

    def add(
        self,
        table: Any,
        who: str,
        what: str,
        /,
        check: Callable[[Sequence[Mapping[str, Any]]], None] = lambda _: None,
        beside: Any = None,
        claim: Claim | None = None,
        **values: Any,
    ) -> Any:
        """Adds a row and an audit record; returns the row's key.

        Args:
            table: table of the row.
            who, what: client and action of the audit record.
            check: raises if the existing rows do not permit the new one; no other row is added at
                the same time.
            beside: the condition of the rows that `check` gets; default: all.
            claim: claim of the request that adds it, if the request has a key.
            values: columns of the row.

        Raises:
            ConfigError: if there is a row with the same key.
        """
        try:
            with self._write() as db:
                self._one_writer(db)
                others = select(table) if beside is None else select(table).where(beside)
                check([dict(row._mapping) for row in db.execute(others).all()])
                key = db.execute(insert(table).values(**values)).inserted_primary_key
                self._claim(db, claim, key[0] if key else None)
                hidden = {k: v for k, v in values.items() if k not in ("hash", "body")}
                self._record(db, who, what, {**hidden, "key": list(key or [])})
        except IntegrityError:
            name = next(iter(values.values()))
            raise refusal(table.name, name, "there is one already", "choose another") from None
        return key[0] if key else None

    def note(self, who: str, what: str, body: Mapping[str, Any]) -> None:
        """Adds an audit record of a request that changes no row.

        Raises:
            DeposedError: if another controller holds the role.
        """
        with self._write() as db:
            self._record(db, who, what, body)

    def change(
        self, table: Any, who: str, what: str, where: Mapping[str, Any], **values: Any
    ) -> int:
        """Changes rows and adds an audit record; returns the number of changed rows."""
        with self._write() as db:
            count = db.execute(update(table).filter_by(**where).values(**values)).rowcount
            if count:
                hidden = {k: v for k, v in {**where, **values}.items() if k != "hash"}
                self._record(db, who, what, hidden)
        return int(count)


@lru_cache(maxsize=256)
def _query(
    table: Any, conditions: tuple[Any, ...], names: tuple[tuple[str, bool], ...]
) -> Select[Any]:
    """The rows with some values, of which some are NULL; built once because building it takes
    longer than executing it."""
    columns = [(table.c[name], name, is_null) for name, is_null in names if name in table.c]
    equal = [
        column.is_(None) if is_null else column == bindparam(name)
        for column, name, is_null in columns
    ]
    return select(table).where(*conditions, *equal)
