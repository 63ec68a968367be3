"""Refusals of the HTTP interface, which all have the same form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError

from lightloom.controller.bodies import CROSS_CONNECT
from lightloom.controller.database import DeposedError
from lightloom.controller.service import UnreachableError
from lightloom.errors import ConfigError, brief, refusal, shortened

CONFLICTS = ("holds it", "holds them", "is not over")
"""Words of a limit that another client set."""

PATTERNS = {CROSS_CONNECT: ("not a cross-connect", "write 1A-29B")}
"""For each pattern, the limit that a text without a match violates, and the remedy."""


def add_refusals(app: FastAPI) -> None:
    """Makes an interface answer errors with `answers.Refusal`."""
    app.add_exception_handler(ConfigError, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(UnreachableError, _unavailable)
    app.add_exception_handler(DeposedError, _standby)
    app.add_exception_handler(SQLAlchemyError, _without_store)


def _refused(request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, ConfigError)
    is_conflict = any(words in (problem.limit or "") for words in CONFLICTS)
    return _answer(problem, 409 if is_conflict else 422)


def _invalid(request: Request, problem: Exception) -> JSONResponse:
    assert isinstance(problem, RequestValidationError)
    first = problem.errors()[0]
    key, given = _key(first["loc"]), first.get("input")
    if first["type"] == "missing":
        return _answer(refusal(key, "(missing)", "it is needed", "send it"), 422)
    if first["type"] == "extra_forbidden":
        return _answer(refusal(key, given, "no such key", "leave it out"), 422)
    if first["type"] == "json_invalid":
        return _answer(refusal("body", "(not JSON)", str(first["ctx"]["error"]), "correct it"), 400)
    if first["type"] == "string_pattern_mismatch":
        pattern = first["ctx"]["pattern"]
        limit, remedy = PATTERNS.get(pattern, (f"must match {pattern}", "correct it"))
        return _answer(refusal(key, given, limit, remedy), 422)
    if isinstance(given, bytes):
        limit = "it was not sent as JSON"
        return _answer(refusal(key, given, limit, "send Content-Type: application/json"), 422)
    return _answer(refusal(key, given, str(first["msg"]).lower(), "correct it"), 422)


def _unavailable(request: Request, problem: Exception) -> JSONResponse:
    return JSONResponse({"detail": _encodable(brief(str(problem)))}, 503)


def _standby(request: Request, problem: Exception) -> JSONResponse:
    try:
        holder = request.app.state.controller.store.holder()
    except SQLAlchemyError as silent:
        return without_store(silent)
    if holder is None:
        said = refusal("role", "standby", "no controller is active", "try again in a second")
    else:
        remedy = "ask it; if it has ended, try again after its lease"
        said = refusal("role", "standby", f"{holder} is active", remedy)
    return _answer(said, 503)


def _without_store(request: Request, problem: Exception) -> JSONResponse:
    return without_store(problem)


def without_store(problem: Exception) -> JSONResponse:
    """The answer if the database does not answer."""
    said = str(getattr(problem, "orig", None) or problem).splitlines()[0]
    limit = f"it does not answer ({said})"
    return _answer(refusal("store", "database", limit, "start it, then try again"), 503)


def _answer(problem: ConfigError, status: int) -> JSONResponse:
    body: dict[str, str | None] = {"detail": _encodable(brief(str(problem)))}
    for name in ("key", "value", "limit", "remedy"):
        text = getattr(problem, name)
        body[name] = None if text is None else _encodable(shortened(text))
    return JSONResponse(body, status)


def _key(location: Sequence[Any]) -> str:
    """`matrix[0][1]` for `("body", "matrix", 0, 1)`."""
    key = ""
    for part in location[1:]:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else str(part)
    return key or "body"


def _encodable(text: str) -> str:
    """A text without halves of surrogate pairs, which are possible in JSON but not in UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
