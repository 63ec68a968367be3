"""The tables of a plan: what its circuits or slots are, and the demand that they are for.

`circuits`, a row each: `a` and `b` (nodes; the source first, if it is `directed`), their
names, `plane` (0 where there is one), `bytes` (`CircuitTable.carried`). `slots`, a row for
each circuit of each: `slot`, `start_ps` (of its night, if it has one), `day_ps`, `src` and
`dst` with their names, `bytes` (carried in it). `demand`, a row for each pair that has some:
`src` and `dst` with their names, `bytes`. A node without a name is called by its number.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from lightloom.control.arrays import Integers

if TYPE_CHECKING:
    from lightloom.control.plans import CircuitTable, Plan
    from lightloom.control.schedules import Schedule
    from lightloom.results.views import Tables


def tables(plan: Plan) -> Tables:
    """Its circuits or its slots, and its demand."""
    made: dict[str, Callable[[], pa.Table]] = {}
    if plan.circuits is not None:
        made["circuits"] = partial(circuits, plan, plan.circuits)
    if plan.schedule is not None:
        made["slots"] = partial(slots, plan, plan.schedule)
    return {**made, "demand": partial(demand, plan)}


def circuits(plan: Plan, table: CircuitTable) -> pa.Table:
    """Circuits that stay, a row each."""
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
    """Circuits that take turns, a row for each that is lit in a slot."""
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
    """What was planned for, a row for each pair that has some."""
    src, dst = np.nonzero(plan.demand.matrix)
    found = plan.demand.matrix[src, dst]
    return pa.table({**_nodes(plan, ("src", src), ("dst", dst)), "bytes": _bytes(found)})


def _nodes(plan: Plan, *ends: tuple[str, Integers]) -> dict[str, pa.Array]:
    """Nodes by number, and by name."""
    names = plan.demand.names or [str(node) for node in range(len(plan.demand.matrix))]
    numbers = {key: pa.array(nodes.astype(np.uint32)) for key, nodes in ends}
    called = {
        f"{key}_name": pa.array([names[n] for n in nodes], pa.string()) for key, nodes in ends
    }
    return numbers | called


def _bytes(values: Integers) -> pa.Array:
    return pa.array(values.astype(np.uint64))
