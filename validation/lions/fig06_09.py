"""Figs 6 to 9: throughput and latency against load under uniform random traffic,
with packets of 256 B (6, 7) and 64 B (8, 9), k = 4.

Loads are of the line rate, header and guard not counted: 256/278 of it and 64/86
can be carried at most. The lines of theory are for AO-NACK, whose NACKs return
within a packet of 256 B. The two butterflies are a plain router and one that is
hardly in the way: what the paper's was lies between them, or not.
"""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

PAPER = Path(__file__).with_name("paper.toml")
SIZES = (256, 64)
LOADS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.9, 1.0)
FABRICS = ("dlb", "ao-nack")
BUTTERFLIES = ("butterfly-basic", "butterfly-fast")
MEAN = "fct.all.mean_us"
GOODPUT = "goodput_normalized"
HOSTS, RECEIVERS, GBPS, OVERHEAD = 64, 4, 10.0, 22
#: Propagation there and back and the delay line [us].
WAY_US = 0.11
Key = tuple[str, int, float]


def rivals() -> float:
    """K: p/K is the chance that another packet has the receiver. A packet competes
    with the other hosts of its wavegroup, its destination's own host not counted."""
    n = HOSTS // RECEIVERS
    return (HOSTS - 1) ** 2 / ((n - 1) * (HOSTS - 2))


def nack_saturation(size: int) -> float:
    """What AO-NACK carries of the line rate."""
    k = rivals()
    return k / (k + 1) * size / (size + OVERHEAD)


def nack_latency(size: int, load: float) -> float | None:
    """Mean latency [us] of hosts that send again a slot after a loss."""
    slot = (size + OVERHEAD) * 8 / GBPS / 1e3
    p = load * (size + OVERHEAD) / size
    r = p / rivals()
    again = r / (1 - r)
    mean, square = 1 + again, 1 + 2 * again + r * (1 + r) / (1 - r) ** 2
    if p * mean >= 0.98:
        return None
    slots = mean + p * square / (2 * (1 - p * mean))
    return slots * slot - 17 * 8 / GBPS / 1e3 + WAY_US


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Goodput and mean latency of both networks at each load and size."""
    flows, seeds = (100_000, [1]) if quick else (800_000, [1, 2, 3])
    runs = vary(PAPER, _cases(FABRICS), flows=flows, seeds=seeds, workers=workers)
    # Flit by flit a packet takes a hundred times as long: fewer of them.
    flows = 10_000 if quick else 100_000
    others = vary(PAPER, _cases(BUTTERFLIES), flows=flows, seeds=[1], workers=workers)
    runs = Runs({**runs.summaries, **others.summaries})
    return {"data": _panels(runs), "claims": _claims(runs)}


def _cases(fabrics: tuple[str, ...]) -> dict[Key, tuple[list[str], str]]:
    return {
        (f, size, load): (_overrides(f, size, load), f)
        for f in fabrics
        for size in SIZES
        for load in LOADS
    }


def _overrides(fabric: str, size: int, load: float) -> list[str]:
    return [
        f"workload.load={load}",
        f"workload.sizes.size={size} B",
        f"fabric.{fabric}.packet={size} B",
    ]


def _claims(runs: Runs[Key]) -> dict[str, float]:
    def apart(path: str, size: int, loads: tuple[float, ...]) -> float:
        return max(abs(runs.ratio(("ao-nack", size, p), ("dlb", size, p), path) - 1) for p in loads)

    theory = [(p, nack_latency(256, p)) for p in LOADS]
    latency = [
        abs((runs.value(("ao-nack", 256, p), MEAN) or 0.0) / expected - 1)
        for p, expected in theory
        if expected is not None
    ]
    saturated = runs.value(("ao-nack", 256, 1.0), GOODPUT) or 0.0

    def most(fabric: str, size: int) -> float:
        return max(runs.value((fabric, size, p), GOODPUT) or 0.0 for p in LOADS)

    def ahead(size: int) -> float:
        """The slower network of LIONS relative to the faster butterfly."""
        ours = min(most(f, size) for f in FABRICS)
        return ours / max(most(f, size) for f in BUTTERFLIES)

    def latency_at(fabric: str, size: int) -> float:
        return runs.value((fabric, size, 0.3), MEAN) or 0.0

    def sooner(size: int) -> float:
        theirs = min(latency_at(f, size) for f in BUTTERFLIES)
        return theirs / max(latency_at(f, size) for f in FABRICS)

    return {
        "fig06-nack-as-dlb": apart(GOODPUT, 256, LOADS),
        "fig07-nack-as-dlb": apart(MEAN, 256, tuple(p for p in LOADS if p <= 0.5)),
        "fig08-nack-as-dlb": apart(GOODPUT, 64, LOADS),
        "fig09-nack-as-dlb": apart(MEAN, 64, tuple(p for p in LOADS if p <= 0.5)),
        "fig06-nack-saturation": saturated / nack_saturation(256),
        "fig07-nack-latency": max(latency),
        "fig06-far-ahead-of-the-butterfly": ahead(256),
        "fig08-less-far-ahead-at-64": ahead(64) / ahead(256),
        "fig07-sooner-than-the-butterfly": sooner(256),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    load = ("offered load, of the line rate", LOADS)
    panels = []
    for size, places in ((256, (6, 7)), (64, (8, 9))):
        shown = (*FABRICS, *BUTTERFLIES)
        goodput = {f: runs.line(((f, size, p) for p in LOADS), GOODPUT) for f in shown}
        latency = {f: runs.line(((f, size, p) for p in LOADS), MEAN) for f in shown}
        full = size / (size + OVERHEAD)
        goodput["header and guard left out"] = [min(p, full) for p in LOADS]
        if size == 256:
            goodput["ao-nack, theory"] = [min(p, nack_saturation(size)) for p in LOADS]
            latency["ao-nack, theory"] = [nack_latency(size, p) for p in LOADS]
        panels += [
            panel(f"Fig {places[0]}: {size} B", load, "throughput, of the line rate", goodput),
            panel(f"Fig {places[1]}: {size} B", load, "mean latency [us]", latency, log_y=True),
        ]
    return panels


figure = draw
