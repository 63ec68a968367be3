"""The requests that begin together on a switch, and the part of their change that may be tried
after failures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from lightloom.controller.change import Change, OtherWay, settle
from lightloom.controller.deferrals import Deferrals
from lightloom.controller.managed import Managed
from lightloom.controller.parts import Part, Parts
from lightloom.controller.planner import Planner
from lightloom.controller.racks import Racks
from lightloom.controller.requests import Due, Requests
from lightloom.controller.retries import Failures
from lightloom.controller.store import Store
from lightloom.switches.ports import Pair

Plan = tuple[Change, list[Due]]
"""A change, and the requests that take effect when it is made."""
Advise = Callable[[Sequence[Due]], list[Due]]
"""The policy's request beside some deferred ones; empty if it has none."""


Among = Collection[int | None] | None
"""Numbers of deferred requests; None for all."""


def no_advice(beside: Sequence[Due]) -> list[Due]:
    """No policy requests anything."""
    return []


class Attempts:
    """Selects the requests that begin now, and their change."""

    def __init__(
        self, store: Store, requests: Requests, deferrals: Deferrals, planner: Planner
    ) -> None:
        self._store = store
        self._requests = requests
        self._deferrals = deferrals
        self._planner = planner

    def whole(self, one: Managed, advise: Advise, among: Among = None) -> Plan:
        """The change of all requests that may begin now, with only some of the deferred ones if
        `among` names them."""
        due = self._begin(one, advise, among)
        return self._planner.after(one, due), due

    def part(self, one: Managed, advise: Advise, failures: Failures) -> Plan | None:
        """The part of that change that may be tried now; None if all parts wait.

        A deferred request that fails may share a cross-connect with others: these are then tried
        without it, and each deferred request without the others. Puts deferred requests into effect
        that change nothing.
        """
        alone: list[Among] = [{request.deferred} for request in self._deferrals.due(one)]
        some: list[Among] = [(), *alone]
        tries = [(failures.sound, among) for among in [None, *some]]
        tries += [(failures.over, among) for among in [*some, None]]
        for choose, among in tries:
            change, due = self._part(one, advise, choose, among)
            if not change.is_empty:
                return change, due
            if not self._store.away(one.name) & {*one.lit}:
                self._requests.fulfil(
                    one, [request for request in due if request.deferred is not None]
                )
        return None

    def _part(
        self, one: Managed, advise: Advise, choose: Callable[[Parts], list[Part]], among: Among
    ) -> Plan:
        due = self._begin(one, advise, among)
        chosen: list[Part] | None = None
        while True:
            wanted = self._requests.with_(one, due)
            whole = self._planner.change(one, wanted)
            lost = self._lost(one, due)
            order = settle(wanted, one.racks.other_way, one.size)[0]
            part_of = partial(_part_of, one.racks, due)
            removed_by = partial(_removed_by, lost, whole, part_of, one.racks.other_way)
            parts = Parts(whole, order, part_of, removed_by)
            chosen = choose(parts) if chosen is None else chosen
            part = parts.of(chosen)
            cut = [request for request in due if _is_cut(request, lost, whole, part)]
            if not cut:
                return part, [self._without(one, request, whole, part) for request in due]
            due = self._begin(one, advise, {w.deferred for w in due if w not in cut})

    def _begin(self, one: Managed, advise: Advise, among: Among) -> list[Due]:
        """The requests that may begin now, with only some of the deferred ones: a request that is
        left out may have kept a circuit of a job lit, or have had a port that the policy needs."""
        deferred = self._deferrals.due(one, among)
        return [*deferred, *advise(deferred)]

    def _lost(self, one: Managed, due: Sequence[Due]) -> dict[int, set[Pair]]:
        """The lit cross-connects that each deferred request may make dark."""
        lost = {}
        for request in due:
            if request.deferred is not None:
                beside = [other for other in due if other is not request]
                lost[request.deferred] = self._planner.losses(one, request, beside)
        return lost

    def _without(self, one: Managed, request: Due, whole: Change, part: Change) -> Due:
        """A request, reduced to a part of the change: without the cross-connects that the part does
        not add, and with those that the owner requested before and the part does not remove."""
        dropped, stays = _left(whole, part)
        before = {old.pair for old in self._requests.of_owner(one, request.owner)}
        if request.deferred is not None or not (dropped & {*request.pairs} or stays & before):
            return request
        pairs = [pair for pair in request.pairs if pair not in dropped]
        return replace(request, pairs=sorted({*pairs, *(stays & before)}))


def _left(whole: Change, part: Change) -> tuple[set[Pair], set[Pair]]:
    """The cross-connects that a part of a change does not add, and those that it does not
    remove."""
    return {*whole.added} - {*part.added}, {*whole.removed} - {*part.removed}


def _is_cut(request: Due, lost: Mapping[int, set[Pair]], whole: Change, part: Change) -> bool:
    """Whether a part of the change would carry out a deferred request only partly."""
    dropped, stays = _left(whole, part)
    return request.deferred is not None and bool(
        dropped & {*request.pairs} or stays & lost[request.deferred]
    )


def _part_of(racks: Racks, due: Sequence[Due], pair: Pair) -> Part:
    """The part to which a cross-connect belongs: the circuit between two racks, or a whole deferred
    request."""
    for request in due:
        if request.deferred is not None and pair in request.pairs:
            return request.deferred
    ends = frozenset(racks.at([pair]))
    return ends if len(ends) == 2 else pair


def _removed_by(
    lost: Mapping[int, set[Pair]],
    whole: Change,
    part_of: Callable[[Pair], Part],
    other_way: OtherWay,
    pair: Pair,
) -> list[Part]:
    """The parts that remove a cross-connect: deferred requests, otherwise circuits that need a port
    of its other way."""
    found: list[Part] = [number for number, pairs in lost.items() if pair in pairs]
    back = other_way(pair)
    if found or back not in {*whole.removed}:
        return found
    needed = [new for new in whole.added if new[0] == back[0] or new[1] == back[1]]
    return [*dict.fromkeys(map(part_of, needed))]
