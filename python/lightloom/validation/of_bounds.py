"""Figures worked out of bounds.

A completion time among flows that had not all arrived when a run ended is known to be no less
than something. What is worked out of it is marked, through all arithmetic, so that a claim that
rests on it can say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from lightloom.results.summaries import pick
from lightloom.units import bounds


class OfBounds(float):
    """A figure worked out of a bound; so is what is worked out of it.

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
    """What was found of several figures, marked if one of them is.

    >>> type(marked_as([1.0, OfBounds(3.0)], 2.0)).__name__
    'OfBounds'
    """
    return OfBounds(found) if any(isinstance(value, OfBounds) for value in given) else found


def figure(summary: Mapping[str, Any], path: str) -> Any:
    """What stands at a dotted path of a summary. A figure of flows is that of all that were
    offered: where that is but a bound, what it is no less than, marked."""
    if not bounds.is_of_flows(path):
        return pick(summary, path)
    found = bounds.bound(summary, path)
    if found is None:
        return None
    return found.low if found.exact else OfBounds(found.low)
