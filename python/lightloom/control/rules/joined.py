"""Circuits of one decision under rules: what is there is added, who may not be joined is
joined otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lightloom.control.arrays import Integers
from lightloom.control.matching import maximum_weight_matching
from lightloom.control.rules.rules import Rules

Found = dict[str, Any]
"""What the core answers: `circuits`, `directed`, `routes`."""


def nothing(directed: bool) -> Found:
    """The answer without demand."""
    empty = np.zeros(0, np.int64)
    routes = (empty, empty, empty)
    circuits = np.zeros((0, 3), np.int64)
    return {"circuits": circuits, "directed": directed, "routes": routes, "options": "{}"}


def of_pairs(pairs: Sequence[tuple[int, int]], directed: bool) -> Found:
    """The answer that has these circuits, each with a route."""
    rows = sorted((a, b, 0) if directed else (min(a, b), max(a, b), 0) for a, b in pairs)
    circuits = np.array(rows, np.int64).reshape(-1, 3)
    routes = (np.full(len(rows), 2), circuits[:, :2].ravel(), circuits[:, 2])
    return {**nothing(directed), "circuits": circuits, "routes": routes}


def with_pinned(found: Found, rules: Rules) -> Found:
    """The circuits that were found and those that are pinned, each with a route; rows in
    the order of their racks."""
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
    """The same circuits, but for racks that are kept apart and had been joined because
    neither had any demand left: they and all others without are joined anew, as many as
    may be, and as they were wherever that does not cost a circuit. Circuits that are up and
    stay are left alone: they have no demand for each other."""
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
    """As many pairs as may be joined; of those, as many as possible that were."""
    n = len(racks)
    weights = np.zeros((n, n), np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            pair = (racks[i], racks[j])
            # A pair more outweighs any number of pairs that stay.
            weight = 0 if rules.are_apart(*pair) else n + (pair in as_were)
            weights[i, j] = weights[j, i] = weight
    if not weights.any():
        return []
    found = maximum_weight_matching(weights, symmetric=True).pairs.tolist()
    return [(racks[i], racks[j]) for i, j in found if weights[i, j]]
