"""How many of something, and the first of many, in words."""

from __future__ import annotations

from collections.abc import Iterable


def counted(count: int, one: str, several: str = "") -> str:
    """A number and what it counts, in the singular where it is 1.

    >>> counted(1, "flow"), counted(20_000, "flow"), counted(2, "entry", "entries")
    ('1 flow', '20,000 flows', '2 entries')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def shown(names: Iterable[str], most: int = 3) -> str:
    """The first few of them.

    >>> shown(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    several = list(names)
    more = f" and {len(several) - most:,} more" if len(several) > most else ""
    return ", ".join(several[:most]) + more
