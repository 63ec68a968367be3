"""Reads values of `summary.json` by dotted path, and its jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightloom.units.formats import seconds

Summary = Mapping[str, Any]


def pick(summary: Summary, path: str) -> Any:
    """Returns the value at a dotted path of a summary; None if it does not exist."""
    value: Any = summary
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


JOBS_SHOWN = 20
"""Largest number of jobs that are printed; traces can have thousands of groups."""


def jobs_of(summary: Summary) -> list[str]:
    """The names of the jobs of a workload."""
    return [job for job in summary.get("jobs", {}) if "/" not in job]


def took(times: Mapping[str, Any]) -> str:
    """The duration of a job as text, or its state if it did not end."""
    if times.get("seconds") is not None:
        return seconds(times["seconds"])
    return "not begun" if times.get("start_s") is None else "unfinished"
