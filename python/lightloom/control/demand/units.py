"""The unit of a number of a demand: an amount of data, or a rate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from lightloom import _core
from lightloom.errors import ConfigError, refusal


@dataclass(frozen=True)
class Unit:
    """An amount of data, or an amount per second."""

    text: str
    """The unit in messages: "1 GB", "1 Gb/s"."""
    size: Fraction
    """Bytes, or bytes per second, per unit of a number."""
    is_rate: bool = False
    """Whether it is a rate."""


def unit_of(text: str, *, rates: bool = False) -> Unit:
    """Parses a unit as users write it; a leading "1" may be omitted.

    Raises:
        ConfigError: if `unit` is unknown, smaller than a byte, or a rate instead of an amount.

    >>> unit_of("GB").text, int(unit_of("2 MB").size), int(unit_of("8 kb/s", rates=True).size)
    ('1 GB', 2000000, 1000)
    """
    shown = f"1 {text.strip()}" if re.fullmatch(r"\s*[A-Za-z]+(/s)?\s*", text) else text
    if shown.rstrip().endswith("/s"):
        if not rates:
            remedy = 'multiply by the seconds that they are for, and give a unit like "1 GB"'
            raise refusal("unit", text, "a rate, where numbers are amounts of data", remedy)
        return Unit(shown, _rate(text, shown), is_rate=True)
    try:
        size = _core.control_bytes("unit", shown)
    except ConfigError:
        if shown == text:
            raise
        limit = "not a unit of data" + (" or of a rate" if rates else "")
        raise refusal("unit", text, limit, "write one like B, MB, GB, or 512 KB") from None
    if size == 0:
        raise refusal(
            "unit", text, "less than a byte", 'write the unit of a number, such as "1 MB"'
        )
    return Unit(shown, Fraction(size))


def _rate(text: str, shown: str) -> Fraction:
    """Returns the bytes per second of a rate such as "1 MB/s" or "1 Mb/s"."""
    amount = shown.strip().removesuffix("/s")
    try:
        if amount.endswith("B"):
            size = Fraction(_core.control_bytes("unit", amount))
        else:
            size = Fraction(_core.control_rate("unit", shown), 8)
    except ConfigError:
        raise refusal("unit", text, "not a rate", "write one like B/s, MB/s or Gb/s") from None
    if not size:
        raise refusal("unit", text, "must be above 0", "write the unit of a number, such as B/s")
    return size
