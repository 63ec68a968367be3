"""Matches the nodes of a plan with those of a demand: by name, never by position.

| plan | demand | |
|---|---|---|
| has names | has names | by name |
| has numbers | has numbers | by number, if there are as many |
| has names | has numbers, or the reverse | an error |

In a run, racks are numbers; the numbers in a plan then count, whatever the names are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lightloom.control.schedules import Schedule
from lightloom.errors import ConfigError, refusal
from lightloom.units.counts import counted as in_words

if TYPE_CHECKING:
    from lightloom.control.files import Demand
    from lightloom.control.plans import Plan


def by_name(
    key: str,
    shown: object,
    names: Sequence[str],
    nodes: int | None,
    demand: Demand,
    *,
    counted: bool = False,
) -> bool:
    """Whether the nodes of a plan are matched by name; otherwise by number.

    Args:
        key: the key that an error names; `shown` is its value.
        names: the names of the plan's nodes, if it has names.
        nodes: the number of its nodes; None if it is not stated, as in a list of pairs.
        counted: whether the demand comes from a run, in which racks are numbers.

    Raises:
        ConfigError: if they cannot be matched, because only one of them has names, or their numbers
            differ.
    """
    if names and demand.names:
        return True
    if nodes not in (None, len(demand.matrix)):
        limit = f"a plan for {in_words(nodes, 'node')}, where the demand has {len(demand.matrix)}"
        raise refusal(key, shown, limit, "name the nodes of both demands, or plan anew")
    if names and not counted:
        remedy = "name the nodes of the demand, in a first line or column"
        limit = f"it names its nodes ({names[0]}, …), and the demand does not"
        raise refusal(key, shown, limit, remedy)
    if nodes is not None and demand.names:
        limit = "the plan numbers its nodes, but the demand names them"
        raise refusal(key, shown, limit, "create the plan again from a demand with names")
    return False


def circuits_of(
    key: str, plan: Plan, demand: Demand, *, on_planes: bool
) -> list[tuple[object, ...]]:
    """Returns the circuits of a plan by the names of their nodes, or by number; with their planes
    if `on_planes` and there are several.

    Raises:
        ConfigError: if the plan has no circuits, or has other nodes.
    """
    table, names = plan.circuits, plan.demand.names
    if table is None:
        limit = "a schedule without permanent circuits"
        remedy = "give a plan with permanent circuits"
        raise refusal(key, f"a plan of {plan.algorithm}", limit, remedy)
    named = by_name(key, f"a plan of {plan.algorithm}", names, len(plan.demand.matrix), demand)
    ends = zip(table.a.tolist(), table.b.tolist(), strict=True)
    rows = [(names[a], names[b]) if named else (a, b) for a, b in ends]
    if not on_planes or table.plane is None:
        return [*rows]
    return [(*row, plane) for row, plane in zip(rows, table.plane.tolist(), strict=True)]


def schedule_of(key: str, plan: Plan, demand: Demand) -> Schedule:
    """Returns the schedule of a plan, for the nodes of a demand.

    Raises:
        ConfigError: if the plan has no schedule, or has other nodes.
    """
    shown = f"a plan of {plan.algorithm}"
    if plan.schedule is None:
        limit = "permanent circuits, no schedule"
        raise refusal(key, shown, limit, "give a plan that has one")
    if by_name(key, shown, plan.demand.names, len(plan.demand.matrix), demand):
        return rearranged(key, shown, plan.schedule, plan.demand.names, demand.names)
    return plan.schedule


def rearranged(
    key: str, shown: object, schedule: Schedule, names: Sequence[str], wanted: Sequence[str]
) -> Schedule:
    """Returns the same circuits between the same names, for another order of names.

    Raises:
        ConfigError: if a name occurs twice, or in only one of the two lists.
    """
    if sorted(names) != sorted(wanted) or len({*names}) < len(names):
        others = sorted({*names} ^ {*wanted}) or names
        limit = f"a schedule for other nodes than the demand's ({others[0]!r} is in one only)"
        raise refusal(key, shown, limit, "plan anew for this demand")
    old = {name: at for at, name in enumerate(names)}
    new = np.argsort([old[name] for name in wanted])  # the new index of each old node
    permutations = np.empty_like(schedule.permutations)
    permutations[:, new] = new[schedule.permutations]
    return Schedule(permutations, schedule.days_ps, schedule.night_ps)


def of_file(path: object, problem: ConfigError) -> ConfigError:
    """Returns the error about a plan in a file in the form of errors about files."""
    return ConfigError(f"{path}: {problem.limit}; {problem.remedy}")
