"""Amounts in records; they are exact, so that the order of addition does not matter."""

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
"""Largest length of a number [characters]."""


class UnreadableError(ValueError):
    """A text is not an amount; the error states the reason and the remedy."""

    def __init__(self, limit: str, remedy: str) -> None:
        super().__init__(limit)
        self.limit, self.remedy = limit, remedy


def amount_of(text: str, delimiter: str = ",") -> Amount:
    """Returns the amount in a cell.

    Raises:
        UnreadableError: if it is not a number, or is negative.

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
    """Returns the amount in a number of JSON or Parquet, or in a text of digits.

    Raises:
        UnreadableError: as for `amount_of`.
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
    """Scales an amount of one in `rate` packets up to all packets. A rate of 0 means that packets
    are not sampled, or that the rate is unknown.

    >>> sampled(1500, 1000), sampled(1500, 0)
    (1500000, 1500)
    """
    return amount * (rate or 1)


def checked(value: Fraction) -> Amount:
    """Returns a value as an integer if it is one; raises an error if it is negative."""
    if value < 0:
        raise UnreadableError("demand is not negative", "give 0 or more")
    return value.numerator if value.denominator == 1 else value


def shown(text: str) -> str:
    """Formats the text of a cell for error messages.

    >>> shown(" "), shown("9" * 50)
    ('(empty)', '9999999999999999999999999999999999999999…')
    """
    bare = printable(text.strip())
    return (bare if len(bare) <= DIGITS else f"{bare[:DIGITS]}…") or "(empty)"
