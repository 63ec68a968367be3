"""Low-latency traffic beside bulk traffic that uses every circuit: its waiting time; compared with
RotorNet, where all traffic waits for its slot."""

from typing import Any

import numpy as np

from lightloom.validation.estimate import Estimate, across
from lightloom.validation.scripts import beside
from lightloom.validation.study import draw, panel

traffic = beside(__file__, "traffic")

#: A packet of 1500 B at 10 Gb/s, and 100 m [ps].
PACKET, PROPAGATION = 1_200_000, 500_000
OPERA = {"kind": "opera", "propagation": "0.5 us"}
ROTORNET = {"kind": "rotornet"}
#: Flows under this are short [B].
SHORT = 100_000
SEEDS = (1, 2, 3)
BOUND = "opera-bulk-at-most-a-packet"
QUANTILES = (10, 25, 50, 75, 90, 99)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Single packets and web search, each with and without bulk, of each seed."""
    del workers  # runs of seconds
    found = [_run(quick, seed) for seed in SEEDS]
    claims: dict[str, float | Estimate] = {
        name: across([one[name] for one, _ in found]) for name in found[0][0]
    }
    # The bound holds for every packet of every seed.
    claims[BOUND] = max(one[BOUND] for one, _ in found)
    return {"data": [found[0][1]], "claims": claims}


def _run(quick: bool, seed: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Claims of one seed, and the figure."""
    packets = traffic.single_packets(4_000 if quick else 10_000, 10_100_000, seed)
    alone = {n: _took(packets, None, fabric) for n, fabric in _fabrics().items()}
    busy = {n: _took(packets, traffic.bulk(), fabric) for n, fabric in _fabrics().items()}
    web = traffic.web_search(1_000 if quick else 5_000, 0.01, seed + 1, most=15_000_000)
    short = {b: _short(web, traffic.bulk() if b else None) for b in (False, True)}
    claims: dict[str, float] = {
        **_waits(*busy["opera"]),
        "opera-beside-rotornet": _mean(alone["rotornet"]) / _mean(alone["opera"]),
        "opera-rotornet-starves": float(np.isnan(busy["rotornet"][0]).mean()),
    }
    for q in (50, 99):
        with_bulk, without = (float(np.percentile(short[b], q)) for b in (True, False))
        claims[f"opera-web-search-p{q}"] = with_bulk / without
    lines = {
        "web search": _line(short[False]),
        "web search beside bulk": _line(short[True]),
        "single packets": _line(alone["opera"][0]),
        "single packets beside bulk": _line(busy["opera"][0]),
        "single packets, RotorNet": _line(alone["rotornet"][0]),
    }
    x = ("percentile", QUANTILES)
    return claims, panel("Under 100 KB", x, "[s]", lines, log_y=True)


def _fabrics() -> dict[str, dict[str, Any]]:
    return {"opera": OPERA, "rotornet": ROTORNET}


def _took(flows: Any, rest: Any, fabric: dict[str, Any]) -> tuple[Any, Any]:
    """Time of each flow [ps] and its hops; the run ends long after the last arrival."""
    ends = int(flows[3].max()) + 10_000_000_000
    got = traffic.run(flows, rest, f"{ends} ps", fabric)
    return got["finish_ps"] - got["arrival_ps"], got["hops"]


def _mean(took: tuple[Any, Any]) -> float:
    return float(np.nanmean(took[0]))


def _short(flows: Any, rest: Any) -> Any:
    """Times of web search's short flows [ps]."""
    took, _ = _took(flows, rest, OPERA)
    return took[flows[2] < SHORT]


def _waits(took: Any, hops: Any) -> dict[str, float]:
    """Waiting times of single packets for bulk packets: at most one packet at each circuit, and
    half a packet on average."""
    waits = took - hops * (PACKET + PROPAGATION)
    once = waits[hops == 1] / PACKET
    return {
        BOUND: float((waits / (hops * PACKET)).max()),
        "opera-bulk-half-a-packet": float(once.mean()),
    }


def _line(took: Any) -> list[float]:
    return [float(np.nanpercentile(took, q)) * 1e-12 for q in QUANTILES]


figure = draw
