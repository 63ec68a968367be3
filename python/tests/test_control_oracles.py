"""The control library compared with other programs: networkx, SciPy, and HiGHS over all
permutations.

Solvers are compared by value, because an optimum need not be unique.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, milp
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from lightloom import control

FAMILIES = ["uniform", "heavy", "sparse", "tied", "cliques", "geometric"]


def demand_of(family: str, nodes: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, nodes, FAMILIES.index(family)])
    if family == "uniform":
        demand = rng.integers(0, 1_000_000, (nodes, nodes))
    elif family == "heavy":
        demand = np.ceil(1_000 * (1 + rng.pareto(1.1, (nodes, nodes)))).astype(np.int64)
    elif family == "sparse":
        demand = rng.integers(1, 1_000, (nodes, nodes)) * (rng.random((nodes, nodes)) < 4 / nodes)
    elif family == "tied":
        demand = rng.integers(0, 3, (nodes, nodes))
    elif family == "cliques":
        group = np.arange(nodes) // 5
        demand = rng.integers(0, 9, (nodes, nodes)) + 1_000 * (group[:, None] == group)
    else:
        place = rng.random((nodes, 2))
        distance = np.hypot(*(place[:, None] - place).transpose(2, 0, 1))
        demand = (10_000 * (1.5 - distance)).astype(np.int64)
    np.fill_diagonal(demand, 0)
    demand[0, nodes - 1] += 1
    return demand


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("nodes", [2, 5, 8, 33, 64, 128])
def test_matchings_weigh_what_networkx_finds(family: str, nodes: int) -> None:
    check_matching(demand_of(family, nodes, 1))


@pytest.mark.parametrize("family", ["sparse", "tied", "cliques"])
def test_matchings_weigh_what_networkx_finds_among_256(family: str) -> None:
    """Three of six families: networkx takes 6 s for each of the others, which agreed when they were
    compared once. Up to 128 nodes, all families are compared above."""
    check_matching(demand_of(family, 256, 2))


def check_matching(demand: np.ndarray) -> None:
    both = demand + demand.T
    graph = nx.from_numpy_array(np.triu(both))
    expected = sum(int(both[edge]) for edge in nx.max_weight_matching(graph))
    found = control.maximum_weight_matching(demand)
    assert found.weight == expected
    assert found.certificate.verify()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("nodes", [1, 2, 7, 50, 300])
def test_assignments_weigh_what_scipy_finds(family: str, nodes: int) -> None:
    weights = demand_of(family, nodes, 3)
    found = control.assignment(weights)
    assert found.weight == weights[linear_sum_assignment(weights, maximize=True)].sum()
    assert found.weight == weights[np.arange(nodes), found.column_of].sum()
    assert found.certificate.verify()


@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (3, 7), (64, 64), (65, 130), (300, 300)])
@pytest.mark.parametrize("density", [0.0, 0.01, 0.05, 0.5])
def test_matchings_are_as_large_as_scipy_s(shape: tuple[int, int], density: float) -> None:
    edges = np.random.default_rng(shape).random(shape) < density
    column_of = control.hopcroft_karp(edges)
    expected = maximum_bipartite_matching(csr_array(edges), perm_type="column")
    rows = np.flatnonzero(column_of >= 0)
    assert len(rows) == (expected >= 0).sum()
    assert edges[rows, column_of[rows]].all()
    assert len({*column_of[rows]}) == len(rows)


# Optimal schedules by mixed-integer programming. A byte takes 1 ns.

RATE, PACKETS, PACKET_RATE = "8 Gb/s", "800 Mb/s", 0.1


@dataclass
class Programme:
    """The common part of both problems: a day and a choice for every permutation, and an amount for
    every pair."""

    demand: np.ndarray
    night: float

    def __post_init__(self) -> None:
        nodes = len(self.demand)
        self.permutations = list(itertools.permutations(range(nodes)))
        self.count = len(self.permutations)
        self.pairs = list(itertools.product(range(nodes), repeat=2))
        self.rows: list[tuple[dict[int, float], float, float]] = []
        self.size = 2 * self.count + len(self.pairs) + 1
        longest = float(self.demand.sum())
        for p in range(self.count):
            self.row({p: 1, self.count + p: -longest}, -np.inf, 0)

    def row(self, terms: dict[int, float], low: float, high: float) -> None:
        self.rows.append((terms, low, high))

    def lit(self, pair: tuple[int, int]) -> dict[int, float]:
        """Returns the days in which a pair has a circuit."""
        i, j = pair
        return {p: 1.0 for p, outputs in enumerate(self.permutations) if outputs[i] == j}

    def amount(self, at: int) -> int:
        return 2 * self.count + at

    def length(self) -> dict[int, float]:
        """Returns the length of all days and nights."""
        days = dict.fromkeys(range(self.count), 1.0)
        return days | {self.count + p: self.night for p in range(self.count)}

    def least(self, cost: dict[int, float]) -> tuple[float, float]:
        """Returns the optimum that was found, and a lower bound on it."""
        entries = [(at, k, v) for at, (terms, *_) in enumerate(self.rows) for k, v in terms.items()]
        at, k, v = (np.array(column) for column in zip(*entries, strict=True))
        matrix = csr_array((v, (at, k)), shape=(len(self.rows), self.size))
        _, low, high = zip(*self.rows, strict=True)
        vector, whole, most = np.zeros(self.size), np.zeros(self.size), np.full(self.size, np.inf)
        vector[list(cost)] = list(cost.values())
        choices = slice(self.count, 2 * self.count)
        whole[choices], most[choices] = 1, 1
        done = milp(
            vector,
            constraints=LinearConstraint(matrix, np.array(low), np.array(high)),
            integrality=whole,
            bounds=Bounds(0, most),
            options={"mip_rel_gap": 1e-7, "time_limit": 120},
        )
        return float(done.fun), float(done.mip_dual_bound)


def least_time(demand: np.ndarray, night: float) -> tuple[float, float]:
    """Solves Solstice's problem: all demand is served, by circuits or in parallel by packets."""
    model = Programme(demand, night)
    end = model.size - 1
    for at, pair in enumerate(model.pairs):  # the remaining demand, for packets
        model.row({**model.lit(pair), model.amount(at): 1}, demand[pair], np.inf)
    model.row({**model.length(), end: -1}, -np.inf, 0)
    for node in range(len(demand)):
        for side in (0, 1):
            line = [at for at, pair in enumerate(model.pairs) if pair[side] == node]
            terms = dict.fromkeys(map(model.amount, line), 1.0)
            model.row({**terms, end: -PACKET_RATE}, -np.inf, 0)
    return model.least({end: 1})


def most_carried(demand: np.ndarray, night: float, period: float) -> tuple[float, float]:
    """Solves Eclipse's problem: circuits carry as many bytes as possible within a period."""
    model = Programme(demand, night)
    for at, pair in enumerate(model.pairs):  # the bytes that circuits carry
        lit = dict.fromkeys(model.lit(pair), -1.0)
        model.row({**lit, model.amount(at): 1}, -np.inf, 0)
        model.row({model.amount(at): 1}, 0, demand[pair])
    model.row(model.length(), 0, period)
    found, bound = model.least({model.amount(at): -1 for at in range(len(model.pairs))})
    return -found, -bound


def cases() -> Iterator[Any]:
    for family, night, seed in itertools.product(("uniform", "heavy"), (100, 1_000), (1, 2)):
        yield pytest.param(4, family, night, seed, id=f"4-{family}-{night}-{seed}")
    for night in (100, 1_000):
        yield pytest.param(4, "skewed", night, 3, id=f"4-skewed-{night}")
    yield pytest.param(5, "sparse", 1_000, 1, id="5-sparse")


def small_demand(nodes: int, family: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng([nodes, seed])
    if family == "uniform":
        demand = rng.integers(0, 10_000, (nodes, nodes))
    elif family == "heavy":
        demand = np.ceil(300 * (1 + rng.pareto(1.2, (nodes, nodes)))).astype(np.int64)
    elif family == "skewed":
        demand = rng.integers(1, 600, (nodes, nodes))
        demand[np.arange(nodes), (np.arange(nodes) + 1) % nodes] += 6_000
    else:
        demand = rng.integers(1, 10_000, (nodes, nodes)) * (rng.random((nodes, nodes)) < 0.4)
    np.fill_diagonal(demand, 0)
    return demand


@pytest.mark.parametrize(("nodes", "family", "night", "seed"), list(cases()))
def test_schedules_lie_between_the_optimum_and_what_is_proved(
    nodes: int, family: str, night: int, seed: int
) -> None:
    """Over 128 demands of 4 nodes Solstice took 1.03 times the optimum on average and
    1.42 at worst, where demands are shorter than a night; Eclipse carried 0.995 of it,
    0.87 at worst (0.5 is proved)."""
    demand = small_demand(nodes, family, seed)
    slack = 1 + 1e-6
    plan = control.solstice(
        demand, rate=RATE, packet_rate=PACKETS, night=f"{night} ns", packet="1 B"
    )
    took, bound = plan.completion_ps / 1_000, plan.bound_ps / 1_000
    best, certain = least_time(demand, night)
    assert certain <= took * slack
    assert bound <= best * slack
    assert took <= 1.25 * best

    period = int(0.7 * max(demand.sum(axis=0).max(), demand.sum(axis=1).max())) + night
    frame = {"rate": RATE, "period": f"{period} ns", "night": f"{night} ns"}
    found = control.eclipse(demand, **frame)
    best, certain = most_carried(demand, night, period)
    assert found.carried_bytes <= certain * slack
    assert best <= found.bound * slack
    assert best <= control.coverage_bound(demand, **frame) * slack
    assert found.carried_bytes >= 0.5 * best
