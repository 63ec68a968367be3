"""Stuck transactions, until a later one is done."""

from __future__ import annotations

from lightloom.controller.store import Store, Transaction
from lightloom.switches.ports import Pair

MOST = 100
"""So many are looked at."""


def stuck(store: Store, switch: str) -> list[Transaction]:
    """The stuck transactions of a switch since the last that is done, newest first."""
    found = []
    for one in store.transactions(switch, ["done", "stuck"], limit=MOST):
        if one.state == "done":
            break
        found.append(one)
    return found


def touched(transactions: list[Transaction]) -> set[Pair]:
    """The cross-connects that some transactions removed or added: traffic may be kept away from
    those that are lit."""
    return {
        pair for one in transactions for name in ("removed", "added") for pair in one.pairs(name)
    }
