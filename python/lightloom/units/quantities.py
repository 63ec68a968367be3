"""Numbers as a reader wants them: three significant digits, a prefix, a unit.

Inside the report times are seconds, data bytes, shares of a whole 0 to 1.
Bytes are decimal (1 KB = 1,000 B), as everywhere in Lightloom.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np

from lightloom.units import steps as units
from lightloom.units.counts import counted as counted
from lightloom.units.intervals import plus_minus
from lightloom.units.steps import BYTES, TIMES
from lightloom.units.steps import Step as Step

Quantity = Literal["time", "bytes", "share", "number"]

MISSING = "–"
GLUE = "\u00a0"  # a number and its unit stay on one line

UNWIELDY = 100_000  # a number this large takes the next unit


def steps(quantity: Quantity) -> tuple[Step, ...]:
    """Units of a quantity with their size in the base unit, largest first."""
    if quantity == "time":
        return TIMES
    if quantity == "bytes":
        return BYTES
    return (("%", 0.01),) if quantity == "share" else (("", 1.0),)


def step_for(value: float, quantity: Quantity) -> Step:
    """The unit in which `value` reads as 1 to 999."""
    if value == 0 and quantity == "time":
        return ("s", 1.0)
    return units.step_for(value, steps(quantity))


def common_step(values: Iterable[float], quantity: Quantity) -> Step:
    """One unit for a row: that of its smallest value, or larger if others get unwieldy."""
    sizes = [abs(v) for v in values if v]
    if not sizes:
        return step_for(0.0, quantity)
    chosen = step_for(min(sizes), quantity)
    larger = [s for s in steps(quantity) if s[1] > chosen[1]]
    while larger and max(sizes) / chosen[1] >= UNWIELDY:
        chosen = larger.pop()
    return chosen


def digits(value: float) -> str:
    """Three significant digits, whole numbers grouped by thousands."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < 0.01:
        return f"{value:.3g}"
    places = max(0, 2 - math.floor(math.log10(float(f"{size:.2e}"))))
    return f"{value:,.{places}f}"


def count(value: float) -> str:
    """A whole number, grouped by thousands."""
    return f"{value:,.0f}"


def in_step(value: float, step: Step) -> str:
    """The number alone, in a unit that the row names."""
    if step[0] == "B":
        return count(value)
    if step[0] == "%":
        return percent_digits(value)
    return digits(value / step[1])


def percent_places(shares: Iterable[float | None]) -> int:
    """Decimals of percentages that are read together: more if one is almost a whole."""
    return 3 if any(s is not None and 0.9995 <= s < 1 for s in shares) else 1


def percent_digits(share: float, places: int | None = None) -> str:
    """A share in percent; a share below 1 is never rounded up to 100 %."""
    percent = share * 100
    if percent in (0, 100):
        return f"{percent:.0f}"
    places = places or percent_places([share])
    if 99.95 <= percent < 100:
        return f"{math.floor(percent * 10**places) / 10**places:.{places}f}"
    return f"{percent:.{places}f}"


def show(value: float | None, quantity: Quantity, places: int | None = None) -> str:
    """The number with its unit, or a dash for a figure that does not exist.

    `places` are the decimals of a share that stands beside others.
    """
    if value is None:
        return MISSING
    if quantity == "share":
        return f"{percent_digits(value, places)}{GLUE}%"
    step = step_for(value, quantity)
    unit = f"{GLUE}{step[0]}" if step[0] else ""
    return in_step(value, step) + unit


def show_interval(value: float, half: float, quantity: Quantity) -> str:
    """A figure with half of its interval in one unit: `956 ± 180 µs`; `show` of the figure alone,
    where half is 0."""
    if not half:
        return show(value, quantity)
    step = step_for(value, quantity)
    unit = f"{GLUE}{step[0]}" if step[0] else ""
    return plus_minus(value / step[1], half / step[1]) + unit


def times(ratio: float) -> str:
    """A ratio: `2.2×`, `20×`."""
    if ratio >= 9.95:
        return f"{ratio:,.0f}×"
    return f"{ratio:.1f}×" if ratio >= 0.95 else f"{digits(ratio)}×"


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    items = list(parts)
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def tick_label(value: float, quantity: Quantity) -> str:
    """`10 µs`, `1 MB`, `50 %`, `0.25`."""
    if value == 0:
        return "0"
    name, size = step_for(value, quantity)
    number = f"{value / size:.4g}"
    if "e-" in number:  # a share of a tail: 0.00001 %
        number = np.format_float_positional(float(number), trim="-")
    return f"{number}{GLUE}{name}".rstrip()
