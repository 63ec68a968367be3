"""What rules leave of a demand, of a switch, and of a list of circuits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightloom.control.arrays import Integers
from lightloom.control.rules.rules import Rules


def left_both_ways(matrix: Integers, rules: Rules) -> Integers:
    """The demand that circuits of both directions may still be chosen for: none of racks
    that are pinned or down, or for those that they are kept apart from."""
    left = matrix.copy()
    for rack, _ in rules.taken():
        left[rack, :] = 0
        left[:, rack] = 0
    return _apart(left, rules)


def left_one_way(matrix: Integers, rules: Rules) -> Integers:
    """The same for circuits of one direction: who sends over one that is pinned may still
    receive over another."""
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
    """Which ports work, plane by plane: none that is down, and where `pinned` none of a
    circuit that is there already."""
    found = [True] * (racks * planes)
    for rack, plane in rules.taken() if pinned else rules.down:
        if plane < planes:
            found[plane * racks + rack] = False
    return found


def still_up(pairs: Sequence[tuple[int, int]], rules: Rules) -> list[tuple[int, int]]:
    """Circuits that are up, without those that cannot stay."""
    busy = {rack for rack, _ in rules.taken()}
    return [(a, b) for a, b in pairs if not {a, b} & busy and not rules.are_apart(a, b)]


def listed(rows: Sequence[Sequence[Any]], rules: Rules, *, directed: bool, ports: int) -> list[Any]:
    """Circuits of a list that obey, in its order: none that is kept apart, at a port that
    is down, or at one that is taken by a circuit that is there."""
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
