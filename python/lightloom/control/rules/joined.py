"""Permanent circuits under rules: pinned circuits are added, pairs that are kept apart are
replaced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lightloom.control.arrays import Integers
from lightloom.control.matching import maximum_weight_matching
from lightloom.control.rules.rules import Rules

Found = dict[str, Any]
"""The answer of the core: `circuits`, `directed`, `routes`."""


def nothing(directed: bool) -> Found:
    """The answer without circuits."""
    empty = np.zeros(0, np.int64)
    routes = (empty, empty, empty)
    circuits = np.zeros((0, 3), np.int64)
    return {"circuits": circuits, "directed": directed, "routes": routes, "options": "{}"}


def of_pairs(pairs: Sequence[tuple[int, int]], directed: bool) -> Found:
    """The answer with these circuits, each with a route."""
    rows = sorted((a, b, 0) if directed else (min(a, b), max(a, b), 0) for a, b in pairs)
    circuits = np.array(rows, np.int64).reshape(-1, 3)
    routes = (np.full(len(rows), 2), circuits[:, :2].ravel(), circuits[:, 2])
    return {**nothing(directed), "circuits": circuits, "routes": routes}


def with_pinned(found: Found, rules: Rules) -> Found:
    """Adds the pinned circuits to an answer, each with a route, and sorts by racks."""
    rows = rules.pinned if found["directed"] else rules.pinned_both_ways
    if not rows:
        return found
    lengths, racks, planes = found["routes"]
    added = np.array(rows, np.int64)
    circuits = np.concatenate((found["circuits"], added))
    order = np.lexsort((circuits[:, 2], circuits[:, 1], circuits[:, 0]))
    routes = (
        np.concatenate((lengths, np.full(len(added), 2))),
        np.concatenate((racks, added[:, :2].ravel())),
        np.concatenate((planes, added[:, 2])),
    )
    return {**found, "circuits": circuits[order], "routes": routes}


def rejoined(
    found: Found, left: Integers, rules: Rules, up: Sequence[tuple[int, int]] = ()
) -> Found:
    """Replaces circuits between racks that are kept apart. Such racks were connected because
    neither has any remaining demand. All circuits without demand are chosen again: as many as
    possible, and among those choices, as many of the old ones as possible. Circuits in `up` that
    stay are not changed, although they have no demand."""
    circuits = found["circuits"]
    if not any(rules.are_apart(a, b) for a, b in circuits[:, :2].tolist()):
        return found
    lit = {frozenset(pair) for pair in up}
    stays = [frozenset(pair) in lit for pair in circuits[:, :2].tolist()]
    apart = [rules.are_apart(a, b) for a, b in circuits[:, :2].tolist()]
    idle = (left + left.T)[circuits[:, 0], circuits[:, 1]] == 0
    idle &= ~(np.array(stays, bool) & ~np.array(apart, bool))
    as_were = {tuple(row) for row in circuits[idle][:, :2].tolist()}
    busy = {rack for rack, _ in rules.taken()} | set(circuits[~idle][:, :2].ravel().tolist())
    free = [rack for rack in range(len(left)) if rack not in busy]
    pairs = _anew(free, as_were, rules)
    rows = np.array([(*pair, 0) for pair in pairs], np.int64).reshape(-1, 3)
    after = np.concatenate((circuits[~idle], rows))
    after = after[np.argsort(after[:, 0], kind="stable")]
    routes = (np.full(len(after), 2), after[:, :2].ravel(), after[:, 2])
    return {**found, "circuits": after, "routes": routes}


def _anew(racks: list[int], as_were: set[tuple[int, int]], rules: Rules) -> list[tuple[int, int]]:
    """Returns as many pairs as possible that are not kept apart; among those, as many old ones as
    possible."""
    n = len(racks)
    weights = np.zeros((n, n), np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            pair = (racks[i], racks[j])
            # An additional pair outweighs any number of old pairs.
            weight = 0 if rules.are_apart(*pair) else n + (pair in as_were)
            weights[i, j] = weights[j, i] = weight
    if not weights.any():
        return []
    found = maximum_weight_matching(weights, symmetric=True).pairs.tolist()
    return [(racks[i], racks[j]) for i, j in found if weights[i, j]]
