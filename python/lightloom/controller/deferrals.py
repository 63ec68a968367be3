"""Selects the deferred requests that take effect now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from lightloom.controller.change import Conflict
from lightloom.controller.deferred import Deferred, waiting
from lightloom.controller.managed import Managed
from lightloom.controller.planner import Planner
from lightloom.controller.requests import Due
from lightloom.controller.store import Store


class Deferrals:
    """The deferred requests of all switches."""

    def __init__(self, store: Store, clock: Callable[[], float], planner: Planner) -> None:
        """Reads nothing yet.

        Args:
            store: contains the deferred requests.
            clock: seconds since 1970.
            planner: computes changes and the jobs that they stop.
        """
        self._store = store
        self._clock = clock
        self._planner = planner

    def due(self, one: Managed, among: Collection[int | None] | None = None) -> list[Due]:
        """The deferred requests that may begin now.

        A request that waits for a checkpoint may begin if all its cross-connects are then lit, and
        if every job on a circuit that may go dark by it is stopped for at least the time that the
        switch needs.

        Args:
            one: the switch.
            among: numbers of the requests to consider; default: all.
        """
        now = self._clock()
        found: list[Due] = []
        # A request that waits for a checkpoint is checked beside all requests that begin at a time
        # and beside requests of higher priority.
        rank = lambda request: (request.at is None, -request.priority)  # noqa: E731
        for request in sorted(waiting(self._store, one.name), key=rank):
            if among is not None and request.id not in among:
                continue
            due = Due.of_client(request)
            lost = self._planner.losses(one, due, found) if due.at_checkpoint else ()
            running = self._planner.running(one, lost)
            if request.is_due(now, running) and self._are_whole(one, [*found, due]):
                found.append(due)
        return found

    def obstacles(self, one: Managed, request: Deferred) -> tuple[Sequence[str], list[Conflict]]:
        """The jobs for whose checkpoint a request waits, and its cross-connects that cannot be lit
        now."""
        due = Due.of_client(request)
        lost = self._planner.losses(one, due, ())
        conflicts = self._planner.after(one, [due]).conflicts
        mine = [found for found in conflicts if found.owner == due.owner]
        return self._planner.running(one, lost), mine

    def _are_whole(self, one: Managed, due: Sequence[Due]) -> bool:
        """Whether those of some requests that wait for a checkpoint have all their cross-connects
        when these take effect."""
        change = self._planner.after(one, due)
        lit = {*change.kept, *change.added}
        return all({*request.pairs} <= lit for request in due if request.at_checkpoint)
