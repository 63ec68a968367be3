"""Amounts as records write them: exact, whatever order they are added up in."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from lightloom.control.cells import remedy_of
from lightloom.control.names import printable

Amount = int | Fraction
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
DIGITS = 40
"""Of the longest number that is one [characters]."""


class UnreadableError(ValueError):
    """What is no amount: why not, and what to write."""

    def __init__(self, limit: str, remedy: str) -> None:
        super().__init__(limit)
        self.limit, self.remedy = limit, remedy


def amount_of(text: str, delimiter: str = ",") -> Amount:
    """The amount that a cell says.

    Raises:
        UnreadableError: for what is no number, or a negative one.

    >>> amount_of("1500"), amount_of(" 2.5 ")
    (1500, Fraction(5, 2))
    """
    if text.isascii() and text.isdigit() and len(text) <= DIGITS:
        return int(text)
    bare = text.strip()
    if not bare:
        raise UnreadableError("nothing here", "write 0 where there is no demand")
    if bare.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise UnreadableError("not a finite number", "write the bytes, or leave the record out")
    if len(bare) > DIGITS:
        raise UnreadableError(f"more than {DIGITS} characters", "write a number")
    if NUMBER.fullmatch(bare) is None:
        remedy = "write a number, or leave the record out"
        raise UnreadableError("not a number", remedy_of(bare, delimiter) or remedy)
    return checked(Fraction(bare))


def amount_from(value: object) -> Amount:
    """The amount that a number of JSON or Parquet says, or a text of digits.

    Raises:
        UnreadableError: as `amount_of`.
    """
    if isinstance(value, str):
        return amount_of(value)
    if isinstance(value, Decimal) and value.is_finite():
        return checked(Fraction(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UnreadableError("not a number", "write a number, or leave the record out")
    if isinstance(value, float) and not math.isfinite(value):
        raise UnreadableError("not a finite number", "write the bytes, or leave the record out")
    return checked(Fraction(value))


def sampled(amount: Amount, rate: Amount) -> Amount:
    """An amount of one in `rate` packets as that of all; 0 is written where packets are
    not sampled, or the rate is not known.

    >>> sampled(1500, 1000), sampled(1500, 0)
    (1500000, 1500)
    """
    return amount * (rate or 1)


def checked(value: Fraction) -> Amount:
    """The same, as a whole number if it is one; a negative one is refused."""
    if value < 0:
        raise UnreadableError("demand is not negative", "give 0 or more")
    return value.numerator if value.denominator == 1 else value


def shown(text: str) -> str:
    """What a cell says, as a refusal shows it.

    >>> shown(" "), shown("9" * 50)
    ('(empty)', '9999999999999999999999999999999999999999…')
    """
    bare = printable(text.strip())
    return (bare if len(bare) <= DIGITS else f"{bare[:DIGITS]}…") or "(empty)"
