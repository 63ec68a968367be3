"""Idempotency keys: a request with the same key is carried out once, and its answer repeated."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from fastapi import Response
from pydantic import BaseModel

from lightloom.controller import schema
from lightloom.controller.store import Store
from lightloom.errors import refusal


class Replays:
    """The answers of requests that had a key."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._changed = threading.Condition()
        self._running: set[tuple[str, str]] = set()

    def answer(
        self,
        who: str,
        key: str | None,
        request: str,
        act: Callable[[], BaseModel],
        status: int = 200,
    ) -> Response:
        """Carries a request out unless one with its key was; returns its answer.

        Args:
            who: the client; each has keys of its own.
            key: None if the request has none.
            request: everything that the request asks for.
            act: carries it out.
            status: status code of the answer.

        Raises:
            ConfigError: if the key was used for another request.
        """
        if key is None:
            return _response(act().model_dump_json(), status)
        asked = hashlib.sha256(request.encode()).hexdigest()
        with self._alone(who, key):
            rows = self._store.rows(schema.answer, key=key, who=who)
            if rows and rows[0]["request"] != asked:
                limit = "it was used for another request"
                raise refusal("Idempotency-Key", key, limit, "use a new key")
            if rows:
                return _response(rows[0]["body"], rows[0]["status"])
            body = act().model_dump_json()
            values: dict[str, Any] = {"key": key, "who": who, "request": asked, "status": status}
            values |= {"body": body, "at": self._clock()}
            self._store.add(schema.answer, who, "answered", **values)
            return _response(body, status)

    @contextmanager
    def _alone(self, who: str, key: str) -> Iterator[None]:
        """Waits until no other request of this key is under way."""
        with self._changed:
            while (who, key) in self._running:
                self._changed.wait()
            self._running.add((who, key))
        try:
            yield
        finally:
            with self._changed:
                self._running.discard((who, key))
                self._changed.notify_all()


def _response(body: str, status: int) -> Response:
    return Response(body, status, media_type="application/json")
