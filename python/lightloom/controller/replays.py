"""Idempotency keys: a request with the same key takes effect once, and its answer is repeated."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fastapi import Response
from pydantic import BaseModel

from lightloom.controller.claims import Answered, Claim
from lightloom.controller.store import Store


class Replays:
    """The answers to requests with a key."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._changed = threading.Condition()
        self._running: set[tuple[str, str]] = set()

    def answer(
        self,
        who: str,
        key: str | None,
        request: str,
        act: Callable[[Claim | None], BaseModel],
        status: int = 200,
    ) -> Response:
        """Carries out a request unless one with the same key was carried out; returns the answer.

        Args:
            who: the client; each client has its own keys.
            key: None if the request has none.
            request: the complete content of the request.
            act: carries out the request, with the claim that its first write stores. If the request
                took effect before a crash of the controller and was not answered, it completes the
                request.
            status: status code of the answer.

        Raises:
            ConfigError: if the key was used for another request.
        """
        if key is None:
            return _response(act(None).model_dump_json(), status)
        asked = Claim(who, key, hashlib.sha256(request.encode()).hexdigest())
        with self._alone(who, key):
            known = self._store.claimed(asked)
            if isinstance(known, Answered):
                return _response(known.body, known.status)
            body = act(known).model_dump_json()
            self._store.answer(known, status, body)
            return _response(body, status)

    @contextmanager
    def _alone(self, who: str, key: str) -> Iterator[None]:
        """Waits until no other request with this key is in progress."""
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
