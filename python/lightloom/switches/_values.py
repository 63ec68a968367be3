"""Errors about values of a TOML or JSON file; a value is printed as it is written in the file."""

from __future__ import annotations

import json
from typing import Any

from lightloom.errors import ConfigError, refusal


def refused(key: str, value: Any, limit: str, remedy: str) -> ConfigError:
    """A `ConfigError` in the form `key = value: limit; remedy`, on one line.

    >>> str(refused("faces.spci", {"port": 1}, "no such key", "correct it"))
    'faces.spci = (a table): no such key; correct it'
    """
    return refusal(key, _said(value), limit, remedy)


def _said(value: Any) -> str:
    if value is None:
        return "(missing)"
    if isinstance(value, dict):
        return "(a table)"
    if isinstance(value, str) and value.isprintable():
        return value
    return json.dumps(value, ensure_ascii=False, default=str)
