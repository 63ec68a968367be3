"""Closed forms of the slotted switch, drawn over measured points: the mean wait in
a shared loop-back buffer, and what each rule for losers carries at saturation.

Nobody sends to itself here, so that of an output's wavegroups the one of its own
host has one sender less; the formulas take that into account.
"""

from math import sqrt
from pathlib import Path
from typing import Any

from lightloom.reproduce.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("slotted.toml")
HOSTS = 64
SLOT_US = 0.2
RECEIVERS = (1, 2, 4)
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
MEAN = "fct.all.mean_us"
GOODPUT = "goodput_normalized"
Key = tuple[str, int, float]


def shared_wait(p: float, k: int, hosts: int = HOSTS) -> float:
    """Mean wait in a shared loop-back buffer [slots], exact: the average over
    outputs whose own host is in the buffer's wavegroup, 1 of k, and the others."""
    n = hosts // k
    own = _queue([n - 1] + [n] * (k - 1), p / (hosts - 1))
    if k == 1:
        return own / p
    other = _queue([n, n - 1] + [n] * (k - 2), p / (hosts - 1))
    return (own + (k - 1) * other) / k / p


def _queue(groups: list[int], q: float) -> float:
    """Mean queue for an output whose wavegroups have that many senders, each with
    probability q in a slot; the buffer sends in the first of them."""
    n, *others = groups
    a, square = n * q, n * q * (1 - q) + (n * q) ** 2
    overflow, variance = 0.0, 0.0
    for m in others:
        mean, quiet = m * q, (1 - q) ** m
        over = mean - 1 + quiet
        overflow += over
        variance += m * q * (1 - q) + mean**2 - 2 * mean + 1 - quiet - over**2
    used, spilt = a + overflow, variance + overflow**2
    both = square + 2 * a * overflow + spilt - 2 * a - 2 * used * overflow + used
    return both / (2 * (1 - used))


def dropping(p: float, k: int, hosts: int = HOSTS) -> float:
    """Packets an output receives in a slot if losers are lost."""
    n, q = hosts // k, p / (hosts - 1)
    return k - (1 - q) ** (n - 1) - (k - 1) * (1 - q) ** n


def retrying(k: int) -> float:
    """The same if hosts send losers again, first in, first out; many hosts."""
    return k + 1 - sqrt(k * k + 1)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Waits of the shared buffer against load; throughput of each rule at load 1."""
    waits: dict[Key, tuple[list[str], str]] = {
        ("slb", k, load): (_overrides("slb", k, load), "switch")
        for k in RECEIVERS
        for load in LOADS
    }
    full: dict[Key, tuple[list[str], str]] = {
        (rule, k, 1.0): (_overrides(rule, k, 1.0), "switch")
        for rule in ("drop", "ao-nack", "dlb")
        for k in RECEIVERS
    }
    flows = 300_000 if quick else 3_000_000
    runs = vary(SETUP, waits | full, flows=flows, seeds=[1], workers=workers)
    return {"data": _panels(runs), "claims": _claims(runs)}


def _overrides(architecture: str, k: int, load: float) -> list[str]:
    return [
        f"fabric.architecture={architecture}",
        f"fabric.receivers={k}",
        f"workload.load={load}",
    ]


def _wait(runs: Runs[Key], k: int, load: float) -> float:
    return (runs.value(("slb", k, load), MEAN) or 0.0) / SLOT_US - 1


def _claims(runs: Runs[Key]) -> dict[str, float]:
    def off(rule: str, k: int, theory: float) -> float:
        return abs((runs.value((rule, k, 1.0), GOODPUT) or 0.0) / theory - 1)

    waits = [abs(_wait(runs, k, p) / shared_wait(p, k) - 1) for k in RECEIVERS for p in LOADS]
    return {
        "slotted-shared-wait": max(waits),
        "slotted-losers-lost": max(off("drop", k, dropping(1.0, k)) for k in RECEIVERS),
        "slotted-losers-again": max(off("ao-nack", k, retrying(k)) for k in RECEIVERS),
        "slotted-dlb-carries-all": min(
            runs.value(("dlb", k, 1.0), GOODPUT) or 0.0 for k in RECEIVERS if k > 1
        ),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    waits: dict[str, list[float | None]] = {}
    for k in RECEIVERS:
        waits[f"k = {k}"] = [_wait(runs, k, load) for load in LOADS]
        waits[f"k = {k}, exact"] = [shared_wait(load, k) for load in LOADS]
    rules = {"drop": "lost", "ao-nack": "again", "dlb": "distributed buffer"}
    carried = {
        name: runs.line(((rule, k, 1.0) for k in RECEIVERS), GOODPUT)
        for rule, name in rules.items()
    }
    carried["lost, exact"] = [dropping(1.0, k) for k in RECEIVERS]
    carried["again, many hosts"] = [retrying(k) for k in RECEIVERS]
    return [
        panel("Shared loop-back buffer", ("load [packets a slot]", LOADS), "wait [slots]", waits),
        panel("Saturated", ("receivers k", RECEIVERS), "packets a slot and output", carried),
    ]


figure = draw
