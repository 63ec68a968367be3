"""Rotor switches compared with arithmetic: the throughput of all-to-all traffic and of a
permutation, with and without relays."""

from pathlib import Path
from typing import Any

from lightloom.validation.study import Runs, draw, panel, vary

SETUP = Path(__file__).with_name("setup.toml")
RACKS = 16
#: An uplink [B/s].
RATE = 10e9 / 8
#: A slot, and its dark time [us].
SLOT, NIGHTS = 200, (10, 20, 40)
#: Switches, and slots of a cycle, by label.
CYCLES = {"5 switches": (5, 3), "4 switches": (4, 4), "4 switches direct": (4, 4)}
#: Cycles at the ends of which bytes are counted: before the first, relays fill up.
FROM, UNTIL = 10, 30
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
        for label, (_, slots) in CYCLES.items():
            for night in NIGHTS:
                for cycles in (FROM, UNTIL):
                    stop = f"run.stop={cycles * slots * SLOT} us"
                    where = f'fabric."{label}".night={night} us'
                    cases[name, label, night, cycles] = ([*settings, stop, where], label)
    runs = vary(SETUP, cases, seeds=[1], workers=workers)
    gets = {(a, b, c): _goodput(runs, (a, b, c)) for a, b, c, _ in cases}
    duty = {night: 1 - night / SLOT for night in NIGHTS}

    def worst(name: str, label: str, of_duty: float) -> float:
        ratios = (gets[name, label, night] / (duty[night] * of_duty) for night in NIGHTS)
        return float(max(ratios, key=lambda r: abs(r - 1)))

    queue = runs.value(("permutation", "4 switches", 20, UNTIL), "queue_peak_bytes") or 0.0
    claims = {
        "rotornet-uniform-duty": worst("uniform", "5 switches", 1),
        "rotornet-uniform-idle-matching": worst("uniform", "4 switches", 15 / 16),
        "rotornet-permutation-half": worst("permutation", "4 switches", 1 / 2),
        "rotornet-permutation-no-idle": worst("permutation", "5 switches", 16 / 30),
        "rotornet-permutation-direct": worst("permutation", "4 switches direct", 1 / 16),
        "rotornet-relay-queue": queue / ((RACKS - 2) * RATE * 180e-6),
    }
    lines = {
        "all to all, 5 switches": [gets["uniform", "5 switches", n] for n in NIGHTS],
        "permutation, 4 switches": [gets["permutation", "4 switches", n] for n in NIGHTS],
        "without relays": [gets["permutation", "4 switches direct", n] for n in NIGHTS],
    }
    of_duty = dict(zip(lines, (1, 1 / 2, 1 / 16), strict=True))
    theory = {name: ([0.0, 0.25], [share, 0.75 * share]) for name, share in of_duty.items()}
    x = ("night ÷ slot", [night / SLOT for night in NIGHTS])
    panels = [panel("Traffic without end", x, "of uplinks' rate", lines, theory=theory)]
    return {"data": panels, "claims": claims}


def _goodput(runs: Runs[Key], key: tuple[str, str, int]) -> float:
    """Bytes delivered between two cycles, relative to the capacity of the uplinks."""
    switches, slots = CYCLES[key[1]]
    first, last = (runs.value((*key, c), "bytes_delivered") or 0.0 for c in (FROM, UNTIL))
    lasted = (UNTIL - FROM) * slots * SLOT * 1e-6
    return (last - first) / (RACKS * switches * RATE * lasted)


figure = draw
