"""Fig 10: throughput of a host against the slot, with the rates of UDP and TCP, and over the
electrical packet switch."""

from itertools import pairwise
from pathlib import Path
from typing import Any

from lightloom.validation.estimate import Estimate, least
from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("prototype.toml")
HOSTS = 23
#: Slots [us].
SLOTS = (61, 80, 106, 150, 200, 250, 300)
QUICK = (61, 106, 300)
#: Rates of a host's stack (§6.3) [Gb/s]: UDP with one flow and with 23, TCP with 23 flows and
#: without segmentation offload.
STACKS = {"UDP, one flow": 9.81, "UDP, 23 hosts": 8.83, "TCP, 23 hosts": 6.26}
#: Rounds of 22 slots.
ROUNDS = 20

SEEDS = (1, 2, 3)

Key = tuple[str, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Goodput of a host, as a round robin of each slot gives it [Gb/s]."""
    slots = QUICK if quick else SLOTS
    cases = {("ideal", slot): _case("exact", slot, None) for slot in slots}
    for name, rate in STACKS.items():
        cases |= {(name, slot): _case("prototype", slot, rate) for slot in slots}
    for name, rate in STACKS.items():
        cases[f"EPS, {name}", 0] = ([f"cluster.nic={rate} Gb/s", "run.stop=10 ms"], "eps")
    runs = vary(SETUP, cases, seeds=SEEDS, workers=workers)
    curves = {name: [_rate(runs, (name, s)) for s in slots] for name in ("ideal", *STACKS)}
    rises = [b.over(a) for curve in curves.values() for a, b in pairwise(curve)]
    claims = {
        "fig10-ideal": curves["ideal"][-1],
        "fig10-udp": curves["UDP, 23 hosts"][-1],
        "fig10-udp-one-flow": curves["UDP, one flow"][-1],
        "fig10-tcp": curves["TCP, 23 hosts"][-1],
        "fig10-eps-udp": _rate(runs, ("EPS, UDP, 23 hosts", 0)),
        "fig10-eps-tcp": _rate(runs, ("EPS, TCP, 23 hosts", 0)),
        "fig10-rises": least(rises),
        "fig10-shortest": curves["UDP, 23 hosts"][0],
    }
    shown = ("slot [µs]", list(slots))
    ideal = [10 * (1 - 11.5 / slot) for slot in slots]
    theory = {"duty cycle": (list(slots), ideal)} | {
        f"EPS, {name.split(',')[0]}": ([slots[0], slots[-1]], [rate, rate])
        for name in ("UDP, 23 hosts", "TCP, 23 hosts")
        if (rate := _rate(runs, (f"EPS, {name}", 0)).value)
    }
    panels = [panel("All to all, 23 hosts", shown, "[Gb/s]", curves, theory=theory)]
    return {"data": panels, "claims": claims}


def _case(label: str, slot: int, stack: float | None) -> tuple[list[str], str]:
    """Whole rounds, and slightly longer, so that the last day has ended."""
    settings = [f"fabric.{label}.slot={slot} us", f"run.stop={ROUNDS * 22 * slot + 1} us"]
    if stack is not None:
        settings.append(f"fabric.{label}.stack_rate={stack} Gb/s")
    return settings, label


def _rate(runs: Runs[Key], key: Key) -> Estimate:
    """Rate that a host receives [Gb/s]."""
    delivered = runs.across(key, "bytes_delivered")
    seconds = (runs.value(key, "simulated_s") or 1.0) - (0 if key[0].startswith("EPS") else 1e-6)
    return delivered.times(8e-9 / (HOSTS * seconds))


figure = draw
