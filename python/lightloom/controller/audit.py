"""The audit log: each record contains the hash of the record before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, text

from lightloom.controller import schema
from lightloom.controller.database import Database

FIRST_HASH = "0" * 64
PAGE = 1_000
"""Number of records that are read at a time."""
STEP = 5_000
"""Number of records that a request for the log checks, and each step in the background."""
_LAST_HASH = select(schema.audit.c.hash).order_by(schema.audit.c.id.desc()).limit(1)
_INSERT = insert(schema.audit)


@dataclass
class Check:
    """The position up to which the log has been checked. After the last record, the check begins
    again at the first."""

    previous: str = FIRST_HASH
    """Hash of the last record that was checked."""
    after: int = 0
    """Number of this record; 0 at the beginning of the log."""
    broken: int | None = None
    """The first record that does not match; None if there was none in the last check of the whole
    log."""
    whole_at: float | None = None
    """Time at which a check of the whole log last ended [s since 1970]; None if none has ended in
    this process."""


class Audited(Database):
    """A database with an audit log."""

    def __init__(self, url: str, clock: Callable[[], float]) -> None:
        """Opens the database; no record has been checked yet."""
        super().__init__(url, clock)
        self.checked = Check()

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
        """Keeps other processes from writing until this transaction is over.

        On SQLite every writing transaction does so from its start (`_engine`).
        """
        if db.dialect.name == "postgresql":
            db.execute(text("LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE"))

    def audit(self, after: int = 0, limit: int = PAGE) -> list[dict[str, Any]]:
        """Audit records after a number, oldest first."""
        table = schema.audit
        query = select(table).where(table.c.id > after).order_by(table.c.id).limit(limit)
        with self._read() as db:
            return [dict(row._mapping) for row in db.execute(query).all()]

    def last_at(self) -> float:
        """The latest time of an audit record [s since 1970]; 0 if there is none.

        If the clock was set back, this may be later than the time of the last record.
        """
        with self._read() as db:
            return float(db.execute(select(func.max(schema.audit.c.at))).scalar() or 0.0)

    def last_record(self) -> int:
        """The number of the last audit record; 0 if there is none."""
        with self._read() as db:
            return int(db.execute(select(func.max(schema.audit.c.id))).scalar() or 0)

    def broken_link(self) -> int | None:
        """The first audit record whose hash does not match the record before it; None if all match.
        Reads the whole log."""
        previous, after = FIRST_HASH, 0
        while records := self.audit(after):
            if (broken := first_broken(records, previous)) is not None:
                return broken
            previous, after = records[-1]["hash"], records[-1]["id"]
        return None

    def check_on(self, most: int = STEP) -> Check:
        """Continues the check of the log by at most `most` records, from the first record again
        after the last one; returns the position reached."""
        with self._lock:
            one = self.checked
            for left in range(most, 0, -PAGE):
                records = self.audit(one.after, min(PAGE, left))
                broken = first_broken(records, one.previous)
                if broken is not None or not records:
                    one.broken, one.whole_at = broken, self._clock()
                    one.previous, one.after = FIRST_HASH, 0
                    break
                one.previous, one.after = records[-1]["hash"], records[-1]["id"]
            return one

    def broken_among(self, records: Sequence[Mapping[str, Any]]) -> int | None:
        """The first of some consecutive audit records whose hash does not match the record before
        it."""
        if not records:
            return None
        table = schema.audit
        query = select(table.c.hash).where(table.c.id < records[0]["id"])
        with self._read() as db:
            before = db.execute(query.order_by(table.c.id.desc()).limit(1)).scalar()
        return first_broken(records, before or FIRST_HASH)


def first_broken(records: Sequence[Mapping[str, Any]], previous: str) -> int | None:
    """The number of the first record that does not match the hash before it; None if all match."""
    for record in records:
        if record["previous"] != previous or digest(record) != record["hash"]:
            return int(record["id"])
        previous = record["hash"]
    return None


def digest(record: Mapping[str, Any]) -> str:
    """The hash of an audit record, which includes the hash of the record before it."""
    fields = [record[key] for key in ("previous", "who", "what", "body")]
    content = "\n".join([*fields, repr(float(record["at"]))])
    return hashlib.sha256(content.encode()).hexdigest()
