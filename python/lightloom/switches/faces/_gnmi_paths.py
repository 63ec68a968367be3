"""gNMI paths in a tree of JSON, with wildcards, and the selection of parts of a tree by data type.

An element `*` matches every name, a key `*` every entry of a list; so does a list without keys in
the middle of a path (gNMI's path conventions). A list without keys at the end is one value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lightloom.switches.faces._gnmi_edits import MalformedError, Path, bare

ANY = "*"
Match = tuple[Path, Any]
"""A path without wildcards, and its value."""


def steps_of(prefix: Any, path: Any) -> tuple[str, Path]:
    """The origin of a path, and its elements."""
    elements = [*prefix.elem, *path.elem]
    steps = [(bare(element.name), dict(element.key)) for element in elements]
    return path.origin or prefix.origin, steps


def matches(tree: Any, steps: Path) -> list[Match]:
    """Returns the parts of a tree to which a path leads.

    Raises:
        MalformedError: if a path without wildcards has no match.

    >>> matches({"list": [{"name": "x", "leaf": 1}]}, [("list", {"name": "*"}), ("leaf", {})])
    [([('list', {'name': 'x'}), ('leaf', {})], 1)]
    """
    choices: list[str] = []
    found = [*_below(tree, [*steps], [], choices)]
    if not found and not choices:
        raise MalformedError(f"no such path: {text_of(steps)}")
    return found


def _below(
    tree: Any, steps: list[tuple[str, Mapping[str, str]]], taken: Path, choices: list[str]
) -> Iterator[Match]:
    """Returns the matches below a node; adds the elements that may match several times to
    `choices`."""
    if not steps:
        yield taken, tree
        return
    (name, keys), rest = steps[0], steps[1:]
    if not isinstance(tree, dict):
        return
    if name == ANY:
        choices.append(name)
    for one in [*tree] if name == ANY else [name]:
        below = tree.get(one)
        if isinstance(below, list) and (keys or rest):
            if ANY in keys.values() or not keys:
                choices.append(one)
            for row in below:
                if isinstance(row, dict) and _has(row, keys):
                    step = (one, {"name": str(row.get("name"))})
                    yield from _below(row, rest, [*taken, step], choices)
        elif one in tree and not keys:
            yield from _below(below, rest, [*taken, (one, {})], choices)


def _has(row: Mapping[str, Any], keys: Mapping[str, str]) -> bool:
    return all(value in (ANY, str(row.get(key))) for key, value in keys.items())


def pruned(tree: Any, container: str) -> Any:
    """Returns a tree without the containers of a given name.

    >>> pruned({"a": {"config": {}, "state": {"x": 1}}}, "config")
    {'a': {'state': {'x': 1}}}
    """
    if isinstance(tree, dict):
        return {name: pruned(below, container) for name, below in tree.items() if name != container}
    return [pruned(below, container) for below in tree] if isinstance(tree, list) else tree


def text_of(steps: Path) -> str:
    """A path as text."""
    parts = [
        name + "".join(f"[{key}={value}]" for key, value in keys.items()) for name, keys in steps
    ]
    return "/" + "/".join(parts)[:200]
