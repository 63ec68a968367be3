"""Matchings: which circuits, one a port, are worth most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lightloom import _core
from lightloom.control.arrays import LARGEST, Integers, booleans, count, numbers, pairs, square
from lightloom.control.proofs import AssignmentProof, MatchingProof
from lightloom.errors import refusal

Circuits = Iterable[tuple[int, int]] | NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Matching:
    """Circuits that join nodes two and two."""

    mate: Integers
    """Who each node is matched with; -1 for the one that is left if their
    number is odd."""
    weight: int
    """The sum over the pairs of the demand in both directions."""
    certificate: MatchingProof
    """Duals that prove that no matching weighs more."""

    @property
    def pairs(self) -> Integers:
        """A row for each pair, the lower node first."""
        lower = np.flatnonzero(self.mate > np.arange(len(self.mate)))
        return np.column_stack((lower, self.mate[lower]))


@dataclass(frozen=True, eq=False)
class Assignment:
    """Circuits that join every output with one input."""

    column_of: Integers
    """The column of every row."""
    weight: int
    """The sum of the chosen entries."""
    certificate: AssignmentProof
    """Potentials that prove that no assignment weighs more."""


def maximum_weight_matching(
    demand: ArrayLike,
    *,
    symmetric: bool = False,
    up: Circuits | None = None,
    bonus: int | None = None,
) -> Matching:
    """The perfect matching of most weight, as c-Through sets its circuits
    (SIGCOMM 2010, §4.1): a circuit between two nodes carries both directions.

    Exact, by Edmonds' algorithm on a sparse graph that grows until its duals
    cover all pairs. 1,000 nodes take tens of milliseconds.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal. A pair weighs the sum
            of its two entries.
        symmetric: the entries are weights of undirected circuits instead, both
            of a pair being the same.
        up: circuits that are lit now, as pairs of nodes. They are preferred
            among matchings of equal weight.
        bonus: how much more than its weight a circuit of `up` counts. What does
            not gain that much does not change circuits. Only with `up`.

    Raises:
        ConfigError: naming the entry.

    >>> demand = [[0, 6, 5, 0], [0, 0, 0, 5], [0, 0, 0, 0], [0, 0, 0, 0]]
    >>> matching = maximum_weight_matching(demand)
    >>> matching.pairs  # rather than the heaviest pair, 0 with 1
    array([[0, 2],
           [1, 3]])
    >>> matching.weight, matching.certificate.bound, matching.certificate.verify()
    (10, 10, True)
    """
    table = numbers("demand", demand)
    if bonus is not None and up is None:
        limit, remedy = "no circuits are up that it would count for", "give up, or no bonus"
        raise refusal("bonus", bonus, limit, remedy)
    circuits = pairs("up", () if up is None else up)
    bonus = None if bonus is None else count("bonus", bonus, 0, LARGEST)
    mate, weight, weights, y, members, sizes, z = _core.control_matching(
        table, symmetric, circuits, bonus
    )
    return Matching(mate, weight, MatchingProof.of(mate, weights, y, members, sizes, z))


def assignment(weights: ArrayLike) -> Assignment:
    """The assignment of most weight: a column for every row, every column once.
    With demand as weights, the best set of directed circuits.

    Args:
        weights: N × N whole numbers ≥ 0. The diagonal is an entry like any
            other; with zeros on it, a row with its own column has no circuit.

    Raises:
        ConfigError: naming the entry.

    >>> found = assignment([[0, 8, 7], [6, 0, 1], [5, 9, 0]])
    >>> found.column_of, found.weight
    (array([2, 0, 1]), 22)
    >>> found.certificate.verify()
    True
    """
    table = square("weights", weights)
    column_of, weight, rows, columns = _core.control_assignment(table)
    return Assignment(column_of, weight, AssignmentProof(table, column_of, rows, columns))


def hopcroft_karp(edges: ArrayLike) -> Integers:
    """A matching of rows with columns that is as large as possible.

    Args:
        edges: truth values, or numbers that are true unless 0; need not be square.

    Returns:
        The column of every row, -1 for rows that have none.

    >>> hopcroft_karp([[1, 1, 0], [1, 0, 0], [1, 0, 0]])
    array([ 1,  0, -1])
    """
    return _core.control_hopcroft_karp(booleans("edges", edges))
