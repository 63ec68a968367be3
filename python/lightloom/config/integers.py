"""Integers in an experiment that no integer type of the core holds. JSON would pass them as the
nearest float, and the error message would show that float.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lightloom.config.overrides import toml_key

Path = tuple[str | int, ...]

LEAST, MOST = -(1 << 63), (1 << 64) - 1


def unheld(value: Any, path: Path = ()) -> Iterator[tuple[Path, int]]:
    """The integers in a table or list that are not held, with their paths."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from unheld(inner, (*path, key))
    elif isinstance(value, (list, tuple)):
        for place, inner in enumerate(value):
            yield from unheld(inner, (*path, place))
    elif isinstance(value, int) and not LEAST <= value <= MOST:
        yield path, value


def nearest(value: int) -> int:
    """Returns the nearest integer that is held."""
    return min(max(value, LEAST), MOST)


def limit_of(value: int) -> str:
    """The limit in the error message, for a key that has no limit of its own."""
    end = nearest(value)
    return f"must be a whole number, at {'most' if end > 0 else 'least'} {end:,}"


def held(raw: Mapping[str, Any], found: Sequence[tuple[Path, int]]) -> dict[str, Any]:
    """Returns the table with each of these integers replaced by the nearest one that is held."""
    made = copy.deepcopy(dict(raw))
    for path, value in found:
        above: Any = made
        for part in path[:-1]:
            above = above[part]
        above[path[-1]] = nearest(value)
    return made


def key_of(raw: Mapping[str, Any], path: Path) -> str:
    """Returns the key as messages write it: with the fabric's label if there are several
    fabrics."""
    fabrics = raw.get("fabric")
    if path[0] == "fabric" and len(path) > 1 and isinstance(fabrics, list):
        own = fabrics[int(path[1])]
        label = own.get("label", own.get("kind")) if isinstance(own, Mapping) else path[1]
        several = len(fabrics) > 1
        head = f"fabric.{toml_key(str(label))}" if several else "fabric"
        return head + _dotted(path[2:])
    return _dotted(path).removeprefix(".")


def _dotted(path: Path) -> str:
    return "".join(f"[{p}]" if isinstance(p, int) else f".{toml_key(p)}" for p in path)
