"""The two flattened butterflies between which that of the paper may have been: with plain routers,
and with strong ones.

The paper does not describe their routers, so a claim about one is measured with both presets, and
decided only if they agree. `band` is the range between their results, including intervals; a claim
that this range does not decide stays undecided, with any number of seeds.
"""

from collections.abc import Callable
from math import inf, isfinite

from lightloom.validation import Estimate

BUTTERFLIES = ("butterfly-basic", "butterfly-fast")


def band(measure: Callable[[str], Estimate]) -> Estimate:
    """The range from the lowest to the highest value that `measure` returns for either."""
    ends = [measure(butterfly) for butterfly in BUTTERFLIES]
    if not all(isfinite(e.half_width) for e in ends):
        # For a run without an interval only its value is known.
        values = [e.value for e in ends]
        return Estimate((min(values) + max(values)) / 2, inf)
    low = min(e.value - e.half_width for e in ends)
    high = max(e.value + e.half_width for e in ends)
    return Estimate((low + high) / 2, (high - low) / 2)
