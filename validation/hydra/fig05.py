"""Fig 5: cost of HydRA with K MEMS switches, and of a fat tree by its β, at the prices of Table I,
without the low-rate network, for which the paper states no price."""

from fractions import Fraction
from typing import Any

from lightloom.costs.papers import hydra
from lightloom.validation.readings import Readings
from lightloom.validation.scripts import beside
from lightloom.validation.study import draw, panel

shared = beside(__file__, "table")
PLANES = (1, 2, 4, 8, 16, 24, 32)
RATIOS = (1, 2, 4, 8, 16, 25)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """Prices by the paper's counts and by the bills of both networks."""
    del quick, workers
    saved = shared.saving(32, 1)
    values = {
        "fig05-full-bisection-cheaper": saved,
        "fig05-saving": saved,
        "fig05-pair-4": shared.equal_planes(4),
        "fig05-pair-25": shared.equal_planes(25),
    }
    readings = Readings(shared.TABLE, shared.READINGS, values)
    return {"data": _panels(), "claims": {}, "readings": readings}


def _panels() -> list[Any]:
    own = {
        "Table I": [_millions(hydra.price(hydra.hydra(planes)).high) for planes in PLANES],
        "bill": [_millions(shared.price(shared.own(planes))) for planes in PLANES],
    }
    trees = {
        "Table I": [_millions(hydra.price(hydra.fat_tree(ratio)).high) for ratio in RATIOS],
        "bill": [_millions(shared.price(shared.tree(ratio))) for ratio in RATIOS],
    }
    ratios = RATIOS[:-1]
    return [
        panel("Fig 5: HydRA", ("K", PLANES), "list price [$ M]", own),
        panel("Fig 5: fat tree", ("β", RATIOS), "list price [$ M]", trees),
        panel("Equal cost", ("β", ratios), "K", {"K": [_equal(ratio) for ratio in ratios]}),
    ]


def _equal(ratio: int) -> float:
    return float(hydra.equal_planes(ratio))


def _millions(price: Fraction) -> float:
    return float(price / 10**6)


figure = draw
