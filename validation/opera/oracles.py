"""Rotor switches that reconfigure one after another, compared with arithmetic: the throughput of
all-to-all traffic and of a permutation of bulk, with and without relays."""

from pathlib import Path
from typing import Any

from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("setup.toml")
RACKS = 16
#: An uplink [B/s].
RATE = 10e9 / 8
#: A slice, and its dark time [us].
SLICE, NIGHTS = 100, (10, 20, 40)
#: Switches, and slots of each in a cycle, by label.
CYCLES = {"5 switches": (5, 3), "4 switches": (4, 4), "4 switches direct": (4, 4)}
#: Cycles at the ends of which bytes are counted: before the first, relays fill up; the
#: slots that are cut by the last weigh little.
FROM, UNTIL = 10, 210
#: All-to-all traffic; and a permutation to the rack 7 places further on, with so many flows that
#: every drawn source occurs.
UNIFORM = ["workload.pattern=all-to-all", "workload.flows=240"]
PERMUTATION = ["workload.pattern=tornado", "workload.flows=240"]

Key = tuple[str, str, int, int]


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Each traffic on each network, at each night, until two cycles."""
    del quick  # it takes no time
    traffic = {"uniform": UNIFORM, "permutation": PERMUTATION}
    cases: dict[Key, tuple[list[str], str]] = {}
    for name, settings in traffic.items():
        for label in CYCLES:
            for night in NIGHTS:
                for cycles in (FROM, UNTIL):
                    stop = f"run.stop={cycles * _cycle(label)} us"
                    where = f'fabric."{label}".night={night} us'
                    cases[name, label, night, cycles] = ([*settings, stop, where], label)
    runs = vary(SETUP, cases, seeds=[1], workers=workers)
    gets = {(a, b, c): _goodput(runs, (a, b, c)) for a, b, c, _ in cases}

    def worst(name: str, label: str, of_duty: float) -> float:
        ratios = (gets[name, label, n] / (_duty(label, n) * of_duty) for n in NIGHTS)
        return float(max(ratios, key=lambda r: abs(r - 1)))

    queue = runs.value(("permutation", "4 switches", 20, UNTIL), "queue_peak_bytes") or 0.0
    claims = {
        "opera-uniform-duty": worst("uniform", "5 switches", 1),
        "opera-uniform-idle-matching": worst("uniform", "4 switches", 15 / 16),
        "opera-permutation-half": worst("permutation", "4 switches", 1 / 2),
        "opera-permutation-no-idle": worst("permutation", "5 switches", 16 / 30),
        "opera-permutation-direct": worst("permutation", "4 switches direct", 1 / 16),
        "opera-relay-queue": queue / ((RACKS - 2) * RATE * 380e-6),
    }
    lines = {
        "all to all, 5 switches": [gets["uniform", "5 switches", n] for n in NIGHTS],
        "permutation, 4 switches": [gets["permutation", "4 switches", n] for n in NIGHTS],
        "without relays": [gets["permutation", "4 switches direct", n] for n in NIGHTS],
    }
    shares = (("5 switches", 1), ("4 switches", 1 / 2), ("4 switches direct", 1 / 16))
    ends = (0, 50)
    theory = {
        name: ([e / SLICE for e in ends], [share * _duty(label, e) for e in ends])
        for name, (label, share) in zip(lines, shares, strict=True)
    }
    x = ("night ÷ slice", [night / SLICE for night in NIGHTS])
    panels = [panel("Bulk without end", x, "of uplinks' rate", lines, theory=theory)]
    return {"data": panels, "claims": claims}


def _cycle(label: str) -> int:
    """Time until switches have their first matchings again [us]."""
    switches, slots = CYCLES[label]
    return switches * slots * SLICE


def _duty(label: str, night: float) -> float:
    """Share of the time for which a switch is lit: it stays with a matching for as many
    slices as there are switches."""
    return 1 - night / (CYCLES[label][0] * SLICE)


def _goodput(runs: Runs[Key], key: tuple[str, str, int]) -> float:
    """Bytes delivered between two cycles, relative to the capacity of the uplinks."""
    first, last = (runs.value((*key, c), "bytes_delivered") or 0.0 for c in (FROM, UNTIL))
    lasted = (UNTIL - FROM) * _cycle(key[1]) * 1e-6
    return (last - first) / (RACKS * CYCLES[key[1]][0] * RATE * lasted)


figure = draw
