"""A result, or a repeated result, as a comparison of one fabric, which the report can show."""

from __future__ import annotations

from lightloom.analysis.model import Workload
from lightloom.analysis.reading import slots, workload
from lightloom.results.result import Comparison, Repeated, Result

Runs = Result | Repeated | Comparison


def compared(runs: Runs) -> Comparison:
    """Returns a comparison unchanged, and a result as a comparison of one fabric."""
    if isinstance(runs, Comparison):
        return runs
    if isinstance(runs, Repeated):
        return Comparison.of_seeds([compared(result) for result in runs.results])
    name = runs.experiment.get("name", runs.label)
    return Comparison(name, runs.experiment, {runs.label: runs})


def workload_of(runs: Runs) -> Workload:
    """Returns its columns in base units: seconds, bytes, fractions."""
    comparison = compared(runs)
    return workload(comparison, slots([comparison]))
