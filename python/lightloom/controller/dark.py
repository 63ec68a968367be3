"""The dark time of a switch's circuits during a change."""

from __future__ import annotations

from lightloom.controller.managed import Managed
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import Transaction

LOOKED_AT = 20
"""The latest changes among which one with a measured dark time is searched [count]."""


def dark_s(store: Store, one: Managed) -> float | None:
    """The dark time of a change [s]: the value of the configuration, otherwise the value that the
    switch reports, otherwise the time of its last change; None if none of these is known."""
    if one.settle_s is not None:
        return one.settle_s
    if one.description is not None and one.description.settle_ps is not None:
        return one.description.settle_ps / 1e12
    last = store.transactions(one.name, ["done"], limit=LOOKED_AT)
    return next((took for done in last if (took := _measured_s(done)) is not None), None)


def _measured_s(done: Transaction) -> float | None:
    """The time from the first command of a change until all its circuits had settled.

    None if it has no new circuits; if another controller finished it, because the time in between
    is unknown; or if the clock was set back meanwhile.
    """
    begun = [(step["state"], step["at"]) for step in done.steps]
    states = [state for state, _ in begun]
    if not done.pairs("added") or states.count("changing") != 1 or "verifying" not in states:
        return None
    took = float(dict(reversed(begun))["verifying"] - dict(begun)["changing"])
    return took if took >= 0 else None
