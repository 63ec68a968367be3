"""Reads a planned schedule from a file for another demand.

Nodes are matched by name, so that their order does not matter; `same_nodes` states the rule.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lightloom import _core
from lightloom.control.files import Demand
from lightloom.control.same_nodes import by_name, rearranged
from lightloom.control.schedules import Schedule
from lightloom.errors import refusal


def read_schedule(path: Path, demand: Demand, *, counted: bool = False) -> Schedule:
    """Returns the schedule of a plan in a file, for the nodes of a demand.

    Args:
        counted: whether the demand comes from a run, in which racks are numbers.

    Raises:
        ConfigError: if the file of `schedule` contains none, or one for other nodes.
    """
    names, slots = _core.control_read_plan(str(path))
    schedule, nodes = Schedule(*slots), len(demand.matrix)
    if not (names and demand.names) and schedule.ports != nodes:
        limit = f"a schedule for {schedule.ports} nodes, where the demand has {nodes}"
        raise refusal("schedule", path, limit, "plan anew for this demand")
    if by_name("schedule", path, names, schedule.ports, demand, counted=counted):
        return rearranged("schedule", path, schedule, names, demand.names)
    return schedule


def as_table(schedule: Schedule) -> dict[str, Any]:
    """Returns the schedule in the form that the policy `fixed` takes."""
    slots = zip(schedule.permutations.tolist(), schedule.days_ps.tolist(), strict=True)
    return {
        "ports": schedule.ports,
        "night_ps": schedule.night_ps,
        "slots": [{"permutation": outputs, "day_ps": day} for outputs, day in slots],
    }
