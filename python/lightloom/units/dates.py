"""Times since 1970 as text."""

from __future__ import annotations

import math
from datetime import UTC, datetime


def utc(at: float) -> str:
    """Formats a time [s since 1970], rounded up to a second.

    >>> utc(1_800_000_000.2)
    '2027-01-15T08:00:01Z'
    """
    return f"{datetime.fromtimestamp(math.ceil(at), UTC):%Y-%m-%dT%H:%M:%SZ}"
