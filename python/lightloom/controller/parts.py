"""The parts of a change, by the owners of the cross-connects that it adds: one that fails is tried
in parts, so that a cross-connect that cannot be lit holds up nobody else's. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from lightloom.controller.change import Change
from lightloom.switches.ports import Pair

Owner = str | None
"""An owner; None has the removals that no new cross-connect needs."""


class Parts:
    """A change, and who needs what of it."""

    def __init__(self, change: Change, chosen: Mapping[Pair, str]) -> None:
        """Takes the change apart.

        Args:
            change: the whole.
            chosen: the owner of each cross-connect to have.
        """
        self._change = change
        self._adds = {pair: chosen[pair] for pair in change.added}
        by_a = {pair[0]: owner for pair, owner in self._adds.items()}
        by_b = {pair[1]: owner for pair, owner in self._adds.items()}
        self._needs: dict[Pair, set[Owner]] = {}
        for a, b in change.removed:
            owners: set[Owner] = {by_a.get(a), by_b.get(b)}
            self._needs[(a, b)] = owners - {None} or {None}

    @property
    def owners(self) -> list[Owner]:
        """The owners of all parts, in the order of `chosen`."""
        found: list[Owner] = [*dict.fromkeys(self._adds.values())]
        return [*found, None] if {None} in self._needs.values() else found

    def of(self, owners: Collection[Owner]) -> Change:
        """The part of some owners: what they add, and what holds a port of it. All else stays.

        >>> whole = Change(removed=[(1, 1), (2, 2), (5, 5)], added=[(1, 2), (3, 3)])
        >>> parts = Parts(whole, {(1, 2): "ann", (3, 3): "bob"})
        >>> parts.of(["bob"]).removed, parts.of(["bob"]).added
        ([], [(3, 3)])
        >>> parts.of(["ann"]).removed, parts.of([None]).removed
        ([(1, 1), (2, 2)], [(5, 5)])
        """
        return replace(
            self._change,
            added=[pair for pair, owner in self._adds.items() if owner in owners],
            removed=[pair for pair, needs in self._needs.items() if needs & {*owners}],
        )
