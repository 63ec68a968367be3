"""A user's policy: racks with much demand for each other stay joined, the others take turns.

    [[fabric]]
    kind = "hybrid"
    policy = { file = "policies/threshold.py:Threshold", above = "10 MB" }
"""

import numpy as np

from lightloom.policies import bytes_of


class Threshold:
    """Joins pairs of racks with more than `above` for each other, the heaviest first.

    The demand of a lit circuit counts `times` as much, because a change costs both racks
    the time in which mirrors move. The other racks meet in turn, so that small demand does
    not wait for ever behind large demand.
    """

    # Circuits that stay are never dark: OCP's keep, delete, create.
    order = "delete-create"

    def __init__(self, above="10 MB", times=2.0):
        self.above = bytes_of(above)
        self.times = times
        self.turn = 0

    def decide(self, demand, switch):
        """The circuits until the next decision."""
        both = demand + demand.T  # a circuit carries both directions
        weight = both.astype(float)
        for a, b, _ in switch.lit:
            weight[a, b] *= self.times
        free = switch.works[0].copy()  # a rack whose port is broken gets no circuit
        pairs = []

        def join(a, b):
            pairs.append((a, b))
            free[[a, b]] = False

        a, b = np.nonzero(np.triu(both > self.above))
        # Ties go to the racks with the lowest numbers, so that every run is the same.
        for at in np.argsort(-weight[a, b], kind="stable"):
            if free[a[at]] and free[b[at]]:
                join(a[at], b[at])

        # In turn t, rack a meets the rack b with a + b = t, modulo all racks.
        self.turn += 1
        for a in np.flatnonzero(free):
            b = (self.turn - a) % switch.racks
            if a < b and free[a] and free[b] and both[a, b]:
                join(a, b)
        return pairs
