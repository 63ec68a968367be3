"""Counters as they are, which say how much there was since they began, and not in a step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightloom.control.demand.amounts import shown
from lightloom.errors import ConfigError

TOTAL = "_total"
"""How names of counters end, by the conventions of Prometheus and OpenMetrics."""
NAME, TYPES = "__name__", ("__type__", "type")
"""The label that has the name, and those that may have the type."""
LABELS = (NAME, *TYPES)


def check_not_raw(where: str, labels: Mapping[str, Any], measure: str = "5m") -> None:
    """Refuses a series that is a counter by its name or its type: `rate()` and `increase()`
    drop both.

    Raises:
        ConfigError: with what to ask for instead.
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
