"""The requests that a plan depends on.

If one of them ends before any circuit is dark, or if a lease of a circuit that the plan removes
begins, the change is not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lightloom.controller import schema
from lightloom.controller.leases import Lease, leases
from lightloom.controller.requests import Due
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import Transaction


def basis_of(due: Sequence[Due], leased: Sequence[Lease]) -> dict[str, Any]:
    """The deferred requests that a plan carries out, and the leases whose circuits it lights, in
    the form that a transaction stores."""
    return {
        "deferred": [request.deferred for request in due if request.deferred is not None],
        "leases": [lease.id for lease in leased],
    }


def begun_lease(made: Transaction, removed_for: Sequence[Lease]) -> str | None:
    """The first lease that has begun since a plan and requests a circuit that it removes, as a
    reason; None if there is none."""
    begun = [lease for lease in removed_for if lease.begins > made.created]
    return f"lease {begun[0].id} of {begun[0].owner} has begun" if begun else None


def ended_request(store: Store, made: Transaction, now: float) -> str | None:
    """The first request of a plan that has ended since, as a reason; None if there is none."""
    for number in made.plan.get("deferred", ()):
        outcome = store.rows(schema.deferred, id=number)[0]["outcome"]
        if outcome is not None:
            return f"the deferred request {number} was {outcome}"
    numbers = made.plan.get("leases", ())
    left = {lease.id for lease in leases(store, now, made.switch)} if numbers else set()
    for number in numbers:
        if number not in left:
            return f"lease {number} is over"
    return None
