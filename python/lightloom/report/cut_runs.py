"""The runs of a comparison that ended before their flows did, if no verdict states them."""

from __future__ import annotations

from lightloom.analysis import cuts
from lightloom.analysis.model import Workload


def of_fabrics(workload: Workload) -> list[str]:
    """The fabrics whose own runs were cut."""
    return [
        f"{fabric.label}: {said}"
        for fabric in workload.fabrics
        if (said := cuts.note(one.summary for one in fabric.each)) is not None
    ]


def of_loads(workload: Workload) -> list[str]:
    """The points of `compare.loads` that were cut."""
    places = {
        f"{fabric.label} at load {point.load:g}": [
            {"cut": one.cut} for one in point.seeds or (point,)
        ]
        for fabric in workload.fabrics
        for point in fabric.sweep
    }
    return [as_sentence(str(note)) for note in cuts.of_places(places, *cuts.LOADS)]


def as_sentence(line: str) -> str:
    """Capitalises a note of the terminal to a sentence."""
    return line[:1].upper() + line[1:]
