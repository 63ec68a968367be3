"""Durations in options: the core's units, and minutes, hours and days."""

from __future__ import annotations

import re
from collections.abc import Mapping

from lightloom import _core
from lightloom.errors import ConfigError, refusal

DARK_TIME = "20 ms"
"""Default time from a command until a circuit carries data, typical of a Polatis switch by its data
sheet."""
LONGER: Mapping[str, int] = {"min": 60, "h": 3600, "d": 86_400}
"""Units that the core's durations do not have, in seconds."""


def duration_ps(key: str, text: str) -> int:
    """Converts a duration in the user's form to picoseconds.

    Args:
        key: the key that an error names.
        text: such as `"20 ms"`, `"1.5 h"` or `"5 min"`.

    Raises:
        ConfigError: if it is not a duration.

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
    """Converts a duration in the core's units to picoseconds; its errors also list the longer
    units."""
    try:
        return _core.control_time(key, text)
    except ConfigError as problem:
        limit = (problem.limit or "").replace(
            "use one of s,", f"use one of {', '.join(LONGER)}, s,"
        )
        raise refusal(key, problem.value, limit, problem.remedy or "") from None
