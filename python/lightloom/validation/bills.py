"""Bills of the networks that Lightloom simulates, for claims about parts and prices."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import lightloom
from lightloom.costs.pricing import FabricCost

#: Traffic, which an experiment has to have and no bill depends on.
_TRAFFIC = {
    "arrivals": "poisson",
    "load": 0.5,
    "sizes": {"kind": "fixed", "size": "1 MB"},
    "pattern": "uniform",
    "flows": 100,
}


def bill(cluster: Mapping[str, Any], fabric: Mapping[str, Any], prices: str) -> FabricCost:
    """What one fabric of a cluster is made of, at the prices of a book; nothing is simulated.

    Raises:
        ConfigError: of a cluster or fabric that cannot be.
    """
    table = {"cluster": dict(cluster), "workload": _TRAFFIC, "run": {"seed": 1}}
    (found,) = lightloom.cost(table | {"fabric": [dict(fabric)]}, prices).fabrics.values()
    return found


def counts(found: FabricCost, groups: Mapping[str, tuple[str, ...]]) -> dict[str, Fraction]:
    """How many of each group of parts a bill has, by the group's name."""
    return {
        name: sum((line.count for line in found.lines if line.part in parts), Fraction(0))
        for name, parts in groups.items()
    }
