"""Durations as options take them: those of the core, and minutes, hours and days."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lightloom import _core
from lightloom.errors import ConfigError, refusal

DARK_TIME = "20 ms"
"""From a command until a circuit carries, unless given: typical of a Polatis switch, as its
data sheet says."""
LONGER: Mapping[str, int] = {"min": 60, "h": 3600, "d": 86_400}
"""Units that the core's durations do not have [s]."""


def duration_ps(key: str, text: str) -> int:
    """A duration as users write it [ps].

    Args:
        key: what a refusal names.
        text: as in `"20 ms"`, `"1.5 h"` or `"5 min"`.

    Raises:
        ConfigError: of `key`.

    >>> duration_ps("over", "1 h") == duration_ps("over", "60 min") == duration_ps("over", "3600 s")
    True
    >>> duration_ps("over", "0.5 min")
    30000000000000
    """
    found = re.fullmatch(r"\s*(\d{1,6})(?:\.(\d{1,6}))?\s*(min|h|d)\s*", text)
    if found is None:
        return _short_ps(key, text)
    whole, fraction, unit = found.groups()
    millionths = int(whole) * 1_000_000 + int((fraction or "").ljust(6, "0"))
    return LONGER[unit] * millionths * 1_000_000


def _short_ps(key: str, text: str) -> int:
    """A duration as the core reads it [ps]; its refusals name the longer units, too."""
    try:
        return _core.control_time(key, text)
    except ConfigError as problem:
        limit = (problem.limit or "").replace(
            "use one of s,", f"use one of {', '.join(LONGER)}, s,"
        )
        raise refusal(key, problem.value, limit, problem.remedy or "") from None
