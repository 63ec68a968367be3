"""Files and numbers of prices, exactly as they are written.

Whatever is read here is summed as a fraction, so a number may be neither so large nor so fine that
its digits would fill the memory: `1e999999999` is eleven characters.
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

#: The largest amount, and digits before and after the point: more than any price has.
LARGEST, DIGITS = 10**15, 30
QUOTED = "write it without quotes, as 1250.50"


def toml(path: Path) -> dict[str, Any]:
    """A TOML file whose numbers are exact.

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
    except InvalidOperation:  # of an exponent that no computer holds
        raise ValueError(text) from None


def number(key: str, value: Any, remedy: str = QUOTED) -> Fraction:
    """A number from 0, exactly as it is written.

    Raises:
        ConfigError: of that key, if it is not a number, below 0, or too large.
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal | Fraction):
        raise refusal(key, shown(value), "not a number", remedy)
    if isinstance(value, Decimal) and not value.is_finite():
        raise refusal(key, value, "not a finite number", "correct it")
    if value < 0:
        raise refusal(key, value, "below 0", "a price cannot be negative: correct it")
    if value > LARGEST:
        raise refusal(key, value, "more than 10^15, which nothing costs", "correct it")
    if isinstance(value, Decimal):
        _, digits, exponent = value.as_tuple()
        if value and (len(digits) > DIGITS or int(exponent) < -DIGITS):
            raise refusal(key, value, f"a number of more than {DIGITS} digits", "round it")
        value = value if value else Decimal(0)
    return Fraction(value)


def written(key: str, text: str, remedy: str) -> Fraction:
    """The same of a text: `250`, `0.5`, or a ratio, `2/7`.

    Raises:
        ConfigError: as of `number`.
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
    """As messages show it."""
    return f'"{value}"' if isinstance(value, str) else str(value)
