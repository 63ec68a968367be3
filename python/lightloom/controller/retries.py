"""When a change that failed is tried again."""

from __future__ import annotations

from lightloom.controller.change import Change
from lightloom.controller.store import Store

LOOKED_AT = 50
"""So many transactions are looked at."""
LONGEST_PAUSE_S = 600.0
"""The longest pause before a failed change is tried again."""


def must_wait(store: Store, switch: str, change: Change, now: float, interval_s: float) -> bool:
    """Whether a change that failed before is not to be tried yet: each failure since the last
    change that was made doubles the pause, as every attempt drains traffic; a stuck one waits for
    an operator."""
    plan = change.plan([])
    failures, newest = 0, 0.0
    for last in store.transactions(switch, limit=LOOKED_AT):
        same = last.pairs("added") == plan["added"] and last.pairs("removed") == plan["removed"]
        if last.state == "stuck" and same:
            return True
        if last.state == "done":
            break
        if last.state == "undone" and same:
            failures += 1
            newest = max(newest, last.updated)
    if failures == 0:
        return False
    return now < newest + min(LONGEST_PAUSE_S, interval_s * 2.0**failures)
