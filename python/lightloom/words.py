"""The core's refusals in users' words: a value of the wrong type is told what it must
be instead of what a Rust type is called, a fabric that is planned that it is, and a key
of one of several fabrics is written as `--set` and `explain` take it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from lightloom import _core
from lightloom.errors import ConfigError, refusal
from lightloom.overrides import without_brackets

#: Fabrics that are planned and not here, by kind: what they are, and their source.
PLANNED: dict[str, str] = {}

_MISTYPED = re.compile(r"invalid (type|value): .*, expected (.+)", re.DOTALL)
#: One of several fabrics, by its label (by a number where the label is at fault).
_OF_A_FABRIC = re.compile(r"fabric\[[^\]]*[^\]\d][^\]]*\]")
_WHOLE = re.compile(r"([iu])(8|16|32|64)|usize")
_OTHERS = {
    **dict.fromkeys(("f32", "f64"), "a number"),
    **dict.fromkeys(("a boolean", "bool"), "true or false"),
    **dict.fromkeys(("a string", "str", "string"), "text"),
    **dict.fromkeys(("a sequence", "sequence"), "a list"),
    **dict.fromkeys(("a map", "map"), "a table"),
}


@contextmanager
def in_words() -> Iterator[None]:
    """Refusals of the block say what users know."""
    try:
        yield
    except ConfigError as problem:
        told = reworded(problem)
        told.trace = problem.trace
        raise told from problem.__cause__


def reworded(problem: ConfigError) -> ConfigError:
    """The refusal in users' words; itself where it is in them already."""
    found = _OF_A_FABRIC.match(problem.key or "")
    if found is not None:
        key = without_brackets(found[0]) + str(problem.key)[found.end() :]
        problem = refusal(key, problem.value, problem.limit or "", problem.remedy or "")
    kind = (problem.value or "").strip('"')
    if problem.limit == "no such fabric" and kind in PLANNED:
        return refusal(str(problem.key), problem.value, "planned, not here yet", here())
    found = _MISTYPED.fullmatch(problem.limit or "")
    words = _type(found[2], missed_end(problem)) if found else None
    if words is None or problem.key is None:
        return problem
    return refusal(problem.key, problem.value, f"must be {words}", problem.remedy or "")


def here() -> str:
    """What to choose instead of a fabric that is planned."""
    return "here: " + ", ".join(f'"{entry["kind"]}"' for entry in json.loads(_core.registry()))


def missed_end(problem: ConfigError) -> int | None:
    """The end that a number went beyond which no integer of its key can hold: the
    nearest that one can. None for other refusals."""
    found = re.fullmatch(r"invalid value: integer `(-?)\d+`, expected (.+)", problem.limit or "")
    whole = _WHOLE.fullmatch(found[2]) if found else None
    if found is None or whole is None:
        return None
    bits = int(whole[2] or 64)
    low, high = (-(1 << bits - 1), 1 << bits - 1) if whole[1] == "i" else (0, 1 << bits)
    return low if found[1] else high - 1


def _type(name: str, end: int | None) -> str | None:
    """A Rust type in words, with the end of its range that was missed; None where the
    name is in words already."""
    if _WHOLE.fullmatch(name) is None:
        return "a table" if name.startswith("struct ") else _OTHERS.get(name)
    if end is None:
        return "a whole number"
    return f"a whole number, {'at most' if end > 0 else 'at least'} {end:,}"
