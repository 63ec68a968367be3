"""An answer to each question, computed from the data with its uncertainty, as statements whose
sentences are in `analysis.answers`.

A verdict names the leading fabric only if the numbers permit it (see `ranking`); its notes list the
doubts. A fabric that left many flows unfinished is not called fast because of the few that it
finished.

| module | |
|---|---|
| `first` | the first verdict of a report |
| `decided` | the measure that decides it: jobs, the load carried, or the first measure |
| `margins` | the leading fabric by a measure, and its lead |
| `elsewhere` | measures by which another fabric is ahead |
| `overturned` | conditions that would overturn it, and the run that would decide |
| `criteria`, `each_flow` | the measures, in their order; comparison flow by flow |
| `jobs`, `latency`, `load`, `traffic`, `network` | the sections of the report, one question each |
| `answer` | the parts of an answer |
"""

from __future__ import annotations

from ..model import Workload
from .answer import Evidence, Verdict
from .criteria import first_in_each
from .first import First, all_first, joint
from .jobs import circuits, jobs
from .latency import short_flows, source
from .load import latency_at_load, saturation
from .network import arrival, links, memory
from .traffic import most_traffic, oversubscription

__all__ = ["Evidence", "First", "Verdict", "all_first", "joint", "source", "verdicts"]


def verdicts(workload: Workload) -> list[Verdict]:
    """The answers that the data allow, in the order a reader asks."""
    fabrics = workload.fabrics
    # A workload of jobs lacks some figures; the questions about them are omitted.
    with_jobs = any(f.jobs for f in fabrics)
    without_short = with_jobs and all(f.short_fct.size == 0 for f in fabrics)
    # A window describes latency and throughput better than the whole run.
    traffic = (
        (short_in_window(workload), latency_at_load(workload), saturation(workload))
        if workload.measured
        else (
            None if without_short else short_flows(fabrics, first_in_each(workload)),
            most_traffic(workload),
        )
    )
    made = (
        jobs(fabrics),
        circuits(workload),
        *traffic,
        oversubscription(workload),
        memory(fabrics),
        links(fabrics),
        None if workload.measured else arrival(fabrics),
    )
    return [v for v in made if v is not None]


def short_in_window(workload: Workload) -> Verdict | None:
    """The answer for short flows, for a window with longer flows as well."""
    mixed = any(f.short_count for f in workload.fabrics)
    return short_flows(workload.fabrics) if mixed else None
