"""What a number of a demand stands for: an amount of data, or a rate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from lightloom import _core
from lightloom.errors import ConfigError, refusal


@dataclass(frozen=True)
class Unit:
    """An amount, or an amount a second."""

    text: str
    """As it is shown: "1 GB", "1 Gb/s"."""
    size: Fraction
    """Bytes, or bytes a second, that 1 stands for."""
    is_rate: bool = False
    """Whether it is for each second."""


def unit_of(text: str, *, rates: bool = False) -> Unit:
    """A unit as users write it, its 1 left out if they like.

    Raises:
        ConfigError: of `unit`: nothing of the kind, less than a byte, or a rate where
            amounts are wanted.

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
        raise refusal("unit", text, "less than a byte", 'say what a number stands for, like "1 MB"')
    return Unit(shown, Fraction(size))


def _rate(text: str, shown: str) -> Fraction:
    """Bytes a second, of "1 MB/s" and of "1 Mb/s"."""
    amount = shown.strip().removesuffix("/s")
    try:
        if amount.endswith("B"):
            size = Fraction(_core.control_bytes("unit", amount))
        else:
            size = Fraction(_core.control_rate("unit", shown), 8)
    except ConfigError:
        raise refusal("unit", text, "no rate", "write one like B/s, MB/s or Gb/s") from None
    if not size:
        raise refusal("unit", text, "nothing at all", "say what a number stands for, like B/s")
    return size
