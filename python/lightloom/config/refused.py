"""Validation errors of pydantic, in the form of all other errors."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from pydantic import ValidationError

from lightloom.errors import ConfigError, refusal

#: Pydantic's error type → what the value is not, and an example of a valid value.
_TYPES = {
    "list_type": ("not a list", '["…"]'),
    "string_type": ("not a text", '"…"'),
    "bool_type": ("neither true nor false", "true"),
}


def first_of(problem: ValidationError, known: Iterable[str], above: str = "") -> ConfigError:
    """Converts the first error.

    Args:
        problem: the errors that pydantic found in a table.
        known: the keys of the table.
        above: the path of the table, with its final dot: `decision.`.
    """
    first = problem.errors()[0]
    key = above + _path(first["loc"])
    value = first.get("input")
    shown = f'"{value}"' if isinstance(value, str) and above else value
    if first["type"] == "missing":
        return refusal(key, "(missing)", "required", "add it")
    if first["type"] == "extra_forbidden":
        near = _nearest(str(first["loc"][-1]), list(known))
        remedy = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(known)}"
        return refusal(key, shown, "no such key", remedy)
    if first["type"] in _TYPES:
        limit, example = _TYPES[first["type"]]
        return refusal(key, shown, limit, f"write {first['loc'][-1]} = {example}")
    limit = first["msg"].removeprefix("Value error, ")
    return refusal(key, shown, limit[0].lower() + limit[1:], "correct the value")


def _path(parts: Sequence[str | int]) -> str:
    """Formats a key as errors write it.

    >>> _path(("application", 0, "kind"))
    'application[0].kind'
    """
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts).removeprefix(".")


def _nearest(key: str, known: list[str]) -> list[str]:
    """Returns the known key that contains an unknown one, or else the most similar one; empty if
    none is similar.

    >>> _nearest("scale", ["sample", "time_scale"]), _nearest("smple", ["sample", "time_scale"])
    (['time_scale'], ['sample'])
    """
    longer = [one for one in known if key in one.split("_")]
    return longer[:1] or difflib.get_close_matches(key, known, 1)
