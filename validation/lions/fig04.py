"""Fig 4: latency of the shared loop-back buffer against load: 4 hosts as in the
test-bed, and more; one receiver an output, and two.

Loads are relative to the rate that the minimum guard time of 17 B and the header leave: at 1,
packets follow each other without a gap. Hosts send at equal gaps, as in the test-bed. Their phases
are drawn once; with few hosts they decide for the whole run which packets meet. Intervals are
therefore of the mean over many draws.

Theory is the exact wait of a slotted buffer plus the time of a packet alone. With one receiver,
unslotted packets of many hosts wait as long on average. Packets of few hosts that send at equal
gaps wait less: hosts whose packets do not meet once do not meet soon after. With two receivers it
is a guide to the eye: packets out of slots overlap two others.
"""

from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.estimate import most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Curve, Runs, draw, panel, vary

theory = beside(__file__, "theory")
SETUP = Path(__file__).with_name("testbed.toml")
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
SIZES = (256, 64)
HOSTS = (4, 16, 64)
RECEIVERS = (1, 2)
MEAN = "window.mean_us"
GBPS = 1.25
#: The delay line of hosts next to the switch [us].
WAY_US = 0.01
#: Warm-up and window, in slots of a packet.
WARM_UP, WINDOW = 100, 1000
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
    seeds = range(1, 9 if quick else 51)
    runs = vary(SETUP, cases, seeds=seeds, workers=workers)
    return {"data": _panels(runs), "claims": _claims(runs)}


def _overrides(size: int, n: int, k: int, load: float) -> list[str]:
    slot = theory.slot_us(size, GBPS)
    return [
        f"cluster.hosts={n}",
        f"workload.sizes.size={size} B",
        f"workload.load={load * theory.efficiency(size)}",
        f"fabric.slb.packet={size} B",
        f"fabric.slb.receivers={k}",
        f"run.warm_up={WARM_UP * slot:g} us",
        f"run.measure={WINDOW * slot:g} us",
    ]


def _claims(runs: Runs[Key]) -> dict[str, Estimate]:
    def ratio(a: Key, b: Key) -> Estimate:
        return runs.across(a, MEAN).over(runs.across(b, MEAN))

    def radix(k: int) -> Estimate:
        return most(ratio((s, 64, k, p), (s, 4, k, p)) for s in SIZES for p in LOADS)

    many = [(s, 64, 1, p) for s in SIZES for p in LOADS]
    return {
        "fig04-two-receivers": most(
            ratio((s, n, 2, 0.9), (s, n, 1, 0.9)) for s in SIZES for n in HOSTS
        ),
        "fig04-radix": radix(1),
        "fig04-radix-two-receivers": radix(2),
        "fig04-theory": most(runs.across(key, MEAN).off(_latency(*key)) for key in many),
    }


def _latency(size: int, n: int, k: int, load: float) -> float:
    """Mean latency [us] if packets arrived in slots."""
    wait = theory.shared_wait(load, k, n) * theory.slot_us(size, GBPS)
    return float(theory.alone_us(size, WAY_US, GBPS) + wait)


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    dense = [i / 100 for i in range(5, 92)]

    def panel_of(title: str, lines: dict[str, tuple[int, int, int]]) -> dict[str, Any]:
        found = {name: [runs.across((*key, p), MEAN) for p in LOADS] for name, key in lines.items()}
        curves: dict[str, Curve] = {
            name: (dense, [_latency(*key, p) for p in dense]) for name, key in lines.items()
        }
        return panel(title, ("load", LOADS), "mean latency [us]", found, theory=curves, log_y=True)

    four = {f"{size} B, k = {k}": (size, 4, k) for size in SIZES for k in RECEIVERS}
    return [panel_of("(a) 4 hosts", four)] + [
        panel_of(
            f"({place}) {size} B",
            {f"N = {n}, k = {k}": (size, n, k) for n in HOSTS for k in RECEIVERS},
        )
        for place, size in (("b", 256), ("c", 64))
    ]


figure = draw
