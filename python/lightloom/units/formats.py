"""Figures on terminals, in notes and in errors: three digits and a unit.

A missing figure is printed as a dash.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightloom.units import bounds, steps
from lightloom.units.intervals import plus_minus as both

Summary = Mapping[str, Any]

TIMES = steps.TIMES[:-1]
"""Units of time on terminals; the shortest simulated times are nanoseconds."""


def seconds(value: float | None) -> str:
    """Formats a time in the unit that leaves one to three digits before the decimal point."""
    if value is None:
        return "-"
    unit, size = steps.step_for(value, TIMES)
    return f"{_three(value / size)} {unit}"


def micros(value: float | None) -> str:
    """Formats a time that is given in microseconds."""
    return "-" if value is None else seconds(value * 1e-6)


def size(value: float | None) -> str:
    """Formats a number of bytes in decimal units."""
    if value is None:
        return "-"
    return _whole_or_three(value, steps.BYTES)


def rate(bits_per_s: float) -> str:
    """Formats a data rate in decimal units."""
    return _whole_or_three(bits_per_s, steps.RATES)


def number(value: float | None, digits: int = 3) -> str:
    """Formats a number without a unit."""
    return "-" if value is None else f"{value:.{digits}f}"


def _whole_or_three(value: float, of: Sequence[steps.Step]) -> str:
    """Formats a value in the largest suitable unit; in the smallest unit, as a whole number."""
    unit, base = steps.step_for(value, of)
    return f"{value:.0f} {unit}" if base == 1.0 else f"{_three(value / base)} {unit}"


def _three(value: float) -> str:
    """Formats a number with three significant digits, without an exponent."""
    if abs(value) >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 9.995 else f"{value:.2f}"


def plus_minus(mean_us: float | None, half_width_us: float | None) -> str:
    """Formats a time and half of its confidence interval, both in the unit of the time.

    >>> plus_minus(956.2, 183.0), plus_minus(1152.0, 364.0), plus_minus(9.67, None)
    ('956 ± 180 µs', '1.15 ± 0.36 ms', '9.67 µs')
    """
    if mean_us is None or not half_width_us:
        return micros(mean_us)
    unit, size_s = steps.step_for(mean_us * 1e-6, TIMES)
    return f"{both(mean_us * 1e-6 / size_s, half_width_us * 1e-6 / size_s)} {unit}"


def seconds_plus_minus(mean: float, half: float | None) -> str:
    """Formats a time in seconds in the same way."""
    return plus_minus(mean * 1e6, None if half is None else half * 1e6)


def mean_latency(windows: Sequence[Mapping[str, Any]], half_width_us: float | None) -> str:
    """Formats the mean latency over the windows of all seeds with its confidence interval, or its
    lower bound if some flows of a window were unfinished."""
    each = [bounds.bound({"window": window}, "window.mean_us") for window in windows]
    found = bounds.mean(each)
    if found is None or not found.exact:
        return time_bound(found)
    return plus_minus(found.low, half_width_us)


def per_second(rate: float | None) -> str:
    """Formats a number of events per second."""
    if rate is None:
        return "-"
    unit, base = steps.step_for(rate, steps.COUNTS)
    return f"{_three(rate / base)} {unit}/s"


def percent(share: float | None) -> str:
    """Formats a fraction as a percentage."""
    return "-" if share is None else f"{share:.1%}"


def least(summary: Summary, path: str) -> str:
    """Formats a completion time, or its lower bound if flows were unfinished."""
    return time_bound(bounds.bound(summary, path))


def time_bound(found: bounds.Bound | None) -> str:
    """Formats a bound on a time in microseconds."""
    return "-" if found is None else found.scaled(1e-6).text(seconds)


def ratio(summary: Summary, path: str) -> str:
    """Formats a slowdown, or its lower bound if flows were unfinished."""
    return ratio_bound(bounds.bound(summary, path))


def ratio_bound(found: bounds.Bound | None) -> str:
    """Formats a bound on a slowdown."""
    return "-" if found is None else found.text(_three)
