"""§2: what a circuit switch for 52 racks costs, and §7.3: how many switches 1,000 racks take."""

from math import ceil
from typing import Any

import lightloom
from lightloom.economics.papers import cthrough
from lightloom.reproduce.study import draw, panel

EXPERIMENT = {
    "cluster": {"racks": 52, "servers_per_rack": 40, "server_rate": "1 Gb/s"},
    "workload": {
        "arrivals": "poisson",
        "load": 0.5,
        "sizes": {"kind": "fixed", "size": "1 MB"},
        "pattern": "uniform",
        "flows": 100,
    },
    "run": {"seed": 1},
    "fabric": [{"kind": "cthrough", "circuit_rate": "10 Gb/s"}],
}


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """The bill of the network that Lightloom simulates, at the paper's prices."""
    del quick, workers
    cost = lightloom.cost(EXPERIMENT, "cthrough-2010").fabrics["cthrough"]
    if cost.capital is None:
        raise AssertionError(f"no price of {cost.unpriced}")
    low, high = float(cost.capital.low), float(cost.capital.high)
    switches = sum(cthrough.large_switches())
    zones = ceil(cthrough.LARGE / cthrough.BOX)
    lines = {"here": [low, high], "paper": [None, 110_000.0]}
    ends = ("1: ports at $200, 2: at $700", (1, 2))
    panels = [panel("52 racks by mirrors", ends, "[$]", lines)]
    claims = {
        "cost-52-racks": high,
        "cost-eleven-switches": float(switches),
        "cost-of-joining-zones": switches / zones,
    }
    return {"data": panels, "claims": claims}


figure = draw
