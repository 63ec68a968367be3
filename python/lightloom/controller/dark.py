"""How long circuits of a switch are dark when they change."""

from __future__ import annotations

from lightloom.controller.managed import Managed
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import Transaction


def dark_s(store: Store, one: Managed) -> float | None:
    """The dark time of a change [s]: of the configuration, else as the switch reports it, else as
    its last change took; None if none of these is known."""
    if one.settle_s is not None:
        return one.settle_s
    if one.description is not None and one.description.settle_ps is not None:
        return one.description.settle_ps / 1e12
    last = store.transactions(one.name, ["done"], limit=1)
    return _measured_s(last[0]) if last else None


def _measured_s(done: Transaction) -> float | None:
    """From the first command of a change until all its circuits had settled."""
    begun = {step["state"]: step["at"] for step in reversed(done.steps)}
    if "changing" not in begun or "verifying" not in begun:
        return None
    return float(begun["verifying"] - begun["changing"])
