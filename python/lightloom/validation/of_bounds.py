"""Figures that are computed from bounds.

If flows were unfinished when a run ended, only a lower limit of their completion times is known.
Figures that are computed from such a limit are marked through all arithmetic, so that a claim that
depends on one can state it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lightloom.results.summaries import pick
from lightloom.units import bounds


class OfBounds(float):
    """A figure that depends on a bound. Results of arithmetic with it have this type, too.

    >>> type(100 * (1 - OfBounds(0.75)) / 2).__name__, 100 * (1 - OfBounds(0.75))
    ('OfBounds', 25.0)
    """


def _marked(name: str) -> Callable[..., Any]:
    plain = getattr(float, name)

    def operation(self: float, *other: float) -> Any:
        found = plain(self, *other)
        return found if found is NotImplemented else OfBounds(found)

    return operation


for _of_two in ("add", "sub", "mul", "truediv", "pow"):
    for _name in (f"__{_of_two}__", f"__r{_of_two}__"):
        setattr(OfBounds, _name, _marked(_name))
for _of_one in ("__neg__", "__pos__", "__abs__"):
    setattr(OfBounds, _of_one, _marked(_of_one))


def marked_as(given: Iterable[float], found: float) -> float:
    """Returns `found`, marked if one of the figures that it was computed from is.

    >>> type(marked_as([1.0, OfBounds(3.0)], 2.0)).__name__
    'OfBounds'
    """
    return OfBounds(found) if any(isinstance(value, OfBounds) for value in given) else found


def figure(summary: Mapping[str, Any], path: str) -> Any:
    """Returns the value at a dotted path of a summary. A figure of flows is that of all flows
    offered; if only its lower limit is known, the limit, marked."""
    if not bounds.is_of_flows(path):
        return pick(summary, path)
    found = bounds.bound(summary, path)
    if found is None:
        return None
    return found.low if found.exact else OfBounds(found.low)
