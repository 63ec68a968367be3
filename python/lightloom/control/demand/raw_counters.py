"""Raw counters, which contain the total since their start instead of the amount in a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightloom.control.demand.amounts import shown
from lightloom.errors import ConfigError

TOTAL = "_total"
"""Ending of names of counters, by the conventions of Prometheus and OpenMetrics."""
NAME, TYPES = "__name__", ("__type__", "type")
"""The label of the name, and the labels that may state the type."""
LABELS = (NAME, *TYPES)


def check_not_raw(where: str, labels: Mapping[str, Any], measure: str = "5m") -> None:
    """Raises an error for a series that is a counter by its name or its type; `rate()` and
    `increase()` remove both.

    Raises:
        ConfigError: which states the query to use instead.
    """
    name = labels.get(NAME)
    key = NAME if isinstance(name, str) and name.endswith(TOTAL) else ""
    key = key or next((k for k in TYPES if str(labels.get(k)).lower() == "counter"), "")
    if not key:
        return
    asked = f"{shown(str(name))}[{measure}]" if isinstance(name, str) else f"…[{measure}]"
    limit = f"{key} = {shown(str(labels[key]))}: a counter, which adds up all since it began"
    remedy = f"ask for increase({asked}) with --unit B, or for rate({asked}) with --unit B/s"
    raise ConfigError(f"{where}: {limit}; {remedy}")
