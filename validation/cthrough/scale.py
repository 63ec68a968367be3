"""§7.3: c-Through with 1,000 racks of 40 servers."""

import json
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import lightloom
from lightloom.control import maximum_weight_matching
from lightloom.validation.estimate import across
from lightloom.validation.study import draw, panel

TESTBED = Path(__file__).with_name("testbed.toml")
VISIT = Path(__file__).with_name("visit.toml")
RACKS = 1_000
#: Number of servers of rack 0 that send to a server of every other rack, and the bytes of each;
#: together they fill a circuit for an interval, minus the traffic of the tree.
SENDERS, EACH = 4, 110_000_000
#: A sort on the testbed: its servers and racks, and the threshold above which a server reports a
#: queue [B].
SORT = ["workload.jobs=[{kind = 'sort'}]", "run.controller_log=true"]
SERVERS, TESTBED_RACKS, THRESHOLD = 16, 4, 1_000_000
SEEDS = (1, 2, 3, 4, 5)
Integers = np.ndarray[Any, np.dtype[np.int64]]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Computation time of matchings for several demands; the visit delay."""
    del workers
    matchings = {name: _match(demand) for name, demand in _demands().items()}
    racks = 100 if quick else RACKS
    claims = {
        "scale-matching": max(matchings.values()),
        "scale-visit-delay": _visit(racks) * (RACKS - 1) / (racks - 1),
        "scale-thresholds": across([_reported(seed) for seed in SEEDS]),
    }
    kinds = list(range(1, 1 + len(matchings)))
    names = ", ".join(f"{k}: {name}" for k, name in zip(kinds, matchings, strict=True))
    lines = {"here": list(matchings.values()), "paper": [640.0] * len(kinds)}
    panels = [panel("Matching 1,000 racks", (names, kinds), "[ms]", lines, log_y=True)]
    return {"data": panels, "claims": claims}


def _demands() -> dict[str, Integers]:
    """Demand between 1,000 racks, spread evenly, heavy-tailed, and to a few."""
    rng = np.random.default_rng(1)
    even = rng.integers(0, 1_000_000_000, (RACKS, RACKS))
    tailed = (1e6 * (1 + rng.pareto(1.2, (RACKS, RACKS)))).clip(max=1e12).astype(np.int64)
    few = np.where(rng.random((RACKS, RACKS)) < 0.01, even, 0)
    demands = {"even": even, "heavy-tailed": tailed, "to 1 in 100": few}
    for demand in demands.values():
        np.fill_diagonal(demand, 0)
    return demands


def _match(demand: Integers) -> float:
    """Time of a maximum-weight perfect matching that proves its optimum [ms]."""
    begun = time.process_time()
    matching = maximum_weight_matching(demand)
    took = time.process_time() - begun
    if not matching.certificate.verify():
        raise AssertionError("the matching is not proven")
    return took * 1e3


def _reported(seed: int) -> float:
    """Share of a server's possible queues for racks that are above the threshold at its reports,
    over all intervals of a sort [%]."""
    experiment = lightloom.load(TESTBED, [*SORT, f"run.seed={seed}"])
    log = lightloom.run(experiment, "cthrough").controller_log
    if log is None:
        raise AssertionError("the run has no log of its controller")
    inputs = [json.loads(line).get("input") for line in log.splitlines()]
    reports = [found["demand"] for found in inputs if isinstance(found, dict) and "demand" in found]
    large = sum(_above(connections) for connections in reports)
    return 100 * large / (len(reports) * SERVERS * TESTBED_RACKS)


def _above(connections: list[list[int]]) -> int:
    """The number of queues above the threshold, from the waiting bytes of connections (server,
    rack, bytes)."""
    queues: Counter[tuple[int, int]] = Counter()
    for server, rack, waiting in connections:
        queues[server, rack] += waiting
    return sum(waiting > THRESHOLD for waiting in queues.values())


def _visit(racks: int) -> float:
    """Intervals until rack 0 has been connected to every other rack."""
    rows = [
        f"{s},{rack * SENDERS + s},{EACH},0" for rack in range(1, racks) for s in range(SENDERS)
    ]
    with TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.csv"
        trace.write_text("\n".join(["src,dst,bytes,arrival_ps", *rows]) + "\n")
        settings = [f"workload.trace={trace}", f"cluster.racks={racks}", f"run.stop={racks + 20} s"]
        result = lightloom.run(lightloom.load(VISIT, settings))
    circuits = [c for c in result.circuits.to_pylist() if c["a"] == 0]
    first: dict[int, int] = {}
    for circuit in circuits:
        first.setdefault(circuit["b"], circuit["from_ps"])
    if len(first) < racks - 1:
        raise AssertionError(f"only {len(first)} racks were visited")
    return max(first.values()) // 10**12


figure = draw
