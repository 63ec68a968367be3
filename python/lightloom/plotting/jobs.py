"""The figure of closed-loop jobs, as data."""

from __future__ import annotations

import numpy as np

from lightloom.analysis.model import Fabric, Workload

from .spec import Figure, Panel, Series, axis, things

JOBS_MAX = 16


def job_times(workload: Workload) -> Figure | None:
    """The duration of each job on each fabric."""
    names = list(dict.fromkeys(name for f in workload.fabrics for name in f.jobs))[:JOBS_MAX]
    series = [s for f in workload.fabrics if (s := job_dots(f, names)).x.size]
    if not series:
        return None
    spans = [s for f in workload.fabrics if (s := job_intervals(f, names)).x.size]
    x = axis("time from beginning to end", "time", "linear", [*series, *spans], "x")
    panel = Panel("Jobs", x, things("job", names), (*spans, *series))
    return Figure(
        "jobs",
        "How long jobs take",
        "From a job's beginning to its last delivery, computing included. A job that a fabric did "
        "not finish has no mark.",
        (panel,),
    )


def job_intervals(fabric: Fabric, names: list[str]) -> Series:
    """A line along the interval of each job's duration over several seeds."""
    lines: list[tuple[float, float]] = []
    for i, name in enumerate(names) if fabric.seeds else ():
        found = fabric.over_seeds(lambda f, name=name: f.jobs.get(name))  # type: ignore[misc]
        if found is not None and found.half_width is not None:
            lines += [(max(found.low, 0.0), i), (found.high, i), (np.nan, np.nan)]
    places = np.array(lines).reshape(-1, 2)
    return Series(fabric.label, places[:, 0], places[:, 1], fabric.slot, drawn="rule")


def job_dots(fabric: Fabric, names: list[str]) -> Series:
    """A mark for each job that finished."""
    known = [(t, i) for i, name in enumerate(names) if (t := fabric.jobs.get(name)) is not None]
    x, y = np.array([t for t, _ in known]), np.array([float(i) for _, i in known])
    return Series(fabric.label, x, y, fabric.slot, points=True, drawn="dots")
