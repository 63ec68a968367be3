"""Admission to the HTTP interface: tokens, the rate of requests, the size of a body.

Every path needs a valid token unless it is listed in `OPEN`. The token is checked before the
body is read, so that the controller parses no body of a client without one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import Depends, FastAPI, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from fastapi.security import APIKeyQuery, HTTPBearer
from sqlalchemy.exc import SQLAlchemyError

from lightloom.controller.answers import Refusal
from lightloom.controller.refusals import without_store
from lightloom.controller.store import Store
from lightloom.controller.tokens import Client, admitted, client_of

LARGEST = 32 << 20
"""Largest size of a request body [B]."""
OPEN = ("/", "/healthz", "/metrics", "/openapi.json")
"""Paths that need no token."""
EVENTS = "/events"
"""The only path whose token may be in the address, because the event stream of a browser cannot
send a header."""
Follow = Callable[[Request], Awaitable[Response]]


class Limiter:
    """The number of requests of each client in the current second."""

    def __init__(self, most: int = 100) -> None:
        self._most = most
        self._counts: dict[tuple[str, int], int] = {}
        self._lock = threading.Lock()

    def allows(self, name: str, now: float) -> bool:
        """Counts a request of a client; returns whether it is within the limit."""
        key = (name, int(now))
        with self._lock:
            if len(self._counts) > 10_000:
                self._counts.clear()
            self._counts[key] = self._counts.get(key, 0) + 1
            return self._counts[key] <= self._most


def add_admission(app: FastAPI, store: Store, clock: Callable[[], float]) -> None:
    """Installs a check of every request before its body is read."""
    app.state.limiter = Limiter()

    async def admit(request: Request, follow: Follow) -> Response:
        if (refused := _oversized(request)) is not None:
            return refused
        if request.scope["path"] in OPEN:
            return await follow(request)
        text = _token_of(request)
        try:
            found = await run_in_threadpool(admitted, store, text, clock())
        except SQLAlchemyError as problem:
            return without_store(problem)
        if isinstance(found, str):
            return _answer(401, f"token: {found}", {"WWW-Authenticate": "Bearer"})
        if not request.app.state.limiter.allows(found.name, time.time()):
            return _answer(429, "too many requests; wait a second", {"Retry-After": "1"})
        request.state.client = found
        request.state.is_valid = lambda: client_of(store, text, clock()) is not None
        return await follow(request)

    app.middleware("http")(admit)


def _token_of(request: Request) -> str:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return text.strip()
    return request.query_params.get("token", "") if request.scope["path"] == EVENTS else ""


def _oversized(request: Request) -> Response | None:
    """A refusal of a body that is too large or whose length is not known."""
    if "transfer-encoding" in request.headers:
        return _answer(411, "send a Content-Length, not chunks")
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit() and len(length) <= 12 and int(length) <= LARGEST):
        return _answer(413, f"a body has at most {LARGEST} bytes")
    return None


def _answer(status: int, text: str, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"detail": text}, status, headers)


BEARER = Depends(HTTPBearer(auto_error=False, scheme_name="token"))
"""Documents the header; `add_admission` checks it."""
IN_ADDRESS = Depends(APIKeyQuery(name="token", auto_error=False, scheme_name="token in address"))

DESCRIPTIONS = {
    400: "The body is not JSON.",
    401: "There is no valid token.",
    403: "The token lacks the scope, or a lease or a waiting change is another client's.",
    409: "A lease, a job or a transaction of another client is in the way.",
    411: "The body has no Content-Length.",
    413: "The body is too large.",
    422: "Something in the request is wrong; the answer names it.",
    429: "The client sent too many requests in this second.",
    503: "Another controller is active, or the switch or the database does not answer.",
}
ALWAYS = (401, 403, 411, 413, 429, 503)
"""Refusals of every route that needs a token."""


def needs(scope: str, *refusals: int, preview: str | None = None) -> dict[str, Any]:
    """Arguments of a route for which a token needs a scope.

    Args:
        scope: one of `tokens.SCOPES`; the document has it as `x-scope`.
        refusals: status codes in addition to those of `ALWAYS`.
        preview: a scope that suffices for a dry run; the route then calls `check_scope` itself for
            all other requests.
    """
    return {
        "dependencies": [BEARER, Depends(_scope_check(scope, preview))],
        "responses": documented(*ALWAYS, *refusals),
        "openapi_extra": {"x-scope": scope},
    }


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of refusals."""
    return {
        status: {"model": Refusal, "description": DESCRIPTIONS[status]}
        for status in sorted(statuses)
    }


def _scope_check(scope: str, preview: str | None) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        client = _client(request)
        if preview is None or not client.may(preview):
            check_scope(client, scope)

    return check


def check_scope(client: Client, scope: str) -> None:
    """Refuses a client whose token lacks a scope.

    Raises:
        HTTPException: 403.
    """
    if not client.may(scope):
        raise HTTPException(403, f"the token lacks the scope {scope}")


def _client(request: Request) -> Client:
    found: Client = request.state.client
    return found


Who = Annotated[Client, Depends(_client)]
"""The client whose token a request has."""
