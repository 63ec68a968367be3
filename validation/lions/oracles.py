"""Closed forms of the bare switch, drawn over measured points: waits in loop-back
buffers and what each rule for losers carries at saturation, slotted; latency with a
shared buffer at any time. No headers, no guards, no fibre. AO-NACK's are drawn over
Figs 6 to 9, bounds of hot spots over Figs 10 to 13.
"""

from pathlib import Path
from typing import Any

from lightloom.validation import Estimate
from lightloom.validation.estimate import least, most
from lightloom.validation.scripts import beside
from lightloom.validation.study import Curve, Runs, draw, panel, vary

theory = beside(__file__, "theory")
SETUP = Path(__file__).with_name("slotted.toml")
HOSTS = 64
SLOT_US = 0.2
RECEIVERS = (1, 2, 4)
#: At saturation.
MORE_RECEIVERS = (1, 2, 4, 8, 16)
TRANSMITTERS = (1, 2, 4)
#: Throughput of one receiver per output with a distributed buffer, by its transmitters; not from a
#: formula, but from an independent slotted model, to two digits.
ONE_RECEIVER = {1: 0.85, 2: 0.92, 4: 0.96}
LOADS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)
RULES = {"drop": "lost", "ao-nack": "again", "dlb": "distributed buffer"}
#: Architecture, receivers, transmitters, load, timing.
Key = tuple[str, int, int, float, str]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Waits against load; throughput of each rule at load 1."""
    keys: list[Key] = [("slb", k, 0, p, "slotted") for k in RECEIVERS for p in LOADS]
    keys += [("dlb", k, 4, p, "slotted") for k in RECEIVERS if k > 1 for p in LOADS]
    keys += [("slb", 1, 0, p, "unslotted") for p in LOADS]
    keys += [_full(rule, k) for rule in RULES for k in MORE_RECEIVERS]
    keys += [_full("dlb", 1, m) for m in TRANSMITTERS]
    cases = {key: (_overrides(key, quick), "switch") for key in keys}
    runs = vary(SETUP, cases, seeds=[1] if quick else [1, 2, 3], workers=workers)
    return {"data": _panels(runs), "claims": _claims(runs)}


def _full(rule: str, k: int, m: int = 4) -> Key:
    return rule, k, m if rule == "dlb" else 0, 1.0, "slotted"


def _overrides(key: Key, quick: bool) -> list[str]:
    architecture, k, m, load, timing = key
    return [
        f"fabric.architecture={architecture}",
        f"fabric.receivers={k}",
        f"fabric.timing={timing}",
        f"workload.load={load}",
        *([f"fabric.transmitters={m}"] if m else []),
        *(["workload.arrivals=poisson"] if timing == "unslotted" else []),
        # At the lowest load few packets wait.
        f"run.measure={800 if quick else 40_000 if load == LOADS[0] else 5000} us",
    ]


def _slots(runs: Runs[Key], key: Key) -> Estimate:
    """Latency [slots]."""
    return runs.carried_latency(key).times(1 / SLOT_US)


def _wait(runs: Runs[Key], key: Key) -> Estimate:
    """Waiting time of a packet, without the slot in which it is sent [slots]."""
    return _slots(runs, key).minus(1)


def _claims(runs: Runs[Key]) -> dict[str, Estimate]:
    def carried(key: Key) -> Estimate:
        return runs.accepted(key)

    shared = [
        _wait(runs, ("slb", k, 0, p, "slotted")).off(theory.shared_wait(p, k, HOSTS))
        for k in RECEIVERS
        for p in LOADS
    ]
    spread = [
        _wait(runs, ("dlb", k, 4, p, "slotted")).off(theory.distributed_wait(p, k, HOSTS))
        for k in RECEIVERS
        if k > 1
        for p in LOADS
    ]
    latency = [
        _slots(runs, ("slb", 1, 0, p, "unslotted")).off(theory.shared_latency(p, HOSTS))
        for p in LOADS
    ]
    lost = [carried(_full("drop", k)).off(theory.dropping(1.0, k, HOSTS)) for k in MORE_RECEIVERS]
    again = [carried(_full("ao-nack", k)).off(theory.retrying(k)) for k in MORE_RECEIVERS]
    one = [carried(_full("dlb", 1, m)).off(ONE_RECEIVER[m]) for m in TRANSMITTERS]
    return {
        "slotted-shared-wait": most(shared),
        "slotted-distributed-wait": most(spread),
        "unslotted-shared-latency": most(latency),
        "slotted-losers-lost": most(lost),
        "slotted-losers-again": most(again),
        "slotted-dlb-carries-all": least(carried(_full("dlb", k)) for k in MORE_RECEIVERS if k > 1),
        "slotted-dlb-one-receiver": most(one),
    }


def _panels(runs: Runs[Key]) -> list[dict[str, Any]]:
    dense = [i / 100 for i in range(5, 93)]

    def curve(formula: Any, *arguments: int) -> Curve:
        return dense, [formula(p, *arguments) for p in dense]

    def waits(rule: str, m: int, receivers: tuple[int, ...]) -> dict[str, list[Estimate]]:
        return {
            f"k = {k}": [_wait(runs, (rule, k, m, p, "slotted")) for p in LOADS] for k in receivers
        }

    load = ("load [packets a slot]", LOADS)
    shared = {f"k = {k}": curve(theory.shared_wait, k, HOSTS) for k in RECEIVERS}
    spread = {f"k = {k}": curve(theory.distributed_wait, k, HOSTS) for k in (2, 4)}
    latency = {"k = 1": [_slots(runs, ("slb", 1, 0, p, "unslotted")) for p in LOADS]}
    carried = {
        name: [runs.accepted(_full(rule, k)) for k in MORE_RECEIVERS]
        for rule, name in RULES.items()
    }
    k_axis = [1 + i / 10 for i in range(151)]
    saturated: dict[str, Curve] = {
        "lost": (MORE_RECEIVERS, [theory.dropping(1.0, k, HOSTS) for k in MORE_RECEIVERS]),
        "again": (k_axis, [theory.retrying(k) for k in k_axis]),
    }
    one = {"k = 1": [runs.accepted(_full("dlb", 1, m)) for m in TRANSMITTERS]}
    known: dict[str, Curve] = {"k = 1": (TRANSMITTERS, [ONE_RECEIVER[m] for m in TRANSMITTERS])}
    each = "packets a slot and output"
    return [
        panel(
            "Shared buffer, slotted",
            load,
            "wait [slots]",
            waits("slb", 0, RECEIVERS),
            theory=shared,
            log_y=True,
        ),
        panel(
            "Distributed buffer, slotted",
            load,
            "wait [slots]",
            waits("dlb", 4, (2, 4)),
            theory=spread,
            log_y=True,
        ),
        panel(
            "Shared buffer, unslotted",
            load,
            "latency [slots]",
            latency,
            theory={"k = 1": curve(theory.shared_latency, HOSTS)},
        ),
        panel(
            "Saturated, by rule for losers",
            ("receivers k", MORE_RECEIVERS),
            each,
            carried,
            theory=saturated,
        ),
        panel(
            "Saturated, distributed buffer",
            ("transmitters m", TRANSMITTERS),
            each,
            one,
            theory=known,
        ),
    ]


figure = draw
