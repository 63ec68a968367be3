"""One sentence per question, computed from the data and hedged by it.

A verdict says who is ahead only where the numbers allow it (see `ranking`); its
notes say what weakens it. A fabric that left many flows unfinished is not
praised for the speed of the few it finished.
"""

from __future__ import annotations

from ..model import Workload
from .answer import Evidence, Verdict
from .jobs import circuits, jobs
from .latency import short_flows
from .network import arrival, links, memory
from .traffic import most_traffic, oversubscription

__all__ = ["Evidence", "Verdict", "verdicts"]


def verdicts(workload: Workload) -> list[Verdict]:
    """The answers that the data allow, in the order a reader asks."""
    made = (
        jobs(workload.fabrics),
        circuits(workload.fabrics),
        short_flows(workload.fabrics),
        most_traffic(workload),
        oversubscription(workload),
        memory(workload.fabrics),
        links(workload.fabrics),
        arrival(workload.fabrics),
    )
    return [v for v in made if v is not None]
