"""What pydantic complains of, said the way every refusal is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

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
    """A key as refusals write it.

    >>> _path(("application", 0, "kind"))
    'application[0].kind'
    """
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in parts).removeprefix(".")


def _nearest(key: str, known: list[str]) -> list[str]:
    """The known key that has an unknown one as a part, or else resembles it most, if one does.

    >>> _nearest("scale", ["sample", "time_scale"]), _nearest("smple", ["sample", "time_scale"])
    (['time_scale'], ['sample'])
    """
    longer = [one for one in known if key in one.split("_")]
    return longer[:1] or difflib.get_close_matches(key, known, 1)
