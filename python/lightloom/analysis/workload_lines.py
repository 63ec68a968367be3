"""Describes the workload of a run, or of several seeds, in one line."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.config import loads
from lightloom.results import repeats
from lightloom.results.summaries import Summary
from lightloom.units.counts import counted
from lightloom.units.formats import size


def of_run(summary: Summary, flows: int, asked: float | None) -> str:
    """Describes the workload with its number of flows, which is the same for every fabric of a
    comparison, and the requested load."""
    mean, load = summary["mean_flow_bytes_offered"], loads.workload(summary, asked)
    large = "without a size" if mean is None else f"of {size(mean)} on average"
    return f"{counted(flows, 'flow')} {large}, {load}, seed {summary['seed']}"


def of_seeds(seeds: Sequence[Summary], flows: int, asked: float | None) -> str:
    """Describes the workload with its number of flows, which is the mean over several seeds."""
    if len(seeds) == 1:
        return of_run(seeds[0], flows, asked)
    mean = repeats.means([dict(summary) for summary in seeds])
    alone = of_run(mean, flows, asked).rpartition(", seed ")[0]
    numbers = [summary["seed"] for summary in seeds]
    return f"{alone}, seeds {numbers[0]} to {numbers[-1]}"
