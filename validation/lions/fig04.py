"""Fig 4: latency of the shared loop-back buffer against load: 4 hosts as in the
test-bed, and more; one receiver an output, and two.

Loads are of what the minimum guard time of 17 B and the header leave: 1 is a
packet right after the other. Hosts send at equal gaps, as the test-bed does.
"""

from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("testbed.toml")
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
SIZES = (256, 64)
HOSTS = (4, 16, 64)
RECEIVERS = (1, 2)
MEAN = "fct.all.mean_us"
Key = tuple[int, int, int, float]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Mean latency by packet size, hosts, receivers and load."""
    cases: dict[Key, tuple[list[str], str]] = {
        (size, n, k, load): (_overrides(size, n, k, load), "slb")
        for size in SIZES
        for n in HOSTS
        for k in RECEIVERS
        for load in LOADS
    }
    flows, seeds = (20_000, [1, 2, 3]) if quick else (200_000, [1, 2, 3, 4, 5])
    runs = vary(SETUP, cases, flows=flows, seeds=seeds, workers=workers)
    return {"data": _panels(runs), "claims": _claims(runs)}


def _overrides(size: int, n: int, k: int, load: float) -> list[str]:
    return [
        f"cluster.hosts={n}",
        f"workload.sizes.size={size} B",
        f"workload.load={load * size / (size + 22)}",
        f"fabric.slb.packet={size} B",
        f"fabric.slb.receivers={k}",
    ]


def _claims(runs: Runs[Key]) -> dict[str, float]:
    def ratio(a: Key, b: Key) -> float:
        return (runs.value(a, MEAN) or 0.0) / (runs.value(b, MEAN) or 1.0)

    pairs = [(size, n) for size in SIZES for n in HOSTS]
    radix = [(size, load) for size in SIZES for load in LOADS]
    return {
        "fig04-two-receivers": max(ratio((s, n, 2, 0.9), (s, n, 1, 0.9)) for s, n in pairs),
        "fig04-radix": max(ratio((s, 64, 1, p), (s, 4, 1, p)) for s, p in radix),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    def panel_of(title: str, lines: dict[str, tuple[int, int, int]]) -> dict[str, Any]:
        found = {name: runs.line((((*key, p)) for p in LOADS), MEAN) for name, key in lines.items()}
        return panel(title, ("load", LOADS), "mean latency [us]", found, log_y=True)

    four = {f"{size} B": (size, 4, 1) for size in SIZES}
    return [panel_of("(a) 4 hosts, k = 1", four)] + [
        panel_of(
            f"({place}) {size} B",
            {f"N = {n}, k = {k}": (size, n, k) for n in HOSTS for k in RECEIVERS},
        )
        for place, size in (("b", 256), ("c", 64))
    ]


figure = draw
