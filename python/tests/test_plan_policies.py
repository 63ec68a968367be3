"""`plan` makes one decision of a policy: the same as a simulated controller."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cli_support import ROOT
from typer.testing import CliRunner

import lightloom
from lightloom import _core, control
from lightloom.cli import app
from lightloom.cli.plan_options import flag_of
from lightloom.policies.registry import RENAMED, registry
from lightloom.simulation import traces

RACKS = 8
GB = 10**9
Circuits = Counter[tuple[int, int]]
REGISTRY = json.loads(_core.policies())


def kinds() -> list[str]:
    return [entry["kind"] for entry in REGISTRY]


# Every policy, every key


@pytest.mark.parametrize("entry", REGISTRY, ids=kinds())
def test_every_policy_of_the_registry_plans_by_all_its_names(entry: dict[str, Any]) -> None:
    own = {"circuits": [[0, 2], [1, 3]]} if entry["kind"] == "fixed" else {}
    demand = np.full((4, 4), 2 * GB)
    np.fill_diagonal(demand, 0)
    for name in (entry["kind"], *entry["aliases"]):
        plan = control.plan(demand, name, **own)
        assert plan.algorithm == name
        assert plan.figures["carried_bytes"] > 0
        assert name in control.ALGORITHMS


@pytest.mark.parametrize("entry", REGISTRY, ids=kinds())
def test_every_key_of_a_policy_is_an_option(
    entry: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(app, ["plan", "-a", entry["kind"], "--help"]).stdout
    keys = [RENAMED.get(key, key) for key in entry["schema"].get("properties", {})]
    assert {*keys} <= {*registry()[entry["kind"]].options}
    for key in keys:
        assert f" {flag_of(key)} " in shown
        assert flag_of(key) in (ROOT / "docs" / "control.md").read_text(encoding="utf-8")


def test_defaults_are_those_of_the_simulated_fabrics() -> None:
    """The defaults equal those that `explain` prints for `kind = "hydra"`, by keys of the same
    name; the rate of circuits is that of the paper, because a plan has no cluster."""
    fabrics = {entry["kind"]: entry for entry in json.loads(_core.registry())}
    fabric = fabrics["hydra"]["schema"]["properties"]
    options = control.plan([[0, GB], [GB, 0]], "hydra").options
    same = {"planes": "planes", "period": "interval"}
    same |= {key: key for key in ("hops", "vlans", "need", "threshold", "reconfigure")}
    assert {key: options[key] for key in same} == {
        key: fabric[other]["default"] for key, other in same.items()
    }
    (paper,) = [p for p in fabrics["hydra"]["presets"] if p["name"] == "paper"]
    assert options["rate"] == paper["table"]["circuit_rate"]


# The same decision as in a simulation


def demand_of(seed: int, density: float, largest: int) -> np.ndarray:
    """Returns demand between some racks, in whole tenths of a gigabyte.

    The equal parts of a split pair differ clearly from those of any other pair.
    """
    rng = np.random.default_rng(seed)
    while True:
        there = rng.random((RACKS, RACKS)) < density
        demand = np.where(there, rng.integers(1, 10 * largest, (RACKS, RACKS)), 0) * GB // 10
        np.fill_diagonal(demand, 0)
        both = np.triu(demand + demand.T)
        parts = np.ceil(np.triu(np.maximum(demand, demand.T)) * 8 / 10 / (10 * GB))
        weights = np.sort(both[both > 0] / parts[both > 0])
        if (np.diff(weights) > GB // 20).all():
            return demand


def first_lit(demand: np.ndarray, fabric: dict[str, Any], folder: Path) -> Circuits:
    """Returns the circuits that a simulation lights first, with flows of this demand.

    Servers are so slow that each sends less than 13 MB before the first decision.
    """
    src, dst = demand.nonzero()
    columns = {"src": src, "dst": dst, "bytes": demand[src, dst], "arrival_ps": 0 * src}
    path = traces.write(pa.table({k: columns[k] for k in traces.COLUMNS}), folder / "t.csv")
    experiment = {
        "cluster": {"racks": RACKS, "servers_per_rack": 1, "server_rate": "10 Mb/s"},
        "workload": {"trace": str(path)},
        "run": {"stop": "19 s"},
        "fabric": [fabric],
    }
    lit = lightloom.run(experiment).circuits
    first = lit["from_ps"].to_numpy() == min(lit["from_ps"].to_pylist())
    rows = zip(lit["a"].to_pylist(), lit["b"].to_pylist(), first, strict=True)
    return Counter((min(a, b), max(a, b)) for a, b, is_first in rows if is_first)


def planned(demand: np.ndarray, algorithm: str, **options: Any) -> Circuits:
    table = control.plan(demand, algorithm, **options).circuits
    assert table is not None
    return Counter(zip(table.a.tolist(), table.b.tolist(), strict=True))


@pytest.mark.parametrize("unrequested", ["rotate", "keep", "alone"])
@pytest.mark.parametrize("seed", range(3))
def test_c_through_lights_what_is_planned(seed: int, unrequested: str, tmp_path: Path) -> None:
    # Weights differ by at least 100 MB, so the bytes that are sent before the decision do not
    # affect it.
    demand = demand_of(seed, 0.15, 90)
    fabric = {"kind": "cthrough", "unrequested": unrequested, "socket_buffer": "1 TB"}
    lit = first_lit(demand, fabric, tmp_path)
    assert lit == planned(demand, "cthrough", unrequested=unrequested)
    assert len(lit) == RACKS // 2 or unrequested == "alone"


@pytest.mark.parametrize(
    "options",
    [{}, {"planes": 3}, {"planes": 2, "hops": 1}, {"planes": 4, "need": "circuit"}, {"vlans": 1}],
)
@pytest.mark.parametrize("seed", range(3))
def test_hydra_lights_what_is_planned(seed: int, options: dict[str, Any], tmp_path: Path) -> None:
    # From one gigabyte (0.8 Gb/s) to several circuits for 10 s.
    demand = demand_of(seed, 0.4, 40)
    lit = first_lit(demand, {"kind": "hydra", "circuit_rate": "10 Gb/s", **options}, tmp_path)
    assert lit == planned(demand, "hydra", **options)
    assert lit


@pytest.mark.parametrize("kind", ["assignment", "hydra"])
def test_any_policy_of_a_hybrid_network_lights_what_is_planned(kind: str, tmp_path: Path) -> None:
    demand = demand_of(9, 0.4, 40)
    planes = 1 if kind == "assignment" else 3
    own = {"policy": kind, "interval": "10 s", "planes": planes, "circuit_rate": "10 Gb/s"}
    lit = first_lit(demand, {"kind": "hybrid", **own}, tmp_path)
    table = control.plan(demand, kind, **({} if planes == 1 else {"planes": planes})).circuits
    assert table is not None
    ends = zip(table.a.tolist(), table.b.tolist(), strict=True)
    assert lit == Counter((min(a, b), max(a, b)) for a, b in ends)


# HydRA


def test_large_pairs_are_split_unless_told_otherwise() -> None:
    """30 GB in 10 s are 24 Gb/s: three circuits of 10 Gb/s."""
    demand = [[0, 30 * GB, 0], [0, 0, 0], [0, GB, 0]]
    split = control.plan(demand, "hydra")
    assert planned(np.array(demand), "hydra") == {(0, 1): 3, (1, 2): 1}
    assert split.figures["carried_bytes"] == 31 * GB
    assert split.circuits is not None
    assert sorted(split.circuits.carried.tolist()) == [GB, 10 * GB, 10 * GB, 10 * GB]
    whole = control.plan(demand, "hydra", split=False)
    # One circuit carries 12.5 GB in 10 s.
    assert whole.figures["carried_bytes"] == 12_500_000_000 + GB
    assert planned(np.array(demand), "hydra", split=False) == {(0, 1): 1, (1, 2): 1}


def test_small_pairs_stay_electrical_and_are_told() -> None:
    demand = [[0, 600_000, 0], [399_999, 0, 500_000], [9, 500_000, 0]]
    plan = control.plan(demand, "hydra")
    assert plan.details["below_threshold"] == {"pairs": 2, "bytes": 999_999 + 9}
    assert [path["racks"] for path in json.loads(plan.text())["paths"]] == [[1, 2]]
    everything = control.plan(demand, "hydra", threshold="0 B")
    assert everything.figures["coverage"] == 1.0
    nothing = control.plan(demand, "hydra", threshold="1 GB")
    assert (nothing.figures["circuits"], nothing.figures["carried_bytes"]) == (0, 0)
    assert json.loads(nothing.text())["paths"] == []


def test_paths_without_a_vlan_are_listed_without_racks() -> None:
    """Three racks that are connected pairwise form a loop, which one VLAN cannot contain."""
    demand = np.array([[0, 9, 8], [0, 0, 7], [0, 0, 0]]) * GB
    plan = json.loads(control.plan(demand, "hydra", vlans=1, hops=1).text())
    assert [path["racks"] for path in plan["paths"]] == [[0, 1], [0, 2], []]
    assert [path["vlan"] for path in plan["paths"]] == [0, 0, None]
    assert plan["vlans"] == {"count": 1, "lower_bound": 1}


def test_the_listing_of_the_paper_stops_at_ports() -> None:
    """Four racks in a ring use all ports of two planes; the chord uses circuits of the ring."""
    ring = np.zeros((4, 4), int)
    ring[[0, 2, 1, 0, 0], [1, 3, 2, 3, 2]] = np.array([9, 8, 7, 6, 1]) * GB // 2
    found = {}
    for stops in (False, True):
        plan = control.plan(ring, "hydra", planes=2, stop_at_ports=stops)
        assert plan.figures["circuits"] == 4
        found[stops] = plan.details["topology"].hops.tolist()
    # Pairs in order: (0, 1), (0, 2), (0, 3), (1, 2), (2, 3).
    assert found == {False: [1, 2, 1, 1, 1], True: [1, 0, 1, 1, 1]}


def test_an_option_that_was_is_told_what_is_now() -> None:
    with pytest.raises(lightloom.ConfigError, match="with spare capacity"):
        control.plan([[0, 1], [1, 0]], "hydra", without_ports=True)


# c-Through and fixed circuits


def test_racks_without_demand_are_joined_as_asked() -> None:
    """Two of six racks have demand; the others are connected as in round 1 of a tournament."""
    demand = np.zeros((6, 6), int)
    demand[0, 3] = 7
    # Among 1, 2, 4, 5, the last rack is fixed and meets the second; the first meets the third.
    assert planned(demand, "cthrough") == {(0, 3): 1, (2, 5): 1, (1, 4): 1}
    assert planned(demand, "cthrough", unrequested="alone") == {(0, 3): 1}
    kept = planned(demand, "cthrough", unrequested="keep", up=[(5, 1), (0, 2)])
    assert kept == {(0, 3): 1, (1, 5): 1, (2, 4): 1}


def test_weights_of_undirected_circuits_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(5)
    for _ in range(50):
        half = np.triu(rng.integers(0, 9, (7, 7)), 1)
        if half.any():
            weights = half + half.T
            plan = control.plan(weights, "edmonds", symmetric=True)
            best = control.maximum_weight_matching(weights, symmetric=True)
            assert plan.figures["weight"] == plan.figures["bound"] == best.weight
            assert plan.figures["optimal"]


def test_fixed_circuits_are_those_of_the_list() -> None:
    demand = np.array([[0, 5, 1], [2, 0, 0], [0, 4, 0]])
    plan = control.plan(demand, "fixed", circuits=[[1, 0], [1, 2, 1]], planes=2)
    assert plan.circuits is not None
    assert plan.circuits.carried.tolist() == [7, 4]
    assert plan.figures["bound"] is None
    one_way = control.plan(demand, "fixed", circuits=[[1, 0]], directed=True)
    assert one_way.figures["weight"] == 2
    with pytest.raises(lightloom.ConfigError, match=r"^circuits\[1\] = .*no port"):
        control.plan(demand, "fixed", circuits=[[0, 1], [1, 2]])
    # The demand of a pair is counted once, for any number of its circuits.
    twice = control.plan(demand, "fixed", circuits=[[0, 1, 0], [0, 1, 1]], planes=2)
    assert twice.figures["weight"] == 7


def test_fixed_circuits_come_from_a_plan_or_a_list(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("a,b,c,d\n0,5,0,0\n0,0,0,0\n0,0,0,3\n0,0,0,0\n")
    first = control.plan(control.read_demand(tmp_path / "d.csv"), "hydra", threshold="0 B")
    first.save(tmp_path / "p.json")
    (tmp_path / "l.json").write_text('[["a", "b"], ["d", "c", 0]]')
    for name in ("p.json", "l.json"):
        asked = ["plan", str(tmp_path / "d.csv"), "-a", "fixed", "--json"]
        done = CliRunner().invoke(app, [*asked, "--circuits", str(tmp_path / name)])
        assert done.exit_code == 0, done.stderr
        circuits = json.loads(done.stdout)["circuits"]
        assert [(c["a"], c["b"], c["bytes"]) for c in circuits] == [(0, 1, 5), (2, 3, 3)]
