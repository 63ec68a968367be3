"""Web search compared with the output of the authors' simulator.

All of it low-latency: median times by size at 1 % and 10 % of load; means, medians and 99th
percentiles by class of size at 10 %. All of it bulk: median times by size at 1 %.
"""

from typing import Any

import numpy as np

from lightloom.validation.estimate import Estimate, across
from lightloom.validation.scripts import beside
from lightloom.validation.study import draw, panel

traffic = beside(__file__, "traffic")

#: Medians [us] by size [B] in TritonNetworking/opera-sim, Figure9_websearch/opera/sim, at
#: 1 % of load of flows that ended in the first 101 ms (FCT_cwnd20_1perc_LL_5paths.txt; 37,
#: 53, 33 and 41 flows), at 10 % of those that ended between 243 and 253 ms
#: (FCT_cwnd20_10perc_LL_5paths.txt; 38, 52, 27 and 46 flows).
PUBLISHED = {
    0.01: {5_971: 19.301, 44_871: 52.658, 193_593: 176.258, 1_933_313: 1632.558},
    0.1: {5_971: 50.032, 44_871: 108.680, 193_593: 305.362, 1_933_313: 2849.911},
}
#: Mean, median and 99th percentile [us] of all that its simulator wrote at 10 % of load within
#: 1 s, by class: flows of this many bytes and more, up to the next.
CLASSES = {
    2_000: (55.2, 49.1, 142.0),
    10_000: (120.0, 108.0, 314.0),
    100_000: (764.0, 760.0, 2_131.0),
    1_000_000: (6_738.0, 5_052.0, 22_535.0),
    15_000_000: (36_217.0, 35_927.0, 73_717.0),
}
#: Medians [us] by size [B] of 26, 36, 32, 17 and 14 flows that ended in the first 100 ms, all of
#: them bulk, in TritonNetworking/opera-sim, Figure9_websearch/hybrid_rotornet/sim,
#: FCT_pfab_cwnd20_1perc_RLBonly.txt (`-cutoff 0`).
BULK = {193_593: 16_033, 620_119: 20_589, 1_933_313: 22_204, 4_853_634: 24_621, 9_812_271: 29_855}
FIGURES = ("mean", "p50", "p99")
#: Its packets of 1500 B carry 1436 B: at 1 % the largest flows, 28,589,215 B, are sent in
#: 23.9 ms, 4.5 % more than their bytes take.
HEADER = 1500 / 1436
OPERA = {"kind": "opera", "propagation": "0.5 us", "low_latency": "1 GB"}
#: How RotorLB divides circuits, where all is bulk.
RULES = ("per-host", "per-rack")
FLOWS = {0.01: 3_000, 0.1: 20_000}
SEEDS = (1, 2, 3)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Both loads, then bulk; quickly only the light load."""
    del workers  # one run after another
    loads = [0.01] if quick else [0.01, 0.1]
    runs = {load: [_times(load, seed) for seed in SEEDS] for load in loads}
    medians = {load: _medians(load, runs[load]) for load in loads}
    ratios = {
        load: {size: us.times(1 / PUBLISHED[load][size]) for size, us in medians[load].items()}
        for load in loads
    }
    light = ratios[0.01]
    claims = {
        "opera-sim-light": max((light[s] for s in light if s > 40_000), key=_off),
        "opera-sim-light-small": light[5_971],
    }
    bulk = _bulk()
    claims["opera-sim-bulk"] = max(bulk["per-host"].values(), key=_off)
    claims["opera-sim-bulk-by-racks"] = min(bulk["per-rack"].values(), key=_off)
    data = [_panel(load, medians[load]) for load in loads] + [_bulk_panel(bulk)]
    if not quick:
        by_class = _by_class(runs[0.1])
        claims["opera-sim-loaded"] = max(ratios[0.1].values(), key=_off)
        claims["opera-sim-means"] = max(by_class["mean"], key=_off)
        claims["opera-sim-tails"] = max(by_class["p99"], key=_off)
        data.append(_class_panel(by_class))
    return {"data": data, "claims": claims}


def _off(ratio: Estimate) -> float:
    """Distance of a ratio from 1."""
    return abs(float(np.log(ratio.value)))


def _bulk() -> dict[str, dict[int, Estimate]]:
    """Medians by size where all is bulk, relative to the authors' simulator, by rule."""
    found = {}
    for rule in RULES:
        more = {"low_latency": "0 B", "rotorlb": rule}
        runs = [_times(0.01, seed, **more) for seed in SEEDS]
        ratio = {size: [_median(run, size) / us for run in runs] for size, us in BULK.items()}
        found[rule] = {size: across(of) for size, of in ratio.items()}
    return found


def _median(run: tuple[Any, Any], size: int) -> float:
    bytes_, took = run
    return float(np.median(took[bytes_ == size]))


def _times(load: float, seed: int, **more: str) -> tuple[Any, Any]:
    """The bytes and the time of each flow [us]; the run ends long after the last arrival."""
    flows = traffic.web_search(FLOWS[load], load, seed, header=HEADER)
    stop = f"{int(flows[3].max()) + 100_000_000_000} ps"
    got = traffic.run(flows, None, stop, {**OPERA, **more}, nic="10 Gb/s")
    took = (got["finish_ps"] - got["arrival_ps"]) * 1e-6
    return np.rint(got["bytes"] / HEADER), took


def _medians(load: float, runs: list[tuple[Any, Any]]) -> dict[int, Estimate]:
    """By size [us], of all seeds."""
    return {size: across([_median(run, size) for run in runs]) for size in PUBLISHED[load]}


def _by_class(runs: list[tuple[Any, Any]]) -> dict[str, list[Estimate]]:
    """Mean, median and 99th percentile of each class relative to the authors' simulator."""
    ends = [*[*CLASSES][1:], 2**62]
    found: dict[str, list[Estimate]] = {figure: [] for figure in FIGURES}
    for (least, published), end in zip(CLASSES.items(), ends, strict=True):
        of = [_figures(took[(bytes_ >= least) & (bytes_ < end)]) for bytes_, took in runs]
        for at, figure in enumerate(FIGURES):
            found[figure].append(across([one[at] / published[at] for one in of]))
    return found


def _figures(took: Any) -> tuple[float, float, float]:
    """Mean, median and 99th percentile; infinite if a flow has not ended."""
    took = np.where(np.isnan(took.astype(float)), np.inf, took.astype(float))
    return float(took.mean()), float(np.median(took)), float(np.percentile(took, 99))


def _panel(load: float, medians: dict[int, Estimate]) -> dict[str, Any]:
    published = PUBLISHED[load]
    lines = {
        "here": [us.times(1e-6) for us in medians.values()],
        "authors' simulator": [us * 1e-6 for us in published.values()],
    }
    x = ("flow [B]", list(published))
    title = f"Web search at {load:.0%} of load"
    return panel(title, x, "median time [s]", lines, log_x=True, log_y=True)


def _bulk_panel(bulk: dict[str, dict[int, Estimate]]) -> dict[str, Any]:
    """Medians by size where all is bulk, relative to the authors' simulator."""
    lines = {rule: [ratio.value for ratio in of.values()] for rule, of in bulk.items()}
    title = "Web search as bulk at 1% of load, relative to the authors' simulator"
    return panel(title, ("flow [B]", list(BULK)), "median", lines, log_x=True)


def _class_panel(by_class: dict[str, list[Estimate]]) -> dict[str, Any]:
    """Mean, median and 99th percentile of each class, relative to the authors' simulator."""
    lines = {figure: [ratio.value for ratio in found] for figure, found in by_class.items()}
    title = "Web search at 10% of load, relative to the authors' simulator"
    return panel(title, ("flows from [B]", list(CLASSES)), "ratio", lines, log_x=True, log_y=True)


figure = draw
