"""What is said beside the figures of a run: what weakens them, and what had no effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lightloom import _core, circuits
from lightloom.console import seconds
from lightloom.results import Result

EVENTS_SHOWN = 4


def of(result: Result) -> Iterator[str]:
    """What to know of one run before its figures are judged."""
    yield from circuits.notes(result)
    yield from late_faults(result)


def late_faults(result: Result) -> Iterator[str]:
    """Says which failures and repairs were due after the end."""
    late = result.summary.get("faults_after_end") or 0
    if late:
        end_s = result.summary["simulated_s"]
        faults = result.experiment.get("fault", [])
        what = "a failure or repair was" if late == 1 else f"{late} failures or repairs were"
        it = "it" if late == 1 else "them"
        yield (
            f"{what} due after the run ended at {seconds(end_s)}, without effect: "
            f"{_listed(list(events_after(faults, round(end_s * 1e12))))}; let {it} come earlier "
            "(fault.at, fault.repair_at), or the run end later (run.stop)"
        )


def events_after(faults: list[Mapping[str, Any]], end_ps: int) -> Iterator[str]:
    """The failures and repairs that are due after a time, as they are in the file."""
    for fault in faults:
        for key, happens in (("at", "fails"), ("repair_at", "is repaired")):
            time = fault.get(key)
            if time is not None and _core.control_time(f"fault.{key}", time) > end_ps:
                yield f"{part(fault)} {happens} at {time}"


def part(fault: Mapping[str, Any]) -> str:
    """The part that fails."""
    element, node, plane = str(fault["element"]), fault.get("node"), fault.get("plane")
    if element == "transceiver":
        return f"uplink {fault.get('uplink')} of node {node}"
    if element == "optical-port":
        on = "" if plane is None else f" on plane {plane}"
        return f"the optical port of node {node}{on}"
    number = fault.get(element)
    return f"the {element}" if number is None else f"{element} {number}"


def _listed(events: list[str]) -> str:
    """The first of them."""
    more = len(events) - EVENTS_SHOWN
    return ", ".join(events[:EVENTS_SHOWN]) + (f" and {more} more" if more > 0 else "")
