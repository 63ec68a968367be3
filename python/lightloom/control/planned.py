"""A schedule that somebody planned, read back from its file for another demand.

Nodes are found by name where both the plan and the demand name them, so that neither
order matters; otherwise by number.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lightloom import _core
from lightloom.control.files import Demand
from lightloom.control.schedules import Schedule
from lightloom.errors import refusal


def read_schedule(path: Path, demand: Demand) -> Schedule:
    """The schedule of a plan in a file, for the nodes of a demand.

    Raises:
        ConfigError: of `schedule`: a file that holds none, or one for other nodes.
    """
    names, slots = _core.control_read_plan(str(path))
    schedule, nodes = Schedule(*slots), len(demand.matrix)
    if names and demand.names:
        return _by_name(path, schedule, names, demand.names)
    if schedule.ports != nodes:
        limit = f"a schedule for {schedule.ports} nodes, where the demand has {nodes}"
        raise refusal("schedule", path, limit, "plan anew for this demand")
    return schedule


def as_table(schedule: Schedule) -> dict[str, Any]:
    """The schedule as the policy `fixed` takes it."""
    slots = zip(schedule.permutations.tolist(), schedule.days_ps.tolist(), strict=True)
    return {
        "ports": schedule.ports,
        "night_ps": schedule.night_ps,
        "slots": [{"permutation": outputs, "day_ps": day} for outputs, day in slots],
    }


def _by_name(path: Path, schedule: Schedule, names: list[str], wanted: list[str]) -> Schedule:
    """The same circuits between the same names, in another order."""
    if sorted(names) != sorted(wanted) or len({*names}) < len(names):
        others = sorted({*names} ^ {*wanted}) or names
        limit = f"a schedule for other nodes than the demand's ({others[0]!r} is in one only)"
        raise refusal("schedule", path, limit, "plan anew for this demand")
    old = {name: at for at, name in enumerate(names)}
    new = np.argsort([old[name] for name in wanted])  # the new number of each old node
    permutations = np.empty_like(schedule.permutations)
    permutations[:, new] = new[schedule.permutations]
    return Schedule(permutations, schedule.days_ps, schedule.night_ps)
