"""Notes on the traffic of a sweep's points: sizes without a finite variance, and loads that differ
from those requested. Fabrics at the same values of the grid have the same traffic, seeds have not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from lightloom.results.summaries import Summary
from lightloom.units.counts import counted

from . import notes

Table = Mapping[str, Any]
SHOWN = 3
"""The most points that a note names."""


def lines(runs: Iterable[tuple[str, Summary, Table]]) -> list[str]:
    """Notes on the traffic of many runs; each note appears once, with the points that it concerns.

    Args:
        runs: for each run the values of its point, such as `load = 0.5`; its summary; and its
            `[workload]`.
    """
    points: dict[str, list[tuple[Summary, Table]]] = {}
    for place, summary, workload in runs:
        points.setdefault(place, []).append((summary, workload))
    found: dict[str, list[str]] = {}
    off: dict[str, tuple[float, str]] = {}
    for place, at in points.items():
        summary, workload = at[0]
        for line in notes.of_sources(summary, workload):
            found.setdefault(str(line), []).append(place)
        drawn = [s["load_offered"] for s, _ in at if s.get("load_offered") is not None]
        if drawn and (said := notes.of_load(float(np.mean(drawn)), workload)) is not None:
            off[place] = (said[0], str(said[1]))
    shared = [line + _where(places, len(points)) for line, places in found.items()]
    return [*shared, *_of_loads(off, len(points))]


def _where(places: list[str], of: int) -> str:
    """The points as text; empty if all are concerned."""
    if len(places) == of:
        return ""
    more = len(places) - SHOWN
    named = "; ".join([*places[:SHOWN], *([f"{more:,} more"] if more > 0 else [])])
    return f" (at {named})"


def _of_loads(off: Mapping[str, tuple[float, str]], of: int) -> list[str]:
    """The point whose load differs most from the requested one, and the number of other points with
    a difference."""
    if not off:
        return []
    place, (_, line) = max(off.items(), key=lambda item: item[1][0])
    at = f"at {place} " if place else ""
    if len(off) == 1:
        return [f"{at}{line}"]
    first = (
        f"at {len(off):,} of {counted(of, 'point')} the actual offered load is not the requested"
    )
    return [f"{first} one; {at}{line}"]
