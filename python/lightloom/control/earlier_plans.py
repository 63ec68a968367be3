"""The circuits or the schedule of a plan, for the nodes of another demand.

Nodes are matched by name, so that their order does not matter; `same_nodes` states the rule.
"""

from __future__ import annotations

from lightloom.control.files import Demand
from lightloom.control.plans import Plan
from lightloom.control.same_nodes import by_name, rearranged
from lightloom.control.schedules import Schedule
from lightloom.errors import refusal


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
