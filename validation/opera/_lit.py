"""The recorded circuits of a run, and the distances of racks over them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.bool_]

#: No path.
FAR = 99


@dataclass(frozen=True)
class Lit:
    """Circuits, a row each: the sender and receiver on which switch, and when [ps]."""

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    plane: npt.NDArray[np.int64]
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    racks: int

    @classmethod
    def of(cls, result: Any, racks: int) -> "Lit":
        """Those of a run."""
        names = ("a", "b", "plane", "from_ps", "until_ps")
        columns = (result.circuits[name].to_numpy().astype(np.int64) for name in names)
        return cls(*columns, racks)

    def usable(self, at: int, guard: int) -> Matrix:
        """Circuits at a time that will be lit for at least `guard`: the sender and receiver."""
        use = (self.begins <= at) & (at < self.ends) & (self.ends - at >= guard)
        joined = np.zeros((self.racks, self.racks), dtype=bool)
        joined[self.a[use], self.b[use]] = True
        return joined


def distances(joined: Matrix) -> npt.NDArray[np.int64]:
    """The number of circuits from each rack to each other, `FAR` if there is no path, by
    breadth-first search."""
    racks = len(joined)
    reached = np.eye(racks, dtype=bool)
    far = np.where(reached, 0, FAR)
    for steps in range(1, racks):
        new = (reached.astype(np.int64) @ joined > 0) & ~reached
        if not new.any():
            break
        far[new] = steps
        reached |= new
    return far


def mean_path(far: npt.NDArray[np.int64]) -> float:
    """Mean over all ordered pairs of different racks."""
    return float(far.sum() / (len(far) * (len(far) - 1)))


def random_regular(racks: int, degree: int, rng: np.random.Generator) -> Matrix:
    """A random regular graph: this number of random perfect matchings that share no pair."""
    joined = np.zeros((racks, racks), dtype=bool)
    while degree:
        ends = rng.permutation(racks).reshape(2, -1)
        if not joined[ends[0], ends[1]].any():
            joined[ends[0], ends[1]] = joined[ends[1], ends[0]] = True
            degree -= 1
    return joined
