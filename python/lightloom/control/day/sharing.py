"""Max-min fair shares of paths over common circuits: the rates of all paths grow equally until
their demand or one of their circuits is exhausted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lightloom.control.arrays import Integers

Floats = NDArray[np.float64]


def shared(demand: Floats, routes: Sequence[Integers], capacity: Floats) -> Floats:
    """Returns the amount that each path carries.

    Args:
        demand: the demand of each path.
        routes: the numbers of the circuits of each path.
        capacity: the capacity of each circuit, in the unit of the demand.

    >>> routes = [np.array([0, 1]), np.array([0]), np.array([1])]
    >>> shared(np.array([9.0, 9.0, 1.0]), routes, np.array([10.0, 4.0]))
    array([3., 7., 1.])
    """
    carried, left = np.zeros(len(demand)), capacity.astype(np.float64)
    hops = np.concatenate([*routes, np.zeros(0, np.int64)]).astype(np.int64)
    of = np.repeat(np.arange(len(demand)), [len(route) for route in routes])
    active = demand > 0
    while active.any():
        on = active[of]
        users = np.bincount(hops[on], minlength=len(left))
        used = users > 0
        room = (left[used] / users[used]).min() if used.any() else np.inf
        more = min(room, (demand - carried)[active].min())
        carried[active] += more
        left -= more * users
        # A circuit counts as full within the rounding error of a float.
        full = used & (left <= 1e-9 * capacity)
        done = demand - carried <= 1e-9 * demand
        blocked = np.zeros(len(demand), bool)
        blocked[of[full[hops]]] = True
        active &= ~(done | blocked)
    return np.minimum(carried, demand)
