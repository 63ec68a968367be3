"""Proofs that a matching or an assignment is optimal.

They are checked here in NumPy and Python integers and share no code with the solvers, so that the
check is independent of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lightloom.control.arrays import Integers

ROOM = 2**62


@dataclass(frozen=True, eq=False)
class Blossom:
    """An odd set of nodes, within which at most (size − 1)/2 pairs can be matched."""

    members: Integers
    """The nodes of the set."""
    z: int
    """Its dual variable, positive, in units of half a weight."""


@dataclass(frozen=True, eq=False)
class MatchingProof:
    """Dual variables of a maximum-weight matching (Edmonds, 1965), in units of half a weight, in
    which they are integers.

    If y ≥ 0, z ≥ 0 and y_i + y_j + Σ z_B (over the sets B that contain i and j) ≥ 2 w_ij for all
    pairs, then the weight of every matching is at most ½ (Σ y + Σ z_B (|B| − 1)/2). A matching of
    that weight is optimal.
    """

    weights: Integers
    """w, symmetric. If circuits in `up` are preferred, all weights are multiplied so that the
    preference is an integer."""
    mate: Integers
    """The matching; -1 for nodes that are not matched."""
    y: Integers
    """The dual variable of each node."""
    blossoms: list[Blossom]
    """The odd sets with a positive dual variable."""

    @classmethod
    def of(
        cls,
        mate: Integers,
        weights: Integers,
        y: Integers,
        members: Integers,
        sizes: Integers,
        z: Integers,
    ) -> MatchingProof:
        """Makes a proof from columns: the members of all odd sets concatenated, the size of each
        set, and its dual variable."""
        ends = np.cumsum(sizes)
        sets = [Blossom(members[e - s : e], int(d)) for s, e, d in zip(sizes, ends, z, strict=True)]
        return cls(weights, mate, y, sets)

    @property
    def weight(self) -> int:
        """The weight of the matching, computed again."""
        lower = np.flatnonzero(self.mate > np.arange(len(self.mate)))
        return _sum(self.weights[lower, self.mate[lower]])

    @property
    def bound(self) -> int:
        """The largest weight of any matching, if the dual variables cover all weights."""
        sets = sum(b.z * (len(b.members) // 2) for b in self.blossoms)
        return (_sum(self.y) + sets) // 2

    def problem(self) -> str | None:
        """The first error in the matching or its proof; None if it proves that the matching is
        optimal."""
        n = len(self.weights)
        if self.weights.shape != (n, n) or self.mate.shape != (n,) or self.y.shape != (n,):
            return "not one mate and one dual for each node"
        return self._mates() or self._duals() or self._cover() or self._gap()

    def verify(self) -> bool:
        """Whether this proves that the matching is optimal."""
        return self.problem() is None

    def _mates(self) -> str | None:
        nodes = np.arange(len(self.mate))
        alone = self.mate == -1
        known = (self.mate >= 0) & (self.mate < len(nodes)) & (self.mate != nodes)
        back = self.mate[np.where(known, self.mate, 0)]
        bad = ~alone & ~(known & (back == nodes))
        return f"node {np.argmax(bad)} is not matched with one other" if bad.any() else None

    def _duals(self) -> str | None:
        if (self.y < 0).any():
            return f"the dual of node {np.argmax(self.y < 0)} is below 0"
        for at, blossom in enumerate(self.blossoms):
            size = len(blossom.members)
            inside = (blossom.members >= 0) & (blossom.members < len(self.y))
            distinct = len(np.unique(blossom.members)) == size
            if blossom.z < 0 or size < 3 or size % 2 == 0 or not distinct or not inside.all():
                return f"blossom {at} is no odd set with a dual of 0 or more"
        return None

    def _cover(self) -> str | None:
        largest = [2 * int(self.y.max(initial=0)), 2 * int(self.weights.max(initial=0))]
        y, exact = _exact(self.y, largest[0] + largest[1] + sum(b.z for b in self.blossoms))
        cover = y[:, None] + y[None, :]
        for blossom in self.blossoms:
            cover[np.ix_(blossom.members, blossom.members)] += blossom.z
        lacking = cover < 2 * self.weights.astype(exact)
        np.fill_diagonal(lacking, False)
        if lacking.any():
            i, j = np.argwhere(lacking)[0]
            return f"the duals do not cover the weight of ({i}, {j})"
        return None

    def _gap(self) -> str | None:
        bound, weight = self.bound, self.weight
        return None if bound == weight else f"the bound is {bound}, the weight {weight}"


@dataclass(frozen=True, eq=False)
class AssignmentProof:
    """Potentials of a maximum-weight assignment: if u_i + v_j ≥ w_ij for all i and j, the weight of
    every assignment is at most Σ u + Σ v.
    """

    weights: Integers
    """The weights w."""
    column_of: Integers
    """The assignment."""
    row_potential: Integers
    """The potentials u of the rows."""
    column_potential: Integers
    """The potentials v of the columns."""

    @property
    def weight(self) -> int:
        """The weight of the assignment, computed again."""
        rows = np.arange(len(self.column_of))
        return _sum(self.weights[rows, self.column_of])

    @property
    def bound(self) -> int:
        """The largest weight of any assignment, if the potentials cover all weights."""
        return _sum(self.row_potential) + _sum(self.column_potential)

    def problem(self) -> str | None:
        """The first error in the assignment or its proof; None if it proves that the assignment is
        optimal."""
        n = len(self.weights)
        if not np.array_equal(np.sort(self.column_of), np.arange(n)):
            return "a column is not there or taken twice"
        size = 2 * max(
            int(np.abs(a).max(initial=0))
            for a in (self.row_potential, self.column_potential, self.weights)
        )
        u, exact = _exact(self.row_potential, size)
        lacking = u[:, None] + self.column_potential.astype(exact)[None, :] < self.weights
        if lacking.any():
            i, j = np.argwhere(lacking)[0]
            return f"the potentials do not cover the weight of ({i}, {j})"
        bound, weight = self.bound, self.weight
        return None if bound == weight else f"the bound is {bound}, the weight {weight}"

    def verify(self) -> bool:
        """Whether this proves that the assignment is optimal."""
        return self.problem() is None


def _sum(array: Integers) -> int:
    """The sum as a Python integer, which cannot overflow."""
    return sum(map(int, array.tolist()))


def _exact(array: Integers, reach: int) -> tuple[NDArray[Any], Any]:
    """Returns the array in a type in which sums of values up to `reach` are exact."""
    exact = np.int64 if reach < ROOM else object
    return array.astype(exact), exact
