"""The unit in which a figure is shown; terminals, pages and plots use the same rule.

Units of data are decimal (1 KB = 1,000 B). The number of digits, the spaces and the dashes are
chosen by the module that formats the figure."""

from __future__ import annotations

from collections.abc import Sequence

Step = tuple[str, float]
"""A unit's name, and its size in the base unit of the quantity."""

TIMES: tuple[Step, ...] = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9), ("ps", 1e-12))
BYTES: tuple[Step, ...] = (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3), ("B", 1.0))
RATES: tuple[Step, ...] = (
    ("Tb/s", 1e12),
    ("Gb/s", 1e9),
    ("Mb/s", 1e6),
    ("kb/s", 1e3),
    ("b/s", 1.0),
)
COUNTS: tuple[Step, ...] = (("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))

ROUNDED_UP = 0.9995
"""Share of a unit from which three digits of the next smaller unit would round up to 1000."""


def step_for(value: float, steps: Sequence[Step]) -> Step:
    """Returns the largest unit that is not larger than the value, or else the smallest unit.

    >>> step_for(0.0125, TIMES), step_for(999.6e-6, TIMES), step_for(0, BYTES)
    (('ms', 0.001), ('ms', 0.001), ('B', 1.0))
    """
    enough = (step for step in steps if abs(value) >= ROUNDED_UP * step[1])
    return next(enough, steps[-1])
