"""Exact input of prices: files and numbers as they are written.

The values are summed as fractions. The size and the number of decimals are therefore limited, so
that digits cannot fill the memory: `1e999999999` has eleven characters.
"""

from __future__ import annotations

import tomllib
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path
from typing import Any

from lightloom.config import toml_errors
from lightloom.errors import ConfigError, refusal
from lightloom.storage import reading

#: The largest amount, and the largest number of digits before and after the decimal point.
LARGEST, DIGITS = 10**15, 30
QUOTED = "write it without quotes, as 1250.50"


def toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file with exact numbers.

    Raises:
        ConfigError: naming the file, or the key that is nested too deeply.
    """
    try:
        text = reading.text(path)
        try:
            found = tomllib.loads(text, parse_float=_decimal)
        except tomllib.TOMLDecodeError as problem:
            raise toml_errors.refused(path, text, problem) from None
        reading.check_depth(found, path)
        return found
    except ConfigError:
        raise
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8; save it as UTF-8") from None
    except ValueError:
        raise ConfigError(f"{path}: a number has too many digits; correct the file") from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply; correct the file") from None


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent that is too large for any computer
        raise ValueError(text) from None


def number(key: str, value: Any, remedy: str = QUOTED) -> Fraction:
    """Converts a non-negative number exactly.

    Raises:
        ConfigError: if it is not a number, negative, or too large; it names the key.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal | Fraction):
        raise refusal(key, shown(value), "not a number", remedy)
    if isinstance(value, Decimal) and not value.is_finite():
        raise refusal(key, value, "not a finite number", "correct it")
    if value < 0:
        raise refusal(key, value, "below 0", "a price cannot be negative: correct it")
    if value > LARGEST:
        raise refusal(key, value, "more than 10^15", "correct it")
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        if value and (len(digits) > DIGITS or int(exponent) < -DIGITS):
            raise refusal(key, value, f"a number of more than {DIGITS} digits", "round it")
        value = value if value else Decimal(0)
    return Fraction(value)


def written(key: str, text: str, remedy: str) -> Fraction:
    """Converts a text exactly: `250`, `0.5`, or a ratio such as `2/7`.

    Raises:
        ConfigError: as for `number`.
    """
    ends = [_plain(key, text, end, remedy) for end in text.split("/")]
    if len(ends) > 2 or (len(ends) == 2 and not ends[1]):
        raise refusal(key, f'"{text}"', "not a number", remedy)
    return ends[0] / ends[1] if len(ends) == 2 else ends[0]


def _plain(key: str, text: str, end: str, remedy: str) -> Fraction:
    try:
        value = Decimal(end.strip())
    except InvalidOperation:
        raise refusal(key, f'"{text}"', "not a number", remedy) from None
    if value.is_nan():
        raise refusal(key, f'"{text}"', "not a number", remedy)
    return number(key, value)


def shown(value: Any) -> str:
    """Formats a value for messages."""
    return f'"{value}"' if isinstance(value, str) else str(value)
