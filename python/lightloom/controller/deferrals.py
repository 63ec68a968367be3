"""Selects the deferred requests that take effect now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from lightloom.controller.cost import Cost
from lightloom.controller.deferred import waiting
from lightloom.controller.intents import Wanted
from lightloom.controller.managed import Managed
from lightloom.controller.store import Store
from lightloom.controller.wishes import Due, Wishes


class Deferrals:
    """The deferred requests of all switches."""

    def __init__(
        self,
        store: Store,
        wishes: Wishes,
        clock: Callable[[], float],
        cost: Callable[[Managed, Sequence[Wanted]], Cost],
    ) -> None:
        """Reads nothing yet.

        Args:
            store: contains the deferred requests.
            wishes: all other requests.
            clock: seconds since 1970.
            cost: computes the cost of carrying out some requests on a switch.
        """
        self._store = store
        self._wishes = wishes
        self._clock = clock
        self._cost = cost

    def due(self, one: Managed, among: Collection[int | None] | None = None) -> list[Due]:
        """The deferred requests that may begin now.

        A request that waits for a checkpoint is due if every job that loses a circuit by it, or by
        requests that are due before it, is stopped for at least the time that the switch needs.

        Args:
            one: the switch.
            among: numbers of the requests to consider; default: all.
        """
        now = self._clock()
        found: list[Due] = []
        for wish in waiting(self._store, one.name):
            if among is not None and wish.id not in among:
                continue
            due = Due.of_client(wish.who, wish.pairs, wish.priority, wish.id)
            wanted = self._wishes.with_(one, [*found, due])
            if wish.is_due(now, self._cost(one, wanted).waits_for):
                found.append(due)
        return found
