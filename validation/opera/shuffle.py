"""A shuffle that waits for its circuits, beside a folded Clos, and over several circuits."""

from pathlib import Path
from typing import Any

import numpy as np

import lightloom
from lightloom.validation.study import draw, panel

SETUP = Path(__file__).with_name("shuffle.toml")
#: A flow [B], an uplink [B/s], a slice and a night [s].
FLOW, RATE, SLICE, NIGHT = 100_000, 10e9 / 8, 100e-6, 10e-6
#: Racks, servers of each, switches: as published, and few enough to go over several circuits.
PUBLISHED, SMALL = (108, 6, 6), (24, 4, 4)
SHARES = (1, 10, 25, 50, 75, 90, 99, 100)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """The shuffle on each network."""
    del workers  # one run after another
    shape = SMALL if quick else PUBLISHED
    came = {label: _arrivals(label, shape) for label in ("direct", "relays", "clos")}
    small = {label: _arrivals(label, SMALL) for label in ("direct", "low-latency")}
    cycles, cycle = _cycles(shape)
    claims = {
        "opera-shuffle-cycles": float(came["direct"][-1] / (cycles * cycle)),
        "opera-shuffle-relays": float(came["relays"][-1] / ((cycles + 1) * cycle)),
        "opera-shuffle-clos": _late(came["clos"]) / _late(came["direct"]),
        "opera-shuffle-four": _late(came["clos"]) / _late(came["direct"]),
        "opera-shuffle-tax": _late(small["low-latency"]) / _late(small["direct"]),
    }
    names = {"direct": "Opera, direct", "relays": "Opera, RotorLB", "clos": "Clos, 3:1"}
    lines = {
        name: [float(np.percentile(came[label], share)) for share in SHARES]
        for label, name in names.items()
    }
    title = f"Shuffle of {shape[0]} racks of {shape[1]}"
    panels = [panel(title, ("% of flows", SHARES), "have arrived [s]", lines)]
    return {"data": panels, "claims": claims}


def _arrivals(label: str, shape: tuple[int, int, int]) -> Any:
    """When flows to other racks were complete [s], in order."""
    racks, servers, _ = shape
    settings = [
        f"cluster.racks={racks}",
        f"cluster.servers_per_rack={servers}",
        f"workload.flows={racks * servers * (racks * servers - 1)}",
    ]
    flows = lightloom.run(lightloom.load(SETUP, settings), label).flows
    src, dst, finish = (flows[name].to_numpy() for name in ("src", "dst", "finish_ps"))
    return np.sort(finish[src // servers != dst // servers]) * 1e-12


def _cycles(shape: tuple[int, int, int]) -> tuple[int, float]:
    """Number of slots for the bytes of one rack for another, and the time between these slots
    [s]."""
    racks, servers, switches = shape
    carries = RATE * (switches * SLICE - NIGHT)
    slots = -(-(racks - 1) // switches)
    return int(-(-servers * servers * FLOW // carries)), slots * switches * SLICE


def _late(came: Any) -> float:
    """Time at which 99 % had arrived."""
    return float(np.percentile(came, 99))


figure = draw
