"""Processors and memory of this machine, and limits on parallel work."""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import Any

from lightloom.errors import refusal

#: Largest number of parallel workers or threads; no machine has more processors.
MOST = 65_536


def processors() -> int:
    """Number of processors that this process may use."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


def memory() -> int | None:
    """Free memory for this process [B]: of the machine, or of its container if that has less; None
    if the system does not report it."""
    found = [_available(), _container()]
    known = [amount for amount in found if amount is not None]
    return min(known) if known else None


def _available() -> int | None:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    lines = (line.split() for line in text.splitlines())
    return next((int(line[1]) * 1024 for line in lines if line[0] == "MemAvailable:"), None)


def _container() -> int | None:
    """Memory that the control group may still allocate [B]."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit, taken = (
            (folder / name).read_text(encoding="ascii").strip()
            for name in ("memory.max", "memory.current")
        )
    except OSError:
        return None
    return max(0, int(limit) - int(taken)) if limit.isdecimal() else None


def check_count(name: str, count: Any) -> None:
    """Raises an error if a number of workers or threads is not a whole number from 1 to `MOST`.

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
