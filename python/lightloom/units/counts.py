"""How many of something, and the first of many, in words."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral


def counted(count: float, one: str, several: str = "") -> str:
    """A number and what it counts, in the singular where it is 1.

    >>> counted(1, "flow"), counted(20_000, "flow"), counted(2, "entry", "entries")
    ('1 flow', '20,000 flows', '2 entries')
    >>> counted(32 / 3, "slot")
    '10.67 slots'
    """
    return f"{figure(count)} {one if count == 1 else several or one + 's'}"


def figure(value: float) -> str:
    """A whole number by thousands; any other to four digits.

    >>> figure(20_000), figure(32 / 3)
    ('20,000', '10.67')
    """
    return f"{value:,}" if isinstance(value, Integral) else f"{value:.4g}"


def shown(names: Iterable[str], most: int = 3) -> str:
    """The first few of them.

    >>> shown(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    several = list(names)
    more = f" and {len(several) - most:,} more" if len(several) > most else ""
    return ", ".join(several[:most]) + more
