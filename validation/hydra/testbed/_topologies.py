"""The two topologies of Fig 8b, three racks on two optical switches, one after the other."""

from typing import Any

from lightloom.policies import Circuits

#: Racks 0 and 1 are connected by way of rack 2.
FIRST = Circuits([(0, 2, 0), (1, 2, 1)], routes=[[0, 2], [1, 2], [0, 2, 1]])
#: Racks 0 and 1 are connected directly.
SECOND = Circuits([(0, 1, 0), (1, 2, 1)], routes=[[0, 1], [1, 2]])


class Topologies:
    """The first topology for a number of intervals, then the second."""

    order = "three-substeps"

    def __init__(self, after: int) -> None:
        self.left = after

    def decide(self, demand: Any, switch: Any) -> Circuits:
        """The topology of the interval."""
        del demand, switch
        self.left -= 1
        return FIRST if self.left >= 0 else SECOND
