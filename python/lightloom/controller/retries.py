"""When a change that failed is tried again."""

from __future__ import annotations

from lightloom.controller.change import Change
from lightloom.controller.store import Store
from lightloom.controller.transaction_log import Transaction

LOOKED_AT = 50
"""So many transactions of each outcome are looked at."""
LONGEST_PAUSE_S = 600.0
"""The longest pause before a failed change is tried again."""


class Failures:
    """The changes of a switch that failed."""

    def __init__(self, store: Store, switch: str, now: float, interval_s: float) -> None:
        """Reads them from the store.

        Args:
            store: of the transactions.
            switch: its name.
            now: seconds since 1970.
            interval_s: the pause after the first failure is twice as long.
        """
        self._now, self._interval_s = now, interval_s
        undone = store.transactions(switch, ["undone"], limit=LOOKED_AT)
        self._undone = undone if undone and self._is_recent(undone[0]) else []
        self._stuck = store.stuck(switch)
        self._done = store.transactions(switch, ["done"], limit=LOOKED_AT) if self._undone else []

    def _is_recent(self, one: Transaction) -> bool:
        return self._now < one.updated + LONGEST_PAUSE_S

    @property
    def are_none(self) -> bool:
        """Whether there is none that counts."""
        return not self._undone and not self._stuck

    def hold_up(self, change: Change) -> bool:
        """Whether a change is not to be tried yet: each failure since some of it was made doubles
        the pause, as every attempt drains traffic; a stuck one waits for an operator."""
        if change.is_empty:
            return False
        if any(_is_same(one, change) for one in self._stuck):
            return True
        if not (failed := self.of(change)):
            return False
        pause_s = min(LONGEST_PAUSE_S, self._interval_s * 2.0 ** len(failed))
        return self._now < max(one.updated for one in failed) + pause_s

    def of(self, change: Change) -> list[Transaction]:
        """The failures of a change since some of it was made, newest first."""
        added = {*change.added}
        made = max((one.id for one in self._done if added & {*one.pairs("added")}), default=0)
        return [one for one in self._undone if one.id > made and _is_same(one, change)]

    def suspect(self, change: Change) -> bool:
        """Whether all that a change adds was in one that failed: it is not known whose fault it
        was."""
        added = {*change.added}
        return any(added <= {*one.pairs("added")} for one in [*self._undone, *self._stuck])


def _is_same(one: Transaction, change: Change) -> bool:
    return {*one.pairs("added")} == {*change.added} and {*one.pairs("removed")} == {*change.removed}
