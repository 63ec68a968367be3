"""Bills of materials of simulated networks, for claims about parts and prices."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import lightloom
from lightloom.costs.pricing import FabricCost

#: The traffic of an experiment for bills, which do not depend on it.
_TRAFFIC = {
    "arrivals": "poisson",
    "load": 0.5,
    "sizes": {"kind": "fixed", "size": "1 MB"},
    "pattern": "uniform",
    "flows": 100,
}


def bill(cluster: Mapping[str, Any], fabric: Mapping[str, Any], prices: str) -> FabricCost:
    """Returns the bill of one fabric of a cluster at the prices of a book; nothing is simulated.

    Raises:
        ConfigError: if the cluster or the fabric is invalid.
    """
    table = {"cluster": dict(cluster), "workload": _TRAFFIC, "run": {"seed": 1}}
    (found,) = lightloom.cost(table | {"fabric": [dict(fabric)]}, prices).fabrics.values()
    return found


def counts(found: FabricCost, groups: Mapping[str, tuple[str, ...]]) -> dict[str, Fraction]:
    """Returns the number of parts in each group of a bill, by the name of the group."""
    return {
        name: sum((line.count for line in found.lines if line.part in parts), Fraction(0))
        for name, parts in groups.items()
    }
