"""The subject of Table I and Fig 5: 10,240 servers in 320 racks, by the paper's counts and by the
bills of the networks that Lightloom simulates."""

from fractions import Fraction
from typing import Any

from lightloom.costs.papers import hydra
from lightloom.costs.pricing import FabricCost
from lightloom.validation.bills import bill
from lightloom.validation.readings import Reading

CLUSTER = {"racks": 320, "servers_per_rack": 32, "server_rate": "10 Gb/s"}
BOOK = "hydra-2013"
TABLE, BILL = "table", "bill"
READINGS = (
    Reading(TABLE, "the counts of Table I, fractions of switches included", "literal"),
    Reading(
        BILL,
        "a cable for each server of the tree, as for each of HydRA, and whole switches for the "
        "links that there are: `lightloom cost`",
        "assumed",
    ),
)


def own(planes: int) -> FabricCost:
    """HydRA with this number of MEMS switches."""
    table = {"kind": "hydra", "planes": planes, "circuit_rate": "10 Gb/s"}
    return bill(CLUSTER, table, BOOK)


def tree(ratio: int) -> FabricCost:
    """The fat tree of three levels, with this oversubscription."""
    table: dict[str, Any] = {"kind": "tree", "levels": 3, "racks_per_pod": 16}
    return bill(CLUSTER, table | {"oversubscription": ratio}, BOOK)


def price(found: FabricCost) -> Fraction:
    """At the list prices; the low-rate network beside the circuits has none."""
    if found.capital is None:
        raise LookupError(f"no price of {', '.join(found.unpriced)}")
    return found.capital.high


def saving(planes: int, ratio: int) -> dict[str, float]:
    """Saving of HydRA relative to the fat tree [%], by reading."""
    by_bill = 1 - price(own(planes)) / price(tree(ratio))
    return {TABLE: 100 * float(hydra.saving(planes, ratio)), BILL: 100 * float(by_bill)}


def equal_planes(ratio: int) -> dict[str, float]:
    """K at which HydRA and the fat tree cost the same, by reading."""
    one, two = price(own(1)), price(own(2))
    by_bill = 1 + (price(tree(ratio)) - one) / (two - one)
    return {TABLE: float(hydra.equal_planes(ratio)), BILL: float(by_bill)}
