"""Matchings and assignments of skewed demand, compared with networkx and SciPy: only few edges of
each node matter, and these are not the heaviest ones."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from lightloom import control

FAMILIES = ["gravity", "hubs", "nested", "product", "apart"]


def demand_of(family: str, nodes: int, seed: int) -> np.ndarray:
    """Returns a symmetric demand."""
    rng = np.random.default_rng([seed, nodes, FAMILIES.index(family)])
    noise = rng.integers(0, 3, (nodes, nodes))
    node = np.arange(nodes)
    if family == "gravity":
        busy = rng.pareto(1.2, nodes) + 1
        demand = (1_000 * np.outer(busy, busy)).astype(np.int64)
    elif family == "hubs":
        demand = noise + 1_000 * (np.minimum.outer(node, node) < nodes // 10)
    elif family == "nested":
        alike = sum((node[:, None] // 3**k == node // 3**k).astype(np.int64) for k in range(1, 5))
        demand = noise + 10**alike
    elif family == "product":
        demand = np.outer(node, node)
    else:
        demand = 2 * np.abs(node[:, None] - node) + noise % 2
    demand = np.triu(demand, 1)
    return demand + demand.T


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("nodes", [9, 40, 63, 100])
def test_matchings_of_skewed_demand_weigh_what_networkx_finds(family: str, nodes: int) -> None:
    weights = demand_of(family, nodes, 1)
    graph = nx.from_numpy_array(weights)
    expected = sum(int(weights[edge]) for edge in nx.max_weight_matching(graph))
    found = control.maximum_weight_matching(weights, symmetric=True)
    assert found.weight == expected
    assert found.certificate.verify()
    assert (found.mate < 0).sum() == nodes % 2


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("nodes", [9, 100, 400])
def test_assignments_of_skewed_demand_weigh_what_scipy_finds(family: str, nodes: int) -> None:
    weights = demand_of(family, nodes, 2)
    found = control.assignment(weights)
    assert found.weight == weights[linear_sum_assignment(weights, maximize=True)].sum()
    assert found.certificate.verify()


def test_circuits_that_are_up_stay_among_equals() -> None:
    """With equal weights, all perfect matchings weigh the same, so that the lit one stays."""
    weights = np.ones((40, 40), np.int64) - np.eye(40, dtype=np.int64)
    up = np.random.default_rng(5).permutation(40).reshape(20, 2)
    found = control.maximum_weight_matching(weights, symmetric=True, up=up)
    assert {frozenset(pair) for pair in found.pairs.tolist()} == set(map(frozenset, up.tolist()))
