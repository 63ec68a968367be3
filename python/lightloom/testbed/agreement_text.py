"""The metrics of a run beside those of its simulation, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lightloom.testbed.agreement import CIRCUIT_SHARE
from lightloom.units import formats


def value_text(row: Mapping[str, Any], of: str) -> str:
    """A metric, measured or simulated.

    >>> value_text({"metric": "circuit_share", "measured": 0.934}, "measured")
    '93.4 % by circuit'
    """
    if row["metric"] == CIRCUIT_SHARE:
        return f"{100 * row[of]:.1f} % by circuit"
    return formats.rate(row[of])


def difference_text(row: Mapping[str, Any]) -> str:
    """The difference of a metric, with half of its interval if runs were repeated.

    >>> difference_text({"difference": -0.07, "half_width": 0.02})
    '-7 ± 2 %'
    """
    half = row.get("half_width")
    return (
        f"{100 * row['difference']:+.0f}" + ("" if half is None else f" ± {100 * half:.0f}") + " %"
    )
