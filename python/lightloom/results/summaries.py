"""What stands in `summary.json`, by dotted paths and by jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightloom.units.formats import seconds

Summary = Mapping[str, Any]


def pick(summary: Summary, path: str) -> Any:
    """The value at a dotted path of a summary, None where there is none."""
    value: Any = summary
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


JOBS_SHOWN = 20
"""Traces may have thousands of groups."""


def jobs_of(summary: Summary) -> list[str]:
    """The jobs of a workload by name."""
    return [job for job in summary.get("jobs", {}) if "/" not in job]


def took(times: Mapping[str, Any]) -> str:
    """A job's time, or how far it came."""
    if times.get("seconds") is not None:
        return seconds(times["seconds"])
    return "not begun" if times.get("start_s") is None else "unfinished"
