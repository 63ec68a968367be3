"""§2: the cost of a circuit switch for 52 racks, and §7.3: the number of switches for 1,000
racks."""

from fractions import Fraction
from math import ceil
from typing import Any

from lightloom.costs.papers import cthrough
from lightloom.validation.bills import bill
from lightloom.validation.readings import Reading, Readings
from lightloom.validation.study import draw, panel

CLUSTER = {"racks": 52, "servers_per_rack": 40, "server_rate": "1 Gb/s"}
FABRIC = {"kind": "cthrough", "circuit_rate": "10 Gb/s"}
BOOK = "cthrough-2010"
LITERAL, OTHER = "literal", "B"
READINGS = (
    Reading(LITERAL, "at most: mirrors at $700 a port; zones of whole switches", "literal"),
    Reading(OTHER, "mirrors at $200 a port; zones that share a switch", "assumed"),
)


def measure(quick: bool, workers: int) -> dict[str, Any]:
    """The bill of the network that Lightloom simulates, at the paper's prices."""
    del quick, workers
    capital = bill(CLUSTER, FABRIC, BOOK).capital
    if capital is None:
        raise LookupError(f"{BOOK} lacks a price")
    low, high = float(capital.low), float(capital.high)
    switches = sum(cthrough.large_switches())
    zones = {
        LITERAL: switches / ceil(cthrough.LARGE / cthrough.BOX),
        OTHER: float(switches / Fraction(cthrough.LARGE, cthrough.BOX)),
    }
    values = {"cost-52-racks": {LITERAL: high, OTHER: low}, "cost-of-joining-zones": zones}
    lines = {"here": [low, high], "paper": [None, 110_000.0]}
    ends = ("1: ports at $200, 2: at $700", (1, 2))
    return {
        "data": [panel("52 racks by mirrors", ends, "[$]", lines)],
        "claims": {"cost-eleven-switches": float(switches)},
        "readings": Readings(LITERAL, READINGS, values),
    }


figure = draw
