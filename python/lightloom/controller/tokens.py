"""Tokens of the HTTP interface, with the scopes of clients.

The store contains only their hashes.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.controller import schema
from lightloom.controller.store import Store
from lightloom.errors import refusal

SCOPES = ("read", "plan", "reserve", "apply", "admin")
"""The scopes of a token; `admin` permits everything."""

NAME = re.compile(r"[A-Za-z0-9_.@+-]{1,64}")
"""Names of tokens: they appear in headers, in logs and as owners."""
TAKEN = ("controller", "policy")
"""Names of the loop and of the policy in the history and the audit log."""


@dataclass(frozen=True)
class Client:
    """The client that sends a request."""

    name: str
    scopes: frozenset[str]

    def may(self, scope: str) -> bool:
        """Whether its token has a scope."""
        return scope in self.scopes or "admin" in self.scopes


def add_token(
    store: Store,
    name: str,
    scopes: Sequence[str],
    who: str,
    expires: float | None = None,
    now: float = 0.0,
) -> str:
    """Creates a token; returns its text, which is not stored. A name whose token has expired by the
    time `now` or was revoked gets a new one.

    Raises:
        ConfigError: if a scope is unknown, or the name is malformed or in use.
    """
    if NAME.fullmatch(name) is None:
        limit = "must be 1 to 64 letters, digits or characters of _ . @ + -"
        raise refusal("name", name, limit, "choose such a name")
    if name in TAKEN:
        limit = "the history and the audit log have this name for the controller itself"
        raise refusal("name", name, limit, "choose another")
    for scope in scopes:
        if scope not in SCOPES:
            raise refusal("scope", scope, f"must be one of {', '.join(SCOPES)}", "correct it")
    if not scopes:
        raise refusal("scope", "(missing)", "a token without scopes allows nothing", "name some")
    text = f"{name}.{secrets.token_urlsafe(32)}"
    values: dict[str, Any] = {"hash": _hash(text), "scopes": ",".join(scopes)}
    values |= {"expires": expires, "revoked": None}
    former = store.rows(schema.token, name=name)
    if former and _is_valid(former[0], now):
        remedy = "choose another name, or revoke it: lightloom controller token revoke"
        raise refusal("token", name, "there is a valid token of this name", remedy)
    if former:
        # The client keeps its name, and with the name its circuits, leases and jobs.
        where = {key: former[0][key] for key in ("name", "hash", "revoked")}
        if store.change(schema.token, who, "token", where, **values):
            return text
    store.add(schema.token, who, "token", name=name, **values)
    return text


def revoke_token(store: Store, name: str, who: str, now: float) -> None:
    """Makes a token invalid.

    Raises:
        ConfigError: if there is no such token.
    """
    if not store.change(schema.token, who, "revoke", {"name": name, "revoked": None}, revoked=now):
        raise refusal("token", name, "no such token is valid", "list them with token list")


def client_of(store: Store, text: str, now: float) -> Client | None:
    """The client of a token; None if the token is not valid."""
    found = admitted(store, text, now)
    return None if isinstance(found, str) else found


def admitted(store: Store, text: str, now: float) -> Client | str:
    """The client of a token, or the reason why the token is not valid.

    The reason that it has ended is given only to clients with the right secret.
    """
    # A name may contain dots; the secret follows the last one.
    name = text.rpartition(".")[0]
    rows = store.rows(schema.token, name=name) if name.isprintable() and name else []
    if not rows or not hmac.compare_digest(rows[0]["hash"], _hash(text)):
        return "it is missing or not valid; send Authorization: Bearer TOKEN"
    if not _is_valid(rows[0], now):
        end = "it has expired" if rows[0]["revoked"] is None else "it was revoked"
        return f"{end}; make a new one by lightloom controller token add"
    return Client(name, frozenset(rows[0]["scopes"].split(",")))


def _is_valid(row: Mapping[str, Any], now: float) -> bool:
    return row["revoked"] is None and (row["expires"] is None or row["expires"] > now)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
