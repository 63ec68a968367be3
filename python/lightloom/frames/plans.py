"""The tables of a plan: its circuits or slots, and its demand.

`circuits` has one row for each circuit: `a` and `b` (nodes; the source first if the plan is
`directed`), their names, `plane` (0 if there is only one), `bytes` (`CircuitTable.carried`).
`slots` has one row for each circuit of each slot: `slot`, `start_ps` (of its night if it has one),
`day_ps`, `src` and `dst` with their names, `bytes` (carried in the slot). `demand` has one row for
each pair with demand: `src` and `dst` with their names, `bytes`. The name of a node without a name
is its number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lightloom.control.arrays import Integers

if TYPE_CHECKING:
    from lightloom.control.circuit_table import CircuitTable
    from lightloom.control.plans import Plan
    from lightloom.control.schedules import Schedule
    from lightloom.results.views import Tables


def tables(plan: Plan) -> Tables:
    """The tables of circuits or slots, and of the demand."""
    made: dict[str, Callable[[], pa.Table]] = {}
    if plan.circuits is not None:
        made["circuits"] = partial(circuits, plan, plan.circuits)
    if plan.schedule is not None:
        made["slots"] = partial(slots, plan, plan.schedule)
    return {**made, "demand": partial(demand, plan)}


def circuits(plan: Plan, table: CircuitTable) -> pa.Table:
    """The circuits of a plan without slots, one row for each."""
    plane = np.zeros(len(table), np.int64) if table.plane is None else table.plane
    return pa.table(
        {
            **_nodes(plan, ("a", table.a), ("b", table.b)),
            "directed": np.full(len(table), table.directed),
            "plane": pa.array(plane.astype(np.uint16)),
            "bytes": _bytes(table.carried),
        }
    )


def slots(plan: Plan, schedule: Schedule) -> pa.Table:
    """The circuits of a schedule, one row for each circuit of each slot."""
    slot, src = np.nonzero(schedule.permutations != np.arange(schedule.ports))
    return pa.table(
        {
            "slot": pa.array(slot.astype(np.uint32)),
            "start_ps": pa.array(schedule.starts_ps[slot].astype(np.int64)),
            "day_ps": pa.array(schedule.days_ps[slot].astype(np.int64)),
            **_nodes(plan, ("src", src), ("dst", schedule.permutations[slot, src])),
            "bytes": _bytes(plan.details["carried"][slot, src]),
        }
    )


def demand(plan: Plan) -> pa.Table:
    """The demand of a plan, one row for each pair with demand."""
    src, dst = np.nonzero(plan.demand.matrix)
    found = plan.demand.matrix[src, dst]
    return pa.table({**_nodes(plan, ("src", src), ("dst", dst)), "bytes": _bytes(found)})


def _nodes(plan: Plan, *ends: tuple[str, Integers]) -> dict[str, pa.Array]:
    """The columns of nodes by number and by name."""
    names = plan.demand.names or [str(node) for node in range(len(plan.demand.matrix))]
    numbers = {key: pa.array(nodes.astype(np.uint32)) for key, nodes in ends}
    called = {
        f"{key}_name": pa.array([names[n] for n in nodes], pa.string()) for key, nodes in ends
    }
    return numbers | called


def _bytes(values: Integers) -> pa.Array:
    return pa.array(values.astype(np.uint64))
