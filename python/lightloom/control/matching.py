"""Matchings: sets of circuits with at most one per port that maximise the demand on them."""

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
    """Circuits that connect nodes in pairs."""

    mate: Integers
    """The node with which each node is matched; -1 for the remaining node if their number is
    odd."""
    weight: int
    """The sum of the demand of the pairs in both directions."""
    certificate: MatchingProof
    """Dual variables that prove that no matching has a larger weight."""

    @property
    def pairs(self) -> Integers:
        """One row for each pair, the lower node first."""
        lower = np.flatnonzero(self.mate > np.arange(len(self.mate)))
        return np.column_stack((lower, self.mate[lower]))


@dataclass(frozen=True, eq=False)
class Assignment:
    """Circuits that connect every input with one output."""

    column_of: Integers
    """The column of each row."""
    weight: int
    """The sum of the chosen entries."""
    certificate: AssignmentProof
    """Potentials that prove that no assignment has a larger weight."""


def maximum_weight_matching(
    demand: ArrayLike,
    *,
    symmetric: bool = False,
    up: Circuits | None = None,
    bonus: int | None = None,
) -> Matching:
    """Computes the perfect matching of maximum weight, by which c-Through sets its circuits
    (SIGCOMM 2010, §4.1). A circuit between two nodes carries both directions.

    The result is exact. Edmonds' algorithm runs on a sparse graph that grows until its duals cover
    all pairs; 1,000 nodes take tens of milliseconds.

    Args:
        demand: N × N numbers ≥ 0, zeros on the diagonal. The weight of a pair is the sum of its two
            entries.
        symmetric: the entries are weights of undirected circuits instead; the two entries of a pair
            are equal.
        up: circuits that are lit now, as pairs of nodes. They are preferred among matchings of
            equal weight.
        bonus: addition to the weight of each circuit in `up`; circuits then change only if the gain
            is larger. Requires `up`.

    Raises:
        ConfigError: if an argument is invalid; it names the entry.

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
        limit, remedy = "has no effect without up, the lit circuits", "give up, or remove bonus"
        raise refusal("bonus", bonus, limit, remedy)
    circuits = pairs("up", () if up is None else up)
    bonus = None if bonus is None else count("bonus", bonus, 0, LARGEST)
    mate, weight, weights, y, members, sizes, z = _core.control_matching(
        table, symmetric, circuits, bonus
    )
    return Matching(mate, weight, MatchingProof.of(mate, weights, y, members, sizes, z))


def assignment(weights: ArrayLike) -> Assignment:
    """Computes the assignment of maximum weight: a column for every row, every column once. With
    demand as weights, it is the best set of directed circuits.

    Args:
        weights: N × N integers ≥ 0. The diagonal is treated as all other entries; if it is 0, a row
            that is assigned its own column has no circuit.

    Raises:
        ConfigError: if an entry is invalid; it names the entry.

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
    """Computes a matching of rows with columns of maximum size.

    Args:
        edges: Booleans, or numbers that are true unless 0; the table need not be square.

    Returns:
        The column of each row; -1 for rows without one.

    >>> hopcroft_karp([[1, 1, 0], [1, 0, 0], [1, 0, 0]])
    array([ 1,  0, -1])
    """
    return _core.control_hopcroft_karp(booleans("edges", edges))
