"""The demand, the ports and the listed circuits that remain under rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightloom.control.arrays import Integers
from lightloom.control.rules.rules import Rules


def left_both_ways(matrix: Integers, rules: Rules) -> Integers:
    """Returns the demand for which undirected circuits may still be chosen: without the demand of
    racks that are pinned or down, and of pairs that are kept apart."""
    left = matrix.copy()
    for rack, _ in rules.taken():
        left[rack, :] = 0
        left[:, rack] = 0
    return _apart(left, rules)


def left_one_way(matrix: Integers, rules: Rules) -> Integers:
    """Returns the demand for which directed circuits may still be chosen; a rack that sends over a
    pinned circuit may still receive over another one."""
    left = matrix.copy()
    for rack, _ in rules.down:
        left[rack, :] = 0
        left[:, rack] = 0
    for a, b, _ in rules.pinned:
        left[a, :] = 0
        left[:, b] = 0
    return _apart(left, rules)


def _apart(left: Integers, rules: Rules) -> Integers:
    for a, b in rules.apart:
        left[a, b] = left[b, a] = 0
    return left


def works(rules: Rules, racks: int, planes: int, *, pinned: bool) -> list[bool]:
    """Returns whether each port can be used, plane by plane: a port cannot if it is down or, with
    `pinned`, if it belongs to a pinned circuit."""
    found = [True] * (racks * planes)
    for rack, plane in rules.taken() if pinned else rules.down:
        if plane < planes:
            found[plane * racks + rack] = False
    return found


def still_up(pairs: Sequence[tuple[int, int]], rules: Rules) -> list[tuple[int, int]]:
    """Returns the circuits in `up` that the rules allow to stay."""
    busy = {rack for rack, _ in rules.taken()}
    return [(a, b) for a, b in pairs if not {a, b} & busy and not rules.are_apart(a, b)]


def listed(rows: Sequence[Sequence[Any]], rules: Rules, *, directed: bool, ports: int) -> list[Any]:
    """Returns the circuits of a list that obey the rules, in its order: without pairs that are kept
    apart, and without ports that are down or belong to a pinned circuit."""
    used: dict[tuple[str, int, int], int] = {}

    def keys(a: int, b: int, plane: int) -> list[tuple[str, int, int]]:
        ends = ("from", "to") if directed else ("", "")
        return [(ends[0], a, plane), (ends[1], b, plane)]

    def takes(a: int, b: int, plane: int) -> bool:
        if any(used.get(key, 0) >= ports for key in keys(a, b, plane)):
            return False
        for key in keys(a, b, plane):
            used[key] = used.get(key, 0) + 1
        return True

    there = set(rules.pinned if directed else rules.pinned_both_ways)
    for pinned in there:
        takes(*pinned)
    found = []
    for row in rows:
        a, b, plane = (*row, 0)[:3]
        same = (a, b, plane) if directed else (min(a, b), max(a, b), plane)
        is_down = {(a, plane), (b, plane)} & rules.down
        if same not in there and not rules.are_apart(a, b) and not is_down and takes(a, b, plane):
            found.append(row)
    return found
