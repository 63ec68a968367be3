"""Figures of flows, or their bounds, if flows are unfinished when a run ends.

The completion time of an unfinished flow is at least its age. A percentile of all flows offered
therefore lies between two limits, which the core computes (`fct_bound`, `slowdown_bound` and
`window.bound` of `summary.json`). If the limits are equal, or equal when shown with three digits,
the figure is known; otherwise it is shown as a bound, `> 12.1 µs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.units.intervals import Interval, over_runs

DIGITS = 3
#: First parts of the paths of figures of flows.
_OF_FLOWS = (
    *("fct.", "slowdown.", "window.p50_us", "window.p99_us", "window.mean_us"),
    "window.short.",
)
#: Key of a figure → key of its limits; the last key of the path is the same.
_PLACES = {"fct": "fct_bound", "slowdown": "slowdown_bound", "window": "window.bound"}


@dataclass(frozen=True)
class Bound:
    """The limits of a figure, and its 95 % interval; infinite where unknown.

    >>> Bound(12.1e-6, math.inf).exact
    False
    """

    low: float
    """Lower limit of the figure."""
    high: float
    """Upper limit of the figure."""
    start: float = 0.0
    """Lower end of the interval."""
    end: float = math.inf
    """Upper end of the interval."""

    @property
    def exact(self) -> bool:
        """Whether both limits are equal when shown."""
        return shown(self.low) == shown(self.high)

    @property
    def open(self) -> bool:
        """Whether there is no upper limit."""
        return math.isinf(self.high)

    def scaled(self, factor: float) -> Bound:
        """Returns the bound in another unit."""
        return Bound(*(factor * v for v in (self.low, self.high, self.start, self.end)))

    def text(self, show: Callable[[float], str]) -> str:
        """Formats the figure, or its lower limit, rounded down so that it remains a bound.

        >>> Bound(12.16, math.inf).text(str)
        '> 12.1'
        """
        return show(self.low) if self.exact else f"> {show(floored(self.low))}"


def bound(summary: Mapping[str, Any], path: str) -> Bound | None:
    """Returns the limits of the figure at a dotted path, in its unit; None if its class has no
    flows. Results of versions without limits give the figure itself, without an interval.

    >>> limits = {"low": 2.0, "high": None, "from": 1.0, "until": None}
    >>> bound({"fct_bound": {"short": {"p99_us": limits}}}, "fct.short.p99_us")
    Bound(low=2.0, high=inf, start=1.0, end=inf)
    """
    first, _, rest = path.partition(".")
    found = _at(summary, f"{_PLACES[first]}.{rest}")
    if isinstance(found, Mapping):
        return of_limits(found)
    plain = _at(summary, path)
    return None if plain is None else Bound(float(plain), float(plain))


def of_limits(found: Mapping[str, Any]) -> Bound | None:
    """Reads the limits of a figure from `summary.json`; None if its class has no flows."""
    if found["low"] is None:
        return None
    limits = (found["high"], found["until"])
    high, end = (math.inf if v is None else float(v) for v in limits)
    return Bound(float(found["low"]), high, float(found["from"] or 0.0), end)


def mean(found: Sequence[Bound | None]) -> Bound | None:
    """Returns the mean over the runs that have the figure; without an upper limit if one run has
    none.

    >>> mean([Bound(1.0, 1.0), Bound(2.0, math.inf), None])
    Bound(low=1.5, high=inf, start=0.0, end=inf)
    """
    known = [b for b in found if b is not None]
    if not known:
        return None
    n = len(known)
    return Bound(sum(b.low for b in known) / n, sum(b.high for b in known) / n)


def interval(summaries: Sequence[Mapping[str, Any]], path: str) -> Interval | None:
    """Returns the mean of a figure of flows over runs, or its lower bound, with its interval."""
    found = [bound(s, path) for s in summaries]
    return over_runs(None if b is None else b.low for b in found)


def is_of_flows(path: str) -> bool:
    """Whether the figure at a dotted path describes flows, some of which may be unfinished."""
    return path.startswith(_OF_FLOWS)


def any_open(summaries: Mapping[str, Mapping[str, Any]], paths: tuple[str, ...]) -> bool:
    """Whether any of these figures is shown as a bound."""
    found = (bound(s, path) for s in summaries.values() for path in paths)
    return any(b is not None and not b.exact for b in found)


def floored(value: float) -> float:
    """Rounds down to three significant digits.

    >>> floored(12.16)
    12.1
    """
    if not math.isfinite(value) or value == 0:
        return value
    places = DIGITS - 1 - math.floor(math.log10(abs(value)))
    # A figure of three digits must not change by the error of binary fractions.
    return round(math.floor(round(value * 10.0**places, 6)) / 10.0**places, max(places, 0) + 3)


def shown(value: float) -> str:
    """Returns the digits that are shown of a figure."""
    return f"{value:.{DIGITS}g}"


def _at(summary: Mapping[str, Any], path: str) -> Any:
    value: Any = summary
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
