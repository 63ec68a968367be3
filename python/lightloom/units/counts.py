"""Numbers of things, and lists, as text."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral


def counted(count: float, one: str, several: str = "") -> str:
    """Returns a number and the noun that it counts; the noun is singular if the number is 1.

    >>> counted(1, "flow"), counted(20_000, "flow"), counted(2, "entry", "entries")
    ('1 flow', '20,000 flows', '2 entries')
    >>> counted(32 / 3, "slot")
    '10.67 slots'
    """
    return f"{figure(count)} {one if count == 1 else several or one + 's'}"


def figure(value: float) -> str:
    """Formats a whole number with thousands separators, any other number with four digits.

    >>> figure(20_000), figure(32 / 3)
    ('20,000', '10.67')
    """
    return f"{value:,}" if isinstance(value, Integral) else f"{value:.4g}"


def shown(names: Iterable[str], most: int = 3) -> str:
    """Lists the first few names and the number of the others.

    >>> shown(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    several = list(names)
    more = f" and {len(several) - most:,} more" if len(several) > most else ""
    return ", ".join(several[:most]) + more


def listed(parts: Iterable[str], last: str = "and") -> str:
    """Lists texts.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"], "or")
    ('a', 'a and b', 'a, b or c')
    """
    items = list(parts)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"
