"""The two flattened butterflies that the paper's may have been between: of plain
routers, and of the strongest that one would build.

It says nothing of their routers, so a claim about one is measured against both presets,
and decided only where they agree: `band` is all that lies between what they give,
intervals included, and what that leaves open stays undecided, with however many seeds.
"""

from collections.abc import Callable
from math import inf, isfinite

from lightloom.validation import Estimate

BUTTERFLIES = ("butterfly-basic", "butterfly-fast")


def band(measure: Callable[[str], Estimate]) -> Estimate:
    """From the lowest to the highest that `measure` finds with either."""
    ends = [measure(butterfly) for butterfly in BUTTERFLIES]
    if not all(isfinite(e.half_width) for e in ends):
        # Of a run without an interval nothing is known but its value.
        values = [e.value for e in ends]
        return Estimate((min(values) + max(values)) / 2, inf)
    low = min(e.value - e.half_width for e in ends)
    high = max(e.value + e.half_width for e in ends)
    return Estimate((low + high) / 2, (high - low) / 2)
