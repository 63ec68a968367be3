"""What pydantic complains of, said the way every refusal is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from pydantic import ValidationError

from lightloom.errors import ConfigError, refusal

#: pydantic's name of a complaint → what the value is not, and one that is.
_TYPES = {
    "list_type": ("not a list", '["…"]'),
    "string_type": ("not a text", '"…"'),
    "bool_type": ("neither true nor false", "true"),
}


def first_of(problem: ValidationError, known: Iterable[str], above: str = "") -> ConfigError:
    """The first complaint.

    Args:
        problem: what a model said of a table.
        known: the keys of the table.
        above: where the table stands, with its dot: `decision.`.
    """
    first = problem.errors()[0]
    key = above + ".".join(str(part) for part in first["loc"])
    value = first.get("input")
    shown = f'"{value}"' if isinstance(value, str) and above else value
    if first["type"] == "missing":
        return refusal(key, "(missing)", "required", "add it")
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(first["loc"][-1]), list(known), 1)
        remedy = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(known)}"
        return refusal(key, shown, "no such key", remedy)
    if first["type"] in _TYPES:
        limit, example = _TYPES[first["type"]]
        return refusal(key, shown, limit, f"write {first['loc'][-1]} = {example}")
    limit = first["msg"].removeprefix("Value error, ")
    return refusal(key, shown, limit[0].lower() + limit[1:], "correct the value")
