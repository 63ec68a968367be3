"""Money, watts and parts in words: for the terminal and for pages alike."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from lightloom.economics.amounts import Range

if TYPE_CHECKING:
    from lightloom.economics.costs import Costs

MISSING = "–"
_STEPS = ((10**9, "G"), (10**6, "M"), (10**3, "k"))
_SIGNS = {"USD": "$", "EUR": "€", "GBP": "£"}


def sign(currency: str) -> str:
    """What stands before an amount.

    >>> sign("USD"), sign("CHF")
    ('$', 'CHF ')
    """
    return _SIGNS.get(currency, f"{currency} ")


def amount(number: Fraction, unit: str = "") -> str:
    """Four digits and a step: `16.70 M`.

    >>> amount(Fraction(16_696_320)), amount(Fraction(110_600)), amount(Fraction(7, 2))
    ('16.70 M', '110.6 k', '3.5')
    """
    for step, letter in _STEPS:
        if abs(number) >= step:
            scaled = float(number / step)
            digits = 2 if scaled < 100 else 1
            return f"{scaled:.{digits}f} {letter}{unit}"
    return f"{float(number):.4g}{' ' + unit if unit else ''}"


def ends(found: Range | None, unit: str = "", before: str = "") -> str:
    """`$13.93 k – $22.62 k`, or one of them where it is certain."""
    if found is None:
        return MISSING
    low, high = amount(found.low, unit), amount(found.high, unit)
    return f"{before}{low}" if low == high else f"{before}{low} – {before}{high}"


def digits(number: Fraction) -> str:
    """Three significant digits, grouped by thousands.

    >>> digits(Fraction(45_088, 10)), digits(Fraction(1, 3)), digits(Fraction(9, 8))
    ('4,510', '0.333', '1.13')
    """
    if not number:
        return "0"
    places = 2 - math.floor(math.log10(abs(float(f"{float(number):.2e}"))))
    exact = Decimal(number.numerator) / Decimal(number.denominator)
    return f"{exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,f}"


def span(found: Range, before: str = "", after: str = "", to: str = " to ") -> str:
    """Both ends of an interval in three digits, one where they read alike.

    >>> span(Range.of(450, 656), "$"), span(Range.of(3), after=" W")
    ('$450 to $656', '3.00 W')
    """
    low, high = digits(found.low), digits(found.high)
    shown = f"{before}{low}" if low == high else f"{before}{low}{to}{before}{high}"
    return shown + after


def part(name: str) -> str:
    """A part with its article: `a tunable transceiver`."""
    words = name.replace("-", " ")
    return f"{'an' if words[0] in 'aeio' else 'a'} {words}"


def left_out(found: Costs) -> Iterator[str]:
    """Parts that the book's source leaves out, with its reason."""
    reasons: dict[str, list[str]] = {}
    for cost in found.fabrics.values():
        for name in cost.form.counts:
            part = found.book.part(name)
            if part is not None and part.excluded and name not in found.book.given:
                parts = reasons.setdefault(part.excluded, [])
                parts += [] if name in parts else [name]
    for reason, parts in reasons.items():
        yield f"left out: {', '.join(parts)} ({reason})"


def by_devices(found: Costs) -> Iterator[str]:
    """Where devices that a fabric names have other boxes than the book, and which decides."""
    from lightloom.economics.bills import from_devices

    labels: dict[str, list[str]] = {}
    for label, cost in found.fabrics.items():
        parts = [line.part for line in cost.lines if from_devices.FROM in line.formula]
        for text in from_devices.differences(cost.network, found.book, parts):
            labels.setdefault(text, []).append(label)
    for text, of in labels.items():
        yield f"{', '.join(of)}: {text}"
