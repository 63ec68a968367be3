"""The figure of closed-loop jobs, as data."""

from __future__ import annotations

import numpy as np

from .model import Fabric, Workload
from .spec import Figure, Panel, Series, axis, things

JOBS_MAX = 16


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
