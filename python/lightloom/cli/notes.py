"""What is said beside the figures of a run: what weakens them, and what had no effect."""

from __future__ import annotations

from collections.abc import Iterator

from lightloom import circuits
from lightloom.console import Summary, seconds
from lightloom.results import Result


def of(result: Result) -> Iterator[str]:
    """What to know of one run before its figures are judged."""
    yield from circuits.notes(result)
    yield from late_faults(result.summary)


def late_faults(summary: Summary) -> Iterator[str]:
    """Says that failures or repairs were due after the end."""
    late = summary.get("faults_after_end") or 0
    if late:
        what = "a failure or repair was" if late == 1 else f"{late} failures or repairs were"
        end = seconds(summary["simulated_s"])
        yield (
            f"{what} due after the run ended at {end}, without effect: let it come earlier "
            "(fault.at, fault.repair_at), or the run end later (run.stop)"
        )
