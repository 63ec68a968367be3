"""Idempotency keys in the store.

A key is stored in the same database transaction in which its request takes effect, so that the
request takes effect only once, even after a crash or on another controller.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from lightloom.controller import schema
from lightloom.controller.audit import Audited
from lightloom.controller.database import DeposedError
from lightloom.errors import refusal

KEEP_S = 86_400.0
"""Time for which a key is kept after its request took effect [s]."""
UNANSWERED = 0
"""Status of a request that took effect and has not been answered."""


@dataclass(frozen=True)
class Claim:
    """A request with a key."""

    who: str
    """The client; each client has its own keys."""
    key: str
    request: str
    """Hash of the complete content of the request."""
    has_effect: bool = False
    """Whether it took effect before, so that only its answer is missing."""
    made: int | None = None
    """Number of the row that it made; None if it made none."""


@dataclass(frozen=True)
class Answered:
    """The answer to a request that was carried out."""

    status: int
    body: str


class Claims(Audited):
    """Requests with keys, and their answers."""

    def claimed(self, claim: Claim) -> Answered | Claim:
        """The answer to the request, or the claim with the known part of its effect.

        Raises:
            ConfigError: if the key was used for another request.
        """
        oldest = self._clock() - KEEP_S
        query = select(schema.answer).filter_by(key=claim.key, who=claim.who)
        with self._read() as db:
            row = db.execute(query.where(schema.answer.c.at >= oldest)).first()
        if row is None:
            return claim
        if row.request != claim.request:
            limit = "it was used for another request"
            raise refusal("Idempotency-Key", claim.key, limit, "use a new key")
        if row.status == UNANSWERED:
            return replace(claim, has_effect=True, made=row.made)
        return Answered(row.status, row.body)

    def answer(self, claim: Claim, status: int, body: str) -> None:
        """Stores the answer to a request that took effect."""
        mine = update(schema.answer).filter_by(key=claim.key, who=claim.who, status=UNANSWERED)
        with self._write() as db:
            db.execute(mine.values(status=status, body=body))

    def _claim(self, db: Connection, claim: Claim | None, made: int | None = None) -> None:
        """Stores the key of a request that takes effect in this database transaction."""
        if claim is None:
            return
        table, now = schema.answer, self._clock()
        db.execute(delete(table).where(table.c.at < now - KEEP_S))
        row = {"key": claim.key, "who": claim.who, "request": claim.request, "made": made}
        try:
            db.execute(insert(table).values(**row, status=UNANSWERED, body="", at=now))
        except IntegrityError:
            raise DeposedError("another controller carries out the request of this key") from None
