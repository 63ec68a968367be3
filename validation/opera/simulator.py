"""Web search, all of it low-latency, beside what the authors' simulator wrote: median times by
size at 1 % and 10 % of load."""

from typing import Any

import numpy as np

from lightloom.reproduce.estimate import Estimate, across
from lightloom.reproduce.scripts import beside
from lightloom.reproduce.study import draw, panel

traffic = beside(__file__, "traffic")

#: Medians [us] by size [B] in TritonNetworking/opera-sim, Figure9_websearch/opera/sim, at
#: 1 % of load of flows that ended in the first 101 ms (FCT_cwnd20_1perc_LL_5paths.txt; 37,
#: 53, 33 and 41 flows), at 10 % of those that ended between 243 and 253 ms
#: (FCT_cwnd20_10perc_LL_5paths.txt; 38, 52, 27 and 46 flows).
PUBLISHED = {
    0.01: {5_971: 19.301, 44_871: 52.658, 193_593: 176.258, 1_933_313: 1632.558},
    0.1: {5_971: 50.032, 44_871: 108.680, 193_593: 305.362, 1_933_313: 2849.911},
}
#: Its packets of 1500 B carry 1436 B: at 1 % the largest flows, 28,589,215 B, are sent in
#: 23.9 ms, 4.5 % more than their bytes take.
HEADER = 1500 / 1436
OPERA = {"kind": "opera", "propagation": "0.5 us", "low_latency": "1 GB"}
FLOWS = {0.01: 3_000, 0.1: 4_000}
SEEDS = (1, 2, 3)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Both loads; quickly only the light one."""
    del workers  # one run after another
    loads = [0.01] if quick else [0.01, 0.1]
    medians = {load: _medians(load) for load in loads}
    ratios = {
        load: {size: us.times(1 / PUBLISHED[load][size]) for size, us in medians[load].items()}
        for load in loads
    }
    light = ratios[0.01]
    claims = {
        "opera-sim-light": max((light[s] for s in light if s > 40_000), key=_off),
        "opera-sim-light-small": light[5_971],
    }
    if not quick:
        claims["opera-sim-loaded"] = max(ratios[0.1].values(), key=_off)
    return {"data": [_panel(load, medians[load]) for load in loads], "claims": claims}


def _off(ratio: Estimate) -> float:
    """How far from equal."""
    return abs(float(np.log(ratio.value)))


def _medians(load: float) -> dict[int, Estimate]:
    """By size [us], of all seeds."""
    found = [_medians_of(load, seed) for seed in SEEDS]
    return {size: across([of[size] for of in found]) for size in found[0]}


def _medians_of(load: float, seed: int) -> dict[int, float]:
    """By size [us]; until long after the last flow came."""
    flows = traffic.web_search(FLOWS[load], load, seed, header=HEADER)
    stop = f"{int(flows[3].max()) + 100_000_000_000} ps"
    got = traffic.run(flows, None, stop, OPERA, nic="10 Gb/s")
    took = (got["finish_ps"] - got["arrival_ps"]) * 1e-6
    sent = {size: round(size * HEADER) for size in PUBLISHED[load]}
    return {size: float(np.median(took[got["bytes"] == wire])) for size, wire in sent.items()}


def _panel(load: float, medians: dict[int, Estimate]) -> dict[str, Any]:
    published = PUBLISHED[load]
    lines = {
        "here": [us.times(1e-6) for us in medians.values()],
        "authors' simulator": [us * 1e-6 for us in published.values()],
    }
    x = ("flow [B]", list(published))
    title = f"Web search at {load:.0%} of load"
    return panel(title, x, "median time [s]", lines, log_x=True, log_y=True)


figure = draw
