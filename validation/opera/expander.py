"""The circuits of the published set-up, as a run records them: the length of a cycle, the distances
of racks at any time, and whether packets use these paths."""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.validation.estimate import across
from lightloom.validation.scripts import beside
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("published.toml")
RACKS, SERVERS, SWITCHES = 108, 6, 6
#: So few racks that two circuits remain if one of four switches idles.
FEW = ["cluster.racks=24", "fabric.opera.switches=4", "workload.flows=800"]
#: A slice, its night, a cycle of 18 slots of 6 slices [ps].
SLICE, NIGHT = 100_000_000, 10_000_000
CYCLE = 108 * SLICE
#: A packet of 1500 B at 10 Gb/s, and 100 m [ps].
PACKET, PROPAGATION = 1_200_000, 500_000
#: For packets that start with less remaining time of their slice, circuits may change [ps].
LEFT = 12_000_000
#: Random regular graphs to compare with.
GRAPHS = 200
SEEDS = (1, 2, 3)

lit = beside(__file__, "lit")


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """A run of each seed, and the results of its circuits."""
    del workers  # runs of a second
    found = [_run(quick, seed) for seed in SEEDS]
    claims = {name: across([one[name] for one, _ in found]) for name in found[0][0]}
    return {"data": [found[0][1]], "claims": claims}


def _run(quick: bool, seed: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Claims of one seed, and the figure."""
    settings = [*(["workload.flows=4000"] if quick else []), f"run.seed={seed}"]
    result = lightloom.run(lightloom.load(SETUP, settings))
    circuits = lit.Lit.of(result, RACKS)
    slices = int(result.flows["finish_ps"].to_numpy().max()) // SLICE
    joined = [circuits.usable(k * SLICE + 1, SLICE - NIGHT) for k in range(slices)]
    far = np.array([lit.distances(j) for j in joined])
    degrees = np.array([j.sum() / RACKS for j in joined])
    # In the last slot of a cycle one switch has no matching.
    full = far[degrees == SWITCHES - 1]
    rng = np.random.default_rng(seed)
    graphs = [lit.distances(lit.random_regular(RACKS, 5, rng)) for _ in range(GRAPHS)]
    claims = {
        "opera-cycle": _cycle(circuits),
        "opera-duty": _duty(circuits),
        "opera-connected": float((far >= lit.FAR).sum()),
        "opera-cut-off": _cut_off(seed),
        "opera-expander-mean": lit.mean_path(full.mean(axis=0)) / _mean(graphs),
        "opera-expander-longest": float(full.max() - max(far.max() for far in graphs)),
        **_packets(result.flows, far),
    }
    return claims, _panel(full, graphs)


def _cut_off(seed: int) -> float:
    """Share of pairs without a path, in a cycle of 24 racks with 4 switches."""
    circuits = lit.Lit.of(lightloom.run(lightloom.load(SETUP, [*FEW, f"run.seed={seed}"])), 24)
    far = [lit.distances(circuits.usable(k * SLICE + 1, SLICE - NIGHT)) for k in range(24, 48)]
    return float((np.array(far) >= lit.FAR).mean())


def _mean(graphs: list[Any]) -> float:
    return float(np.mean([lit.mean_path(far) for far in graphs]))


def _cycle(circuits: Any) -> float:
    """From one light of a pair's circuit to the next [ms]: the longest of all pairs."""
    pair = circuits.a * RACKS + circuits.b
    order = np.lexsort((circuits.begins, pair))
    gaps = np.diff(circuits.begins[order])[np.diff(pair[order]) == 0]
    # Circuits that were lit at the start of the run have no beginning.
    return float(gaps[circuits.begins[order][:-1][np.diff(pair[order]) == 0] > 0].max()) * 1e-9


def _duty(circuits: Any) -> float:
    """Share of a cycle for which the switches with a matching were lit."""
    at = (circuits.begins >= CYCLE) & (circuits.begins < 2 * CYCLE)
    lasts = (circuits.ends - circuits.begins)[at]
    return float(lasts.sum() / (RACKS * (RACKS - 1) * SWITCHES * SLICE))


def _packets(flows: Any, far: Any) -> dict[str, float]:
    """Each flow is one packet, and alone: its hops are the distance of its slice, and its
    time is theirs. A slice's circuits change under what is on its way as it ends; before
    the run there were none."""
    src, dst, begins, ends, hops = (
        flows[name].to_numpy() for name in ("src", "dst", "arrival_ps", "finish_ps", "hops")
    )
    src, dst, slice_ = src // SERVERS, dst // SERVERS, begins // SLICE
    at = (src != dst) & (begins % SLICE < SLICE - LEFT) & (slice_ < len(far)) & (begins > 0)
    hops = hops[at].astype(int)
    took = (ends - begins)[at].astype(int)
    shortest, before = (far[slice_[at] - back, src[at], dst[at]] for back in (0, 1))
    # Over all pairs of the slices in which packets came.
    means = np.array([lit.mean_path(f) for f in far])[slice_[at]]
    error = float(np.std(shortest - means) / np.sqrt(at.sum()))
    return {
        "opera-shortest-paths": float((hops != shortest).sum()),
        "opera-stale-paths": float((hops != before).mean()),
        "opera-mean-hops": abs(float(np.mean(hops - means))) / error,
        "opera-lone-packet": float((took != hops * (PACKET + PROPAGATION)).sum()),
    }


def _panel(full: Any, graphs: list[Any]) -> dict[str, Any]:
    """Share of pairs by distance."""
    steps = list(range(1, 7))
    pairs = RACKS * (RACKS - 1)

    def shares(far: Any) -> list[float]:
        return [float((far == k).sum() / (len(far) * pairs)) for k in steps]

    lines = {"Opera, five circuits": shares(full)}
    theory = {"random regular graphs": (steps, shares(np.array(graphs)))}
    return panel("How far racks are", ("circuits", steps), "of pairs", lines, theory=theory)


figure = draw
