"""Table I and Fig 5: what HydRA costs with K switches of mirrors, and a fat tree by its β."""

from fractions import Fraction
from typing import Any

import lightloom
from lightloom.economics import book as books
from lightloom.economics.papers import hydra
from lightloom.reproduce.study import draw, panel

PLANES = (1, 2, 4, 8, 16, 24, 32)
RATIOS = (1, 2, 4, 8, 16, 25)
TREE = {"kind": "tree", "levels": 3, "racks_per_pod": 16, "oversubscription": 1}
EXPERIMENT = {
    "cluster": {"racks": 320, "servers_per_rack": 32, "server_rate": "10 Gb/s"},
    "workload": {
        "arrivals": "poisson",
        "load": 0.5,
        "sizes": {"kind": "fixed", "size": "1 MB"},
        "pattern": "uniform",
        "flows": 100,
    },
    "run": {"seed": 1},
    "fabric": [TREE],
}


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Prices of Table I, without the low-rate network, of which the paper says none."""
    del quick, workers
    own = [_millions(hydra.price(hydra.hydra(planes)).high) for planes in PLANES]
    trees = [_millions(hydra.price(hydra.fat_tree(ratio)).high) for ratio in RATIOS]
    planes = ("K", PLANES)
    panels = [
        panel("Fig 5: HydRA", planes, "list price [$ M]", {"HydRA": own}),
        panel("Fig 5: fat tree", ("β", RATIOS), "list price [$ M]", {"fat tree": trees}),
        panel(
            "Equal cost",
            ("β", RATIOS[:-1]),
            "K",
            {"K": [float(hydra.equal_planes(ratio)) for ratio in RATIOS[:-1]]},
        ),
    ]
    claims = {
        "table1-switches": _switches(),
        "table1-lr-over-sr": _lr_over_sr(),
        "fig05-full-bisection-cheaper": float(hydra.saving(32, 1)) * 100,
        "fig05-saving": float(hydra.saving(32, 1)) * 100,
        "fig05-pair-4": float(hydra.equal_planes(4)),
        "fig05-pair-25": float(hydra.equal_planes(25)),
    }
    return {"data": panels, "claims": claims}


def _switches() -> float:
    """Of a fat tree of full bisection, by the bill of the `tree` that Lightloom simulates."""
    cost = lightloom.cost(EXPERIMENT, "hydra-2013").fabrics["tree"]
    return float(sum(line.count for line in cost.lines if line.part == "switch"))


def _lr_over_sr() -> float:
    book = books.load("hydra-2013")
    long, short = (book.price(name) for name in ("circuit-transceiver", "transceiver"))
    return float(long.high / short.high) if long and short else 0.0


def _millions(price: Fraction) -> float:
    return float(price / 10**6)


figure = draw
