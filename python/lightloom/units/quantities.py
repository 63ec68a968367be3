"""Numbers in reports: three significant digits, a prefix and a unit.

Times inside the report are in seconds, data in bytes, shares from 0 to 1. Multiples of bytes are
decimal (1 KB = 1,000 B), as everywhere in Lightloom.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np

from lightloom.units import steps as units
from lightloom.units.counts import counted as counted
from lightloom.units.counts import listed as listed
from lightloom.units.intervals import NOISE, plus_minus
from lightloom.units.steps import BYTES, TIMES
from lightloom.units.steps import Step as Step

Quantity = Literal["time", "bytes", "share", "number"]

MISSING = "–"
GLUE = "\u00a0"  # keeps a number and its unit on one line

UNWIELDY = 100_000  # numbers from here on are shown in the next unit


def steps(quantity: Quantity) -> tuple[Step, ...]:
    """Returns the units of a quantity with their sizes in the base unit, largest first."""
    if quantity == "time":
        return TIMES
    if quantity == "bytes":
        return BYTES
    return (("%", 0.01),) if quantity == "share" else (("", 1.0),)


def step_for(value: float, quantity: Quantity) -> Step:
    """Returns the unit in which `value` has one to three digits before the decimal point."""
    if value == 0 and quantity == "time":
        return ("s", 1.0)
    return units.step_for(value, steps(quantity))


def common_step(values: Iterable[float], quantity: Quantity) -> Step:
    """Returns one unit for a row: that of its smallest value, or a larger one if another value
    would get too many digits."""
    sizes = [abs(v) for v in values if v]
    if not sizes:
        return step_for(0.0, quantity)
    chosen = step_for(min(sizes), quantity)
    larger = [s for s in steps(quantity) if s[1] > chosen[1]]
    while larger and max(sizes) / chosen[1] >= UNWIELDY:
        chosen = larger.pop()
    return chosen


def digits(value: float) -> str:
    """Formats a number with three significant digits, whole numbers with thousands separators."""
    if value == 0:
        return "0"
    size = abs(value)
    if size < 0.01:
        return f"{value:.3g}"
    places = max(0, 2 - math.floor(math.log10(float(f"{size:.2e}"))))
    return f"{value:,.{places}f}"


def count(value: float) -> str:
    """Formats a whole number with thousands separators."""
    return f"{value:,.0f}"


def in_step(value: float, step: Step) -> str:
    """Formats the number alone, in a unit that the row states."""
    if step[0] == "B":
        return count(value)
    if step[0] == "%":
        return percent_digits(value)
    return digits(value / step[1])


def percent_places(shares: Iterable[float | None]) -> int:
    """Returns the decimals of percentages that are shown together: more if one is close to 100
    %."""
    return 3 if any(s is not None and 0.9995 <= s < 1 for s in shares) else 1


def percent_digits(share: float, places: int | None = None) -> str:
    """Formats a share as a percentage; a share below 1 is never rounded up to 100 %."""
    percent = share * 100
    if percent in (0, 100):
        return f"{percent:.0f}"
    places = places or percent_places([share])
    if 99.95 <= percent < 100:
        return f"{math.floor(percent * 10**places) / 10**places:.{places}f}"
    return f"{percent:.{places}f}"


def show(value: float | None, quantity: Quantity, places: int | None = None) -> str:
    """Formats a number with its unit; a missing figure is a dash.

    `places` is the number of decimals of a share that is shown beside others.
    """
    if value is None:
        return MISSING
    if quantity == "share":
        return f"{percent_digits(value, places)}{GLUE}%"
    step = step_for(value, quantity)
    unit = f"{GLUE}{step[0]}" if step[0] else ""
    return in_step(value, step) + unit


def show_interval(value: float, half: float, quantity: Quantity) -> str:
    """Formats a figure with half of its interval in one unit, as in `956 ± 180 µs`; without the
    interval if its half is 0, or rounding."""
    if half <= NOISE * abs(value):
        return show(value, quantity)
    step = step_for(value, quantity)
    unit = f"{GLUE}{step[0]}" if step[0] else ""
    return plus_minus(value / step[1], half / step[1]) + unit


def times(ratio: float) -> str:
    """Formats a ratio, as in `2.2×` or `20×`."""
    if ratio >= 9.95:
        return f"{ratio:,.0f}×"
    return f"{ratio:.1f}×" if ratio >= 0.95 else f"{digits(ratio)}×"


def tick_label(value: float, quantity: Quantity) -> str:
    """Formats the label of a tick: `10 µs`, `1 MB`, `50 %`, `0.25`."""
    if value == 0:
        return "0"
    name, size = step_for(value, quantity)
    number = f"{value / size:.4g}"
    if "e-" in number:  # a small share, such as 0.00001 %
        number = np.format_float_positional(float(number), trim="-")
    return f"{number}{GLUE}{name}".rstrip()
