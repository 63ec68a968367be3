"""When a deferred wish takes effect, and what ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lightloom.controller.cost import Cost
from lightloom.controller.deferred import Deferred, waiting
from lightloom.controller.managed import Managed
from lightloom.controller.store import Store, Wanted
from lightloom.controller.wishes import Wishes

LOOKED_AT = 50
"""The number of last transactions that may have fulfilled a wish before a crash."""


class Deferrals:
    """The deferred wishes of all switches."""

    def __init__(
        self,
        store: Store,
        wishes: Wishes,
        clock: Callable[[], float],
        cost: Callable[[Managed, Sequence[Wanted]], Cost],
    ) -> None:
        """Reads nothing yet.

        Args:
            store: where they are.
            wishes: all other wishes.
            clock: seconds since 1970.
            cost: of making a switch as some wishes want it.
        """
        self._store = store
        self._wishes = wishes
        self._clock = clock
        self._cost = cost

    def due(self, one: Managed) -> list[Deferred]:
        """Those that may begin now.

        One that waits for a checkpoint is due if every job that loses a circuit stands still for
        as long as the switch needs.
        """
        now = self._clock()
        return [
            wish
            for wish in waiting(self._store, one.name)
            if wish.is_due(now, self._cost(one, self.with_(one, [wish])).waits_for)
        ]

    def with_(self, one: Managed, due: Sequence[Deferred]) -> list[Wanted]:
        """All wishes of a switch as they are once some deferred ones have taken effect."""
        wanted = self._wishes.all(one)
        for wish in due:
            wanted = self._wishes.exchanged(wanted, wish.pairs, wish.who, wish.priority)
        return wanted

    def fulfil(self, one: Managed, carried_out: Sequence[Deferred]) -> None:
        """They become what their clients want, and wait no more; one whose client has wanted
        something else meanwhile does not."""
        for wish in carried_out:
            self._wishes.fulfil(one, wish.id, wish.pairs, wish.who, wish.priority)

    def resume(self, one: Managed) -> None:
        """Fulfils those that a transaction had carried out before the controller stopped."""
        open_ones = waiting(self._store, one.name)
        if not open_ones:
            return
        last = self._store.transactions(one.name, ["done"], limit=LOOKED_AT)
        done = {number for made in last for number in made.plan.get("deferred", ())}
        self.fulfil(one, [wish for wish in open_ones if wish.id in done])
