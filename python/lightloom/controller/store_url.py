"""The address of a store: a file of SQLite, or a database of PostgreSQL."""

from __future__ import annotations

import re

from lightloom.errors import refusal

FORM = "postgresql://USER@HOST:PORT/DATABASE"
POSTGRESQL = ("postgresql", "postgres", "postgresql+psycopg")
"""Schemes of PostgreSQL. The client library is always psycopg."""


def check_store_url(text: str) -> None:
    """Refuses the address of a database that the controller cannot use.

    Raises:
        ConfigError: for a database other than SQLite and PostgreSQL.
    """
    scheme, separator, _ = text.partition("://")
    if separator and scheme not in ("sqlite", *POSTGRESQL):
        limit = "not SQLite or PostgreSQL"
        raise refusal("store", without_password(text), limit, f"name a file, or write {FORM}")


def database_url(text: str) -> str:
    """The address in the form of SQLAlchemy.

    >>> database_url("controller.db"), database_url("postgres://me@db/lightloom")
    ('sqlite:///controller.db', 'postgresql+psycopg://me@db/lightloom')
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        return f"sqlite:///{text}"
    return f"postgresql+psycopg://{rest}" if scheme in POSTGRESQL else text


def without_password(text: str) -> str:
    """The address for a message.

    >>> without_password("postgresql://me:secret@db/lightloom")
    'postgresql://me:…@db/lightloom'
    """
    return re.sub(r"(://[^:/@]*):.*@", r"\1:…@", text)
