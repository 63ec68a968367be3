"""The formats of traces by their names, and the units of their times."""

from __future__ import annotations

from collections.abc import Callable

PLACES = {"ps": 0, "ns": 3, "us": 6, "ms": 9, "s": 12}
"""Units of times, with their decimals down to a picosecond."""
Hosts = Callable[[list[str]], list[int | None]]
"""A function from names in a trace to servers; None for unknown names."""


def is_parquet(path: str, format: str | None = None) -> bool:
    """Whether a trace is Parquet, by `format` or else by its name."""
    return format == "parquet" or (format is None and path.endswith(".parquet"))
