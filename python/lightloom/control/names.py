"""Names of nodes: in the rows and columns of a matrix, and at the ends of circuits."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from lightloom.control.arrays import pairs
from lightloom.errors import ConfigError, refusal

Axis = Literal["row", "column"]
Where = Callable[[Axis, int], str]
"""A function that returns the file, and the position in it, of the name of a row or column."""


def printable(name: str) -> str:
    """Replaces characters of a name that a terminal or an SVG cannot show."""
    return "".join(character if character.isprintable() else "�" for character in name)


def agreed(
    rows: Sequence[str], columns: Sequence[str], where: Where
) -> tuple[list[str], list[int] | None]:
    """Returns the names of the nodes, and the row of each column; None if rows are already in the
    order of the columns.

    Nodes have the order of the columns. If only rows or only columns have names, or the others are
    only numbered, both have these names, in the same order.

    Raises:
        ConfigError: if a name is empty, occurs twice, or is only among the rows or the columns.

    >>> agreed(["b", "c", "a"], ["a", "b", "c"], lambda axis, at: f"d.csv: {axis} {at}")
    (['a', 'b', 'c'], [2, 0, 1])
    >>> agreed(["1", "2"], ["a", "b"], lambda axis, at: f"d.csv: {axis} {at}")
    (['a', 'b'], None)
    """
    if {*rows}.isdisjoint(columns):
        if _only_count_beside(rows, columns):
            rows = []
        elif _only_count_beside(columns, rows):
            columns = []
    row_of, column_of = once("row", rows, where), once("column", columns, where)
    if not (rows and columns):
        return [*columns, *rows], None
    _each_in("row", row_of, "column", column_of, where)
    _each_in("column", column_of, "row", row_of, where)
    return [*columns], [row_of[name] for name in columns]


def only_count(names: Sequence[str]) -> bool:
    """Whether names are only numbers from 0 or 1 on, possibly with a prefix that libraries add.

    >>> only_count(["column_0", "column_1"]), only_count(["0", "1", "10", "2"])
    (True, False)
    """
    return _numbers(names) in ([*range(len(names))], [*range(1, len(names) + 1)])


def _only_count_beside(names: Sequence[str], others: Sequence[str]) -> bool:
    """Whether names only number the nodes that `others` name. Different numbers do not: rows 1 and
    2 are not columns 3 and 4."""
    return only_count(names) and bool(others) and (only_count(others) or not _numbers(others))


def _numbers(names: Sequence[str]) -> list[int]:
    """The numbers in the names; empty if a name is more than a number."""
    found = [re.fullmatch(r"(?:column[_ ]?|[cf])?(\d{1,9})", name) for name in names]
    return [int(match[1]) for match in found if match] if all(found) else []


def once(axis: Axis, names: Sequence[str], where: Where) -> dict[str, int]:
    """Returns name → index of the row or column.

    Raises:
        ConfigError: if a name is empty or occurs twice.
    """
    found: dict[str, int] = {}
    for at, name in enumerate(names):
        wrong = "" if name else f"a {axis} without a name"
        if name in found:
            wrong = f"`{name}` names two {axis}s"
        if wrong:
            raise ConfigError(f"{where(axis, at)}: {wrong}; name every node once")
        found[name] = at
    return found


def _each_in(
    axis: Axis, names: Mapping[str, int], other: Axis, known: Mapping[str, int], where: Where
) -> None:
    for name, at in names.items():
        if name not in known:
            limit = f"`{name}` names a {axis}, but no {other}"
            remedy = "give rows and columns the same names, or name only rows or only columns"
            raise ConfigError(f"{where(axis, at)}: {limit}; {remedy}")


def numbered(key: str, circuits: Iterable[Any], names: Sequence[str]) -> list[tuple[int, int]]:
    """Returns circuits as pairs of indices; names are looked up in the names of the demand.

    Raises:
        ConfigError: if an end is not a node; it names the circuit and the end.

    >>> numbered("up", [("a", "c"), (1, 3)], ["a", "b", "c", "d"])
    [(0, 2), (1, 3)]
    """
    node_of = {name: at for at, name in enumerate(names)}
    return pairs(key, (_ends(f"{key}[{at}]", pair, node_of) for at, pair in enumerate(circuits)))


def check_numbers(path: object, circuits: Iterable[Sequence[Any]], names: Sequence[str]) -> None:
    """Raises an error if a list has numbers, the names of the nodes are numbers as well, and one of
    these is not the index of its node.

    Raises:
        ConfigError: naming the file, the circuit, and the node that the number would mean.

    >>> check_numbers("l.json", [(0, 1)], ["0", "1"])
    >>> check_numbers("l.json", [("1", "2")], ["1", "2", "3"])
    """
    apart = [at for at, name in enumerate(names) if _is_number(name) and int(name) != at]
    for row, circuit in enumerate(circuits):
        if not apart or any(isinstance(end, str) for end in circuit):
            continue
        called = names[apart[0]]
        limit = f"numbers are places from 0, and the node called `{called}` is at {apart[0]}"
        text = ", ".join(f'"{end}"' for end in circuit)
        remedy = f"write names as text, like [{text}]"
        raise ConfigError(f"{path}: circuits[{row}] = {[*circuit]}: {limit}; {remedy}")


def _is_number(name: str) -> bool:
    return re.fullmatch(r"[0-9]{1,18}", name) is not None


def nodes_of(key: str, circuits: Iterable[Any], names: Sequence[str]) -> list[list[Any]]:
    """Returns circuits as two indices, and a plane if it is given; names are looked up in the names
    of the demand.

    >>> nodes_of("circuits", [["a", "c"], [1, 2, 4]], ["a", "b", "c"])
    [[0, 2], [1, 2, 4]]
    """
    node_of = {name: at for at, name in enumerate(names)}
    rows = (_ends(f"{key}[{at}]", row, node_of) for at, row in enumerate(circuits))
    return [[*row] if isinstance(row, tuple) else row for row in rows]


def named(text: str, names: Sequence[str]) -> str:
    """Replaces numbers of racks in a text about a circuit by names, if racks have names.

    >>> named("(1, 2) on plane 0", ["a", "b", "c"]), named("rack 1 has no port", ["a", "b"])
    ('(b, c) on plane 0', 'b has no port')
    """

    def name(number: str) -> str:
        return names[int(number)] if int(number) < len(names) else number

    text = re.sub(r"^\((\d+), (\d+)\)", lambda at: f"({name(at[1])}, {name(at[2])})", text)
    return re.sub(r"^rack (\d+)", lambda at: name(at[1]), text) if names else text


def _ends(key: str, pair: Any, node_of: Mapping[str, int]) -> Any:
    """Replaces names by indices; other values are unchanged."""
    if isinstance(pair, str) or not isinstance(pair, Iterable):
        return pair
    return tuple(_node(key, end, node_of) if isinstance(end, str) else end for end in pair)


def _node(key: str, name: str, node_of: Mapping[str, int]) -> int:
    """The index of a named node."""
    name = printable(name)
    if not node_of:
        raise refusal(key, name, "the demand does not name its nodes", "give their numbers")
    if name not in node_of:
        remedy = (
            "leave its circuit out, or give it a row and a column or a record of 0 bytes, or list "
            "all nodes by --map"
        )
        raise refusal(key, name, "no node of the demand", remedy)
    return node_of[name]
