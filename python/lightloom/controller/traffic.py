"""Sends traffic over circuits that are lit and have light, and over no others, while no transaction
is open."""

from __future__ import annotations

from collections.abc import Callable, Collection

from lightloom.controller.hooks import Hook, HookError
from lightloom.controller.managed import Managed
from lightloom.controller.planner import Planner
from lightloom.controller.requests import Requests
from lightloom.controller.store import Store
from lightloom.controller.transaction import Executor, without_light
from lightloom.controller.transaction_log import LOOP
from lightloom.switches.ports import Pair, name_of


class Traffic:
    """The traffic of all switches, after each reading."""

    def __init__(
        self, store: Store, requests: Requests, planner: Planner, executor: Executor, hook: Hook
    ) -> None:
        self._store, self._requests, self._planner = store, requests, planner
        self._executor, self._hook = executor, hook

    def follow(self, one: Managed) -> None:
        """Removes traffic from circuits that the switch has lost, and lets it use those that it has
        left and that have light."""
        owned, away = self._store.owned(one.name), self._store.away(one.name)
        self._say(one, "leave", self._leave_lost(one, owned, away))
        self._say(one, "adopt", self._adopt(one, owned))
        self._say(one, "return", self._return(one, owned & away))

    def keep(self, one: Managed) -> None:
        """Makes the hook restore the state that sends traffic over lit circuits, if it was lost."""
        away = self._store.away(one.name)
        for open_one in self._store.unfinished(one.name):
            away |= {*open_one.pairs("removed"), *open_one.pairs("added")}
        wanted = {request.pair for request in self._requests.all(one)}
        kept = ({*one.lit} & self._store.owned(one.name) & wanted) - away
        carrying = [p for p in sorted(kept) if without_light([p], one.power) is None]
        trouble = None
        try:
            self._hook.keep(one.name, carrying)
        except HookError as problem:
            trouble = f"rules of lit circuits: {problem}; it is tried again"
        self._say(one, "keep", trouble)

    @staticmethod
    def _say(one: Managed, step: str, trouble: str | None) -> None:
        """Sets the alarm of a step, or ends it."""
        if trouble is None:
            one.kept_away.pop(step, None)
        else:
            one.kept_away[step] = trouble

    def _leave_lost(self, one: Managed, owned: set[Pair], away: set[Pair]) -> str | None:
        """Removes traffic from cross-connects that another client, or a restart, has removed from
        the switch. Returns why it may still be sent there."""
        gone = sorted(owned - {*one.lit} - away)
        if not gone or self._store.unfinished(one.name):
            return None
        carrying = [p for p in one.lit if p in owned - away and not without_light([p], one.power)]
        try:
            self._executor.leave(one.name, gone, carrying)
        except HookError as problem:
            return f"{', '.join(map(name_of, gone))}, which is gone: {problem}; it is tried again"
        self._store.keep_away(one.name, gone, LOOP)
        return None

    def _adopt(self, one: Managed, owned: set[Pair]) -> str | None:
        """Takes ownership of lit and requested cross-connects, which the controller removes when no
        request for them remains. Returns why traffic may not use them."""
        others = {*one.lit} - owned
        if not others:
            return None
        kept = self._planner.change(one, self._requests.all(one)).kept
        return self._enter(one, {*kept} & others, self._store.adopt)

    def _return(self, one: Managed, away: set[Pair]) -> str | None:
        """Lets traffic return to circuits that had no light at the end of a change, or that are
        part of a stuck one. Returns why it may not."""
        return self._enter(one, away & {*one.lit}, self._store.let_in)

    def _enter(
        self, one: Managed, pairs: set[Pair], record: Callable[[str, Collection[Pair], str], None]
    ) -> str | None:
        """Lets traffic use those of some cross-connects that have light; returns why it may not."""
        found = [
            pair
            for pair in sorted(pairs & one.connected)
            if without_light([pair], one.power) is None
        ]
        if not found or self._store.unfinished(one.name):
            return None
        try:
            self._executor.let_in(one.name, found)
        except HookError as problem:
            return f"{', '.join(map(name_of, found))}: {problem}; it is tried again"
        record(one.name, found, LOOP)
        return None
