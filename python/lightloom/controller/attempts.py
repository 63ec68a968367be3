"""The requests that begin together on a switch, and the part of their change that may be tried
after failures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from lightloom.controller.advice import Planner
from lightloom.controller.change import Change, settle
from lightloom.controller.deferrals import Deferrals
from lightloom.controller.managed import Managed
from lightloom.controller.parts import Part, Parts
from lightloom.controller.racks import Racks
from lightloom.controller.retries import Failures
from lightloom.controller.store import Store
from lightloom.controller.wishes import Due, Wishes
from lightloom.switches.ports import Pair

Plan = tuple[Change, list[Due]]
"""A change, and the requests that take effect when it is made."""
Advise = Callable[[Sequence[Due]], list[Due]]
"""The policy's request beside some deferred ones; empty if it has none."""


def no_advice(beside: Sequence[Due]) -> list[Due]:
    """No policy requests anything."""
    return []


class Attempts:
    """Selects the requests that begin now, and their change."""

    def __init__(
        self, store: Store, wishes: Wishes, deferrals: Deferrals, planner: Planner
    ) -> None:
        self._store = store
        self._wishes = wishes
        self._deferrals = deferrals
        self._planner = planner

    def whole(self, one: Managed, advise: Advise) -> Plan:
        """The change of all requests that may begin now."""
        due = self._begin(one, advise)
        return self._planner.change(one, self._wishes.with_(one, due)), due

    def part(self, one: Managed, advise: Advise, failures: Failures) -> Plan | None:
        """The part of that change that may be tried now; None if all parts wait."""
        for choose in (failures.sound, failures.over):
            due = self._begin(one, advise)
            while True:
                wanted = self._wishes.with_(one, due)
                whole = self._planner.change(one, wanted)
                order = settle(wanted, one.racks.other_way)[0]
                parts = Parts(whole, order, partial(_part_of, one.racks, due))
                part = parts.of(choose(parts))
                cut = self._cut(one, due, whole, part)
                if not cut:
                    break
                left = [wish.deferred for wish in due if wish not in cut]
                due = self._begin(one, advise, left)
            if not part.is_empty:
                return part, [self._without(one, wish, whole, part) for wish in due]
        return None

    def _begin(
        self, one: Managed, advise: Advise, among: Collection[int | None] | None = None
    ) -> list[Due]:
        """The requests that may begin now, with only some of the deferred ones: a request that is
        left out may have kept a circuit of a job lit, or have had a port that the policy needs."""
        deferred = self._deferrals.due(one, among)
        return [*deferred, *advise(deferred)]

    def _cut(self, one: Managed, due: Sequence[Due], whole: Change, part: Change) -> list[Due]:
        """The deferred requests that a part of the change would carry out only partly."""
        dropped, stays = {*whole.added} - {*part.added}, {*whole.removed} - {*part.removed}
        found = []
        for wish in due:
            if wish.deferred is not None:
                others = [other for other in due if other is not wish]
                without = self._planner.change(one, self._wishes.with_(one, others))
                if dropped & {*wish.pairs} or stays - {*without.removed}:
                    found.append(wish)
        return found

    def _without(self, one: Managed, wish: Due, whole: Change, part: Change) -> Due:
        """A request as far as a part of the change fulfils it: cross-connects that are not lit now
        are requested again, and those that block them remain requested."""
        dropped, stays = {*whole.added} - {*part.added}, {*whole.removed} - {*part.removed}
        if wish.deferred is not None or not dropped & {*wish.pairs}:
            return wish
        before = {old.pair for old in self._store.intents(one.name) if old.owner == wish.owner}
        pairs = [pair for pair in wish.pairs if pair not in dropped]
        return replace(wish, pairs=sorted({*pairs, *(stays & before)}))


def _part_of(racks: Racks, due: Sequence[Due], pair: Pair) -> Part:
    """The part to which a cross-connect belongs: the circuit between two racks, or a whole deferred
    request."""
    for wish in due:
        if wish.deferred is not None and pair in wish.pairs:
            return wish.deferred
    ends = frozenset(racks.at([pair]))
    return ends if len(ends) == 2 else pair
