"""Table I: the number of each item in HydRA and in a fat tree, compared with the bills of both
(§IV)."""

from fractions import Fraction
from typing import Any

from lightloom.costs import book as books
from lightloom.costs.papers import hydra
from lightloom.validation.bills import counts
from lightloom.validation.readings import Readings
from lightloom.validation.scripts import beside
from lightloom.validation.study import draw, panel

shared = beside(__file__, "table")
PLANES, RATIOS = 32, (1, 4, 25)
#: Items of the table, and the corresponding parts of a bill.
HYDRA_ITEMS = {
    "switch": ("switch",),
    "server-transceiver": ("server-transceiver",),
    "circuit-transceiver": ("circuit-transceiver",),
    "circuit-switch": ("circuit-switch",),
    "cable": ("server-cable",),
    "circuit-cable": ("circuit-cable",),
}
TREE_ITEMS = {
    "switch": ("switch",),
    "server-transceiver": ("server-transceiver", "transceiver"),
    "cable": ("server-cable", "cable"),
}


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """The table's counts, and those of the bills."""
    del quick, workers
    trees = {ratio: counts(shared.tree(ratio), TREE_ITEMS) for ratio in RATIOS}
    own = counts(shared.own(PLANES), HYDRA_ITEMS)
    paper = {ratio: dict(hydra.fat_tree(ratio).counts) for ratio in RATIOS}
    claims = {
        "table1-hydra-items": _alike(own, dict(hydra.hydra(PLANES).counts)),
        "table1-tree-items": _alike(trees[1], paper[1]),
        "table1-lr-over-sr": _lr_over_sr(),
    }
    switches = {
        f"table1-switches{'' if ratio == 1 else f'-{ratio}'}": {
            shared.TABLE: float(paper[ratio]["switch"]),
            shared.BILL: float(trees[ratio]["switch"]),
        }
        for ratio in (1, 4)
    }
    readings = Readings(shared.TABLE, shared.READINGS, switches)
    return {"data": _panels(paper, trees), "claims": claims, "readings": readings}


def _alike(found: dict[str, Fraction], table: dict[str, Fraction]) -> float:
    """Number of items with equal counts in both."""
    return float(sum(found[item] == count for item, count in table.items()))


def _lr_over_sr() -> float:
    book = books.load(shared.BOOK)
    long, short = (book.price(name) for name in ("circuit-transceiver", "server-transceiver"))
    if long is None or short is None:
        raise LookupError(f"{book.name} has no price of transceivers")
    return float(long.high / short.high)


def _panels(
    paper: dict[int, dict[str, Fraction]], trees: dict[int, dict[str, Fraction]]
) -> list[Any]:
    ratios = ("β", list(RATIOS))
    sides = {"Table I": paper, "bill": trees}
    return [
        panel(
            f"Fat tree: {item}",
            ratios,
            "items",
            {name: [float(side[ratio][item]) for ratio in RATIOS] for name, side in sides.items()},
        )
        for item in TREE_ITEMS
    ]


figure = draw
