"""What this machine offers, and among how many work is shared."""

from __future__ import annotations

import operator
import os
from typing import Any

from lightloom.errors import refusal

#: Work is shared among no more: no machine has as many processors.
MOST = 65_536


def processors() -> int:
    """Processors that this process may use."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


def check_count(name: str, count: Any) -> None:
    """Refuses to share out work among nobody, among a part of one, or among more than
    there can be.

    >>> check_count("threads", 0)
    Traceback (most recent call last):
        ...
    lightloom.ConfigError: threads = 0: must be at least 1; raise it, or leave it out
    """
    try:
        whole = operator.index(count)
    except TypeError:
        shown = f'"{count}"' if isinstance(count, str) else count
        raise refusal(name, shown, "must be a whole number", "correct it") from None
    if whole < 1:
        raise refusal(name, whole, "must be at least 1", "raise it, or leave it out")
    if whole > MOST:
        raise refusal(name, whole, f"must be at most {MOST:,}", "lower it, or leave it out")
