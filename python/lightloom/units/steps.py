"""In which unit a figure reads best: the same rule on terminals, pages and pictures.

Data is decimal (1 KB = 1,000 B). How many digits are shown, and with which spaces and dashes,
is for who shows them.
"""

from __future__ import annotations

from collections.abc import Sequence

Step = tuple[str, float]
"""A unit, and its size in the base unit of the quantity."""

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
"""Of a unit: from here on, three digits of the unit below would say 1000."""


def step_for(value: float, steps: Sequence[Step]) -> Step:
    """The largest unit of which the value has one, else the smallest that there is.

    >>> step_for(0.0125, TIMES), step_for(999.6e-6, TIMES), step_for(0, BYTES)
    (('ms', 0.001), ('ms', 0.001), ('B', 1.0))
    """
    enough = (step for step in steps if abs(value) >= ROUNDED_UP * step[1])
    return next(enough, steps[-1])
