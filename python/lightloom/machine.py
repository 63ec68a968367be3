"""What this machine offers."""

from __future__ import annotations

import os


def processors() -> int:
    """Processors that this process may use."""
    available = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1
