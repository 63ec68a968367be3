"""Results of the scripts in validation/opera, compared with networkx; and a run of a small network,
whose packets take the shortest paths of its recorded circuits."""

import networkx as nx
import numpy as np
import pytest

import lightloom
from lightloom.validation.scripts import beside, find_validation

lit = beside(str(find_validation() / "opera" / "expander.py"), "lit")
#: Length of a slice, and its part before the night in which a switch takes no new low-latency
#: traffic [ps].
SLICE, GUARD = 100_000_000, 90_000_000


def paths(joined: np.ndarray) -> np.ndarray:
    """Returns distances, by networkx."""
    graph = nx.from_numpy_array(joined, create_using=nx.DiGraph)
    far = np.full(joined.shape, lit.FAR)
    for src, lengths in nx.all_pairs_shortest_path_length(graph):
        for dst, hops in lengths.items():
            far[src, dst] = hops
    return far


@pytest.mark.parametrize("seed", range(20))
def test_distances_are_those_of_networkx(seed: int) -> None:
    rng = np.random.default_rng(seed)
    joined = rng.random((15, 15)) < rng.choice([0.05, 0.1, 0.2])
    np.fill_diagonal(joined, False)
    assert (lit.distances(joined) == paths(joined)).all()


def test_random_graphs_are_regular_and_no_wider_than_those_of_networkx() -> None:
    """Unions of matchings have about d (d - 1)(d - 2) / 6 triangles, and uniform regular graphs
    about (d - 1)³ / 6: unions reach slightly more nodes, at most Moore's bound."""
    rng = np.random.default_rng(1)
    means, expected = [], []
    for seed in range(30):
        joined = lit.random_regular(60, 4, rng)
        assert (joined == joined.T).all()
        assert (joined.sum(axis=0) == 4).all()
        assert not joined.diagonal().any()
        means.append(lit.mean_path(lit.distances(joined)))
        other = nx.random_regular_graph(4, 60, seed=seed)
        expected.append(nx.average_shortest_path_length(other))
    moore = (4 * 1 + 12 * 2 + 36 * 3 + 7 * 4) / 59
    assert moore < np.mean(means) < np.mean(expected)


def test_packets_go_by_the_shortest_paths_of_recorded_circuits() -> None:
    racks = 22  # 21 matchings, three on each of seven switches
    result = lightloom.run(
        {
            "cluster": {"racks": racks, "servers_per_rack": 1, "server_rate": "30 Gb/s"},
            "workload": {
                "arrivals": {"kind": "fixed-gap", "gap": "23.17 us"},
                "sizes": {"kind": "fixed", "size": "1500 B"},
                "flows": 300,
            },
            "run": {"seed": 3, "stop": "drain", "limit": "1 s"},
            "fabric": [{"kind": "opera", "switches": 7}],
        }
    )
    circuits = lit.Lit.of(result, racks)
    # Circuits that are lit at the end of the run have no night.
    last = int(result.summary["simulated_s"] * 1e12) // SLICE
    seen = 0
    for flow in result.flows.slice(1).to_pylist():
        at, end = flow["arrival_ps"], flow["finish_ps"]
        if at // SLICE != end // SLICE or at // SLICE == last:
            continue
        far = paths(circuits.usable(at // SLICE * SLICE + 1, GUARD))
        assert flow["hops"] == far[flow["src"], flow["dst"]]
        seen += 1
    assert seen > 200
