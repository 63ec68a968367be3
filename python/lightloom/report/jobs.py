"""The figures of closed-loop jobs and of circuits, as data."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .model import Circuits, Fabric, Workload
from .spec import Figure, Floats, Panel, Series, axis, things

JOBS_MAX = 16
ROWS_MAX = 16  # pairs of racks in a timeline: those lit longest
BARS_MAX = 400  # circuits in a timeline: the first ones


def job_times(workload: Workload) -> Figure | None:
    """How long each job takes on each fabric."""
    names = list(dict.fromkeys(name for f in workload.fabrics for name in f.jobs))[:JOBS_MAX]
    series = [s for f in workload.fabrics if (s := job_dots(f, names)).x.size]
    if not series:
        return None
    x = axis("time from beginning to end", "time", "linear", series, "x")
    panel = Panel("Jobs", x, things("job", names), tuple(series))
    return Figure(
        "jobs",
        "How long jobs take",
        "From a job's beginning to its last delivery, computing included. A job that a fabric did "
        "not finish has no mark.",
        (panel,),
    )


def job_dots(fabric: Fabric, names: list[str]) -> Series:
    """A mark for each job that finished."""
    known = [(t, i) for i, name in enumerate(names) if (t := fabric.jobs.get(name)) is not None]
    x, y = np.array([t for t, _ in known]), np.array([float(i) for _, i in known])
    return Series(fabric.label, x, y, fabric.slot, points=True, drawn="dots")


def circuit_timelines(workload: Workload) -> tuple[Figure, ...]:
    """Who was connected to whom: two fabrics a figure."""
    panels = [p for f in workload.fabrics if (p := timeline(f)) is not None]
    pairs = [tuple(panels[i : i + 2]) for i in range(0, len(panels), 2)]
    return tuple(
        Figure(
            "circuits" if i == 0 else f"circuits-{i + 1}",
            "Who was connected to whom",
            "Each bar is a circuit between two racks from when it was lit until it went dark; "
            "between bars the pair has the electrical network only. "
            f"At most the {ROWS_MAX} pairs lit longest and the first {BARS_MAX} circuits are "
            "drawn; circuits.parquet has all.",
            shown,
        )
        for i, shown in enumerate(pairs)
    )


def timeline(fabric: Fabric) -> Panel | None:
    """One fabric's circuits over time, a row per pair of racks."""
    if fabric.circuits is None or not fabric.circuits.pairs:
        return None
    rows = busiest(fabric.circuits)
    series = (bars(fabric, fabric.circuits, rows),)
    x = axis("time", "time", "linear", series, "x")
    names = [f"{a}\u2013{b}" for a, b in rows]
    return Panel(fabric.label, x, things("racks", names), series)


def busiest(circuits: Circuits) -> list[tuple[int, int]]:
    """The pairs that were lit longest, in order of their racks."""
    lit: Counter[tuple[int, int]] = Counter()
    for pair, time in zip(circuits.pairs, circuits.end - circuits.start, strict=True):
        lit[pair] += time
    return sorted(pair for pair, _ in lit.most_common(ROWS_MAX))


def bars(fabric: Fabric, circuits: Circuits, rows: list[tuple[int, int]]) -> Series:
    """The first circuits between the pairs drawn."""
    place = {pair: float(i) for i, pair in enumerate(rows)}
    order = np.argsort(circuits.start, kind="stable")
    shown = [i for i in order if circuits.pairs[i] in place][:BARS_MAX]
    x: Floats = np.full(3 * len(shown), np.nan)
    y: Floats = np.full(3 * len(shown), np.nan)
    x[0::3], x[1::3] = circuits.start[shown], circuits.end[shown]
    y[0::3] = y[1::3] = [place[circuits.pairs[i]] for i in shown]
    return Series(fabric.label, x, y, fabric.slot, drawn="bars")
