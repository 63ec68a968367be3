"""Computes the change that requests lead to, and its effect on jobs, without carrying it out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from lightloom.controller.change import Change
from lightloom.controller.cost import Cost
from lightloom.controller.intents import Wanted
from lightloom.controller.losses import losses
from lightloom.controller.managed import Managed
from lightloom.controller.requests import Due, Requests
from lightloom.switches.ports import Pair


class Planner:
    """Plans changes of all switches."""

    def __init__(
        self,
        requests: Requests,
        change: Callable[[Managed, Sequence[Wanted]], Change],
        cost: Callable[[str, Change], Cost],
    ) -> None:
        """Computes nothing yet.

        Args:
            requests: the present requests.
            change: computes the change to a state that fulfils some requests.
            cost: computes the cost of a change of a named switch.
        """
        self._requests = requests
        self.change = change
        self._cost = cost

    def after(self, one: Managed, due: Sequence[Due]) -> Change:
        """The change when some requests take effect."""
        return self.change(one, self._requests.with_(one, due))

    def losses(self, one: Managed, due: Due, beside: Sequence[Due]) -> set[Pair]:
        """The lit cross-connects that may go dark by a request beside some others."""
        before = [request.pair for request in self._requests.of_owner(one, due.owner)]
        own = losses(one.lit, before, due.pairs, one.racks.other_way)
        return own | {*self.after(one, [*beside, due]).removed} - {*self.after(one, beside).removed}

    def only_at_checkpoint(self, one: Managed, change: Change, due: Sequence[Due]) -> list[Pair]:
        """The cross-connects that a change removes by requests that wait for a checkpoint."""
        waited = [request for request in due if request.at_checkpoint]
        if not waited:
            return []
        others = [request for request in due if not request.at_checkpoint]
        found = {*change.removed} - {*self.after(one, others).removed}
        for request in waited:
            found |= self.losses(one, request, [other for other in due if other is not request])
        return sorted(found & {*change.removed})

    def running(self, one: Managed, pairs: Collection[Pair]) -> Sequence[str]:
        """The jobs that are not at a boundary and would stop if some cross-connects went dark."""
        return self._cost(one.name, Change(removed=sorted(pairs))).waits_for
