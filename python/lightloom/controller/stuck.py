"""The cross-connects of stuck transactions, until a later transaction is done."""

from __future__ import annotations

from lightloom.controller.transaction_log import Transaction
from lightloom.switches.ports import Pair


def touched(transactions: list[Transaction]) -> set[Pair]:
    """The cross-connects that some transactions removed or added.

    Traffic may be kept away from those of them that are lit.
    """
    return {
        pair for one in transactions for name in ("removed", "added") for pair in one.pairs(name)
    }
