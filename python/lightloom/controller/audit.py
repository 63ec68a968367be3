"""The audit log: each record holds the hash of the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, insert, select, text

from lightloom.controller import schema
from lightloom.controller.database import Database

FIRST_HASH = "0" * 64
_LAST_HASH = select(schema.audit.c.hash).order_by(schema.audit.c.id.desc()).limit(1)
_INSERT = insert(schema.audit)


class Audited(Database):
    """A database with an audit log."""

    def note(self, who: str, what: str, body: Mapping[str, Any]) -> None:
        """Adds an audit record."""
        with self._write() as db:
            self._record(db, who, what, body)

    def _record(self, db: Connection, who: str, what: str, body: Mapping[str, Any]) -> None:
        self._one_writer(db)
        previous = db.execute(_LAST_HASH).scalar() or FIRST_HASH
        values: dict[str, Any] = {"at": self._clock(), "who": who, "what": what}
        values["body"] = json.dumps(body, sort_keys=True, default=str)
        values["previous"] = previous
        db.execute(_INSERT, {**values, "hash": digest(values)})

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


def digest(record: Mapping[str, Any]) -> str:
    """The hash of an audit record, which holds that of the record before it."""
    fields = [record[key] for key in ("previous", "who", "what", "body")]
    content = "\n".join([*fields, repr(float(record["at"]))])
    return hashlib.sha256(content.encode()).hexdigest()
