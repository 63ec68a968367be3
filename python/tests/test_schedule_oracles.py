"""Schedules compared with the optimum over all permutations, computed by HiGHS.

A circuit carries one byte per nanosecond (8 Gb/s), so that bytes, nanoseconds and the variables of
the linear programs are the same numbers.
"""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from lightloom import control

RATE = "8 Gb/s"
Demand = np.ndarray[Any, np.dtype[np.int64]]


def demands(ports: int, count: int, seed: int) -> list[Demand]:
    """Demand matrices, from sparse to dense, some with few large entries.

    With five or more ports they are less dense, because HiGHS would take minutes otherwise.
    """
    rng = np.random.default_rng(seed)
    found: list[Demand] = []
    while len(found) < count:
        sizes = rng.random((ports, ports)) ** rng.choice([1, 6])
        there = rng.random((ports, ports)) < rng.uniform(0.3, 1 if ports < 5 else 0.6)
        demand = np.ceil(sizes * 1000).astype(np.int64) * there
        np.fill_diagonal(demand, 0)
        if demand.any():
            found.append(demand)
    return found


def useful(demand: Demand) -> list[frozenset[tuple[int, int]]]:
    """Returns the pairs that permutations serve, without permutations that serve a part of another
    one's."""
    ports = range(len(demand))
    served = {
        frozenset((i, j) for i, j in enumerate(p) if demand[i, j]) for p in permutations(ports)
    }
    return [pairs for pairs in served if not any(pairs < other for other in served)]


class Programme:
    """The programme: which permutations are lit (binary), for which time, and further variables."""

    def __init__(self, demand: Demand, longest: float, more: int) -> None:
        every = useful(demand)
        self.count, self.size = len(every), 2 * len(every) + more
        self.every = every
        self.rows: list[np.ndarray[Any, Any]] = []
        self.limits: list[float] = []
        for at in range(self.count):  # only lit permutations have a length
            self.at_most({at: -longest, self.count + at: 1}, 0)

    def at_most(self, factors: dict[int, float], limit: float) -> None:
        """Adds a constraint to the programme."""
        row = np.zeros(self.size)
        row[list(factors)] = list(factors.values())
        self.rows.append(row)
        self.limits.append(limit)

    def lit(self, i: int, j: int) -> dict[int, float]:
        """Returns the time for which input i is connected to output j, as factors."""
        joined = (at for at, pairs in enumerate(self.every) if (i, j) in pairs)
        return {self.count + at: 1.0 for at in joined}

    def time(self, night: float) -> dict[int, float]:
        """Returns the time of all slots, including nights, as factors."""
        nights = dict.fromkeys(range(self.count), night)
        return nights | {self.count + at: 1.0 for at in range(self.count)}

    def minimise(self, factors: dict[int, float]) -> float:
        """Returns the smallest value of an objective."""
        objective = np.zeros(self.size)
        objective[list(factors)] = list(factors.values())
        integral = np.zeros(self.size)
        integral[: self.count] = 1
        upper = np.full(self.size, np.inf)
        upper[: self.count] = 1
        found = milp(
            objective,
            constraints=LinearConstraint(csr_array(np.array(self.rows)), ub=self.limits),
            integrality=integral,
            bounds=Bounds(0, upper),
            options={"mip_rel_gap": 1e-6},
        )
        assert found.status == 0, found.message
        return float(found.fun)


def shortest(demand: Demand, night: float, packet: float) -> float:
    """Returns the shortest time in which circuits, with packets in parallel, serve a demand."""
    ports = len(demand)
    longest = float(max(demand.sum(axis=0).max(), demand.sum(axis=1).max()))
    programme = Programme(demand, longest, ports * ports + 1)
    left = 2 * programme.count  # then the time
    time = left + ports * ports
    programme.at_most(programme.time(night) | {time: -1}, 0)
    for i in range(ports):
        for j in range(ports):
            needed = {at: -factor for at, factor in programme.lit(i, j).items()}
            programme.at_most(needed | {left + i * ports + j: -1}, -float(demand[i, j]))
        line = {left + i * ports + j: 1.0 for j in range(ports)}
        programme.at_most(line | {time: -packet}, 0)
        line = {left + j * ports + i: 1.0 for j in range(ports)}
        programme.at_most(line | {time: -packet}, 0)
    return programme.minimise({time: 1})


def most(demand: Demand, night: float, window: float) -> float:
    """Returns the largest part of a demand that circuits carry within a window."""
    ports = len(demand)
    programme = Programme(demand, window, ports * ports)
    carried = 2 * programme.count
    programme.at_most(programme.time(night), window)
    for i in range(ports):
        for j in range(ports):
            at = carried + i * ports + j
            programme.at_most({at: 1}, float(demand[i, j]))
            lit = {slot: -factor for slot, factor in programme.lit(i, j).items()}
            programme.at_most(lit | {at: 1}, 0)
    return -programme.minimise({carried + at: -1 for at in range(ports * ports)})


def test_the_programmes_solve_what_is_known() -> None:
    """A permutation is one slot; two peers need two slots, or as much as fits."""
    alone = np.array([[0, 70, 0], [0, 0, 50], [60, 0, 0]])
    assert shortest(alone, 10, 0) == pytest.approx(80)
    assert shortest(alone, 10, 0.1) == pytest.approx((70 + 10) / 1.1)
    two = np.array([[0, 50, 30], [0, 0, 0], [0, 0, 0]])
    assert shortest(two, 10, 0) == pytest.approx(100)
    assert most(two, 10, 80) == pytest.approx(60)  # 80 minus two nights
    assert most(two, 10, 70) == pytest.approx(50)  # one of them alone
    assert most(two, 10, 45) == pytest.approx(35)


@pytest.mark.parametrize(("ports", "count"), [(4, 30), (5, 8)])
@pytest.mark.parametrize("packet", [0.0, 0.1])
def test_solstice_is_close_to_the_optimum(ports: int, count: int, packet: float) -> None:
    """The time is within 14 % of the optimum on average (abstract of the paper), and the bound is
    never above the optimum."""
    ratios = []
    for demand in demands(ports, count, seed=1):
        plan = control.solstice(
            demand, rate=RATE, night="50 ns", packet_rate=f"{8 * packet:g} Gb/s", packet="1 B"
        )
        optimum = shortest(demand, 50, packet)
        assert plan.bound_ps <= 1000 * optimum * (1 + 1e-6) + 1
        assert plan.completion_ps >= 1000 * optimum * (1 - 1e-6) - 1
        ratios.append(plan.completion_ps / (1000 * optimum))
    print("Solstice, times the optimum:", np.mean(ratios), np.round(ratios, 2))
    assert np.mean(ratios) <= 1.14


@pytest.mark.parametrize(("ports", "count"), [(4, 30), (5, 8)])
def test_eclipse_is_close_to_the_optimum(ports: int, count: int) -> None:
    """The carried demand is never below half of the optimum (the guarantee of the paper), and far
    above on average."""
    ratios = []
    for demand in demands(ports, count, seed=2):
        window = int(demand.sum() / ports) + 60
        plan = control.eclipse(demand, rate=RATE, period=f"{window} ns", night="50 ns")
        optimum = most(demand, 50, window)
        assert plan.bound >= optimum * (1 - 1e-6) - 1
        assert plan.carried_bytes <= optimum * (1 + 1e-6) + 1
        assert plan.carried_bytes >= optimum / 2
        ratios.append(plan.carried_bytes / optimum)
    print("Eclipse, share of the optimum:", np.mean(ratios), np.round(ratios, 2))
    assert np.mean(ratios) >= 0.93


def perfect(edges: np.ndarray[Any, Any]) -> bool:
    """Whether all rows and columns can be matched (SciPy)."""
    return bool((maximum_bipartite_matching(csr_array(edges), perm_type="column") >= 0).all())


@pytest.mark.parametrize("ports", [4, 16, 64])
def test_the_first_permutation_is_a_bottleneck_matching(ports: int) -> None:
    """No perfect matching has a larger smallest entry."""
    for demand in demands(ports, 5, seed=3):
        stuffed = control.quickstuff(demand)
        heaviest = int(control.birkhoff(stuffed, terms=1).weights[0])
        assert perfect(stuffed >= heaviest)
        assert not perfect(stuffed > heaviest)


@pytest.mark.parametrize("ports", [4, 16, 64])
def test_permutations_add_up_to_what_was_decomposed(ports: int) -> None:
    """The sum is exact, and the number of permutations is at most its bound."""
    for demand in demands(ports, 3, seed=4):
        units = control.sinkhorn(demand).units
        found = control.birkhoff(units)
        assert len(found.weights) <= ports**2 - 2 * ports + 2
        total = np.zeros_like(units)
        for permutation, weight in zip(found.permutations, found.weights, strict=True):
            total[np.arange(ports), permutation] += weight
        assert (total == units).all()


def test_sinkhorn_agrees_with_normalising_by_hand() -> None:
    """The scaling is unique, for any way of computing it."""
    for demand in demands(8, 5, seed=5):
        shares = demand + 0.01 * demand.sum() / 56
        np.fill_diagonal(shares, 0)
        for _ in range(2000):
            shares = shares / shares.sum(axis=1, keepdims=True)
            shares = shares / shares.sum(axis=0)
        assert control.sinkhorn(demand).shares == pytest.approx(shares, abs=1e-7)
