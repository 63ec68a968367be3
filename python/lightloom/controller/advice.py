"""The policy's advice for each switch at every interval.

It is carried out unless a limit holds it back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from lightloom.controller.config import ControllerTable
from lightloom.controller.dark import dark_s
from lightloom.controller.decider import Decider
from lightloom.controller.deferred import CHECKPOINT
from lightloom.controller.demand import Collector
from lightloom.controller.intents import Wanted
from lightloom.controller.limits import HOUR_S, Limits
from lightloom.controller.managed import Managed
from lightloom.controller.matrices import Seen
from lightloom.controller.planner import Planner
from lightloom.controller.requests import POLICY, Due, Requests
from lightloom.controller.smoothing import Smoothing
from lightloom.controller.store import Store
from lightloom.controller.timed import LateError, within
from lightloom.errors import ConfigError
from lightloom.switches.ports import Pair
from lightloom.units.durations import duration_ps


class Advice:
    """Calls the policies of all switches."""

    def __init__(
        self,
        config: ControllerTable,
        store: Store,
        requests: Requests,
        collector: Collector,
        clock: Callable[[], float],
        planner: Planner,
    ) -> None:
        self._planner = planner
        self._config = config
        self._store = store
        self._requests = requests
        self._collector = collector
        self._clock = clock
        self._limits = Limits.of(config.limits)
        self._smoothing = Smoothing(config.demand.smoothing)
        self._within_s = duration_ps("policy_within", config.policy_within) / 1e12
        self._older_s = duration_ps("demand.older", config.demand.older) / 1e12

    def renew(self, one: Managed) -> bool:
        """Reads the demand of a switch and calls its policy; returns whether this gave new
        advice."""
        now = self._clock()
        seen = self._measured(one, now)
        if seen is None or one.decider is None:
            return False
        try:
            mine = [request.pair for request in self._requests.of_owner(one, POLICY)]
            decide = partial(one.decider.decide, seen.matrix, one.lit, mine)
            one.advice = within(self._within_s, decide)
        except LateError:
            # The thread of the call is still running, so the policy is not called again.
            one.decider = None
            one.policy_trouble = (
                f"the policy did not answer within {self._config.policy_within} (policy_within) "
                "and is not asked again; correct it, then restart the controller"
            )
            return False
        except ConfigError as problem:
            # A policy that fails changes nothing; a new one is built from its table.
            one.held_back = one.policy_trouble = str(problem)
            policy = self._config.policy_table
            if policy is not None:
                one.decider = Decider(policy, one.racks, self._config.interval)
            return False
        one.decided_at, one.policy_trouble = now, None
        return True

    def _measured(self, one: Managed, now: float) -> Seen | None:
        """Reads the newest demand; None if there is none, or none that is recent enough. If the
        source fails, the last demand remains for the figures until it is too old."""
        try:
            newest = self._collector.latest(one.name, one.racks, now)
        except ConfigError as problem:
            one.held_back, one.demand = str(problem), self._recent(one.demand, now)
            return None
        if newest is not None:
            newest = self._smoothing.of(one.name, newest)
        one.demand = self._recent(newest, now)
        if one.demand is None:
            one.held_back = None if one.decider is None else "there is no recent demand"
        return one.demand

    def _recent(self, seen: Seen | None, now: float) -> Seen | None:
        """The demand, unless it is older than `demand.older`."""
        return None if seen is None or now - seen.at > self._older_s else seen

    def permitted(self, one: Managed, beside: Sequence[Due]) -> list[Due]:
        """The advice as a request, unless it is already carried out or a limit holds it back.

        The request is stored as the policy's when it is carried out. A change that fails, or a
        circuit that another owner blocks, is therefore requested again, within the limits of that
        time.

        Args:
            one: the switch.
            beside: other requests that take effect now.
        """
        now = self._clock()
        if self._config.mode == "advise":
            one.held_back = 'mode = "advise"'
            return []
        mine = self._requests.of_owner(one, POLICY)
        advice = self._attainable(one, mine, beside)
        if {request.pair for request in mine} == {*advice}:
            one.held_back = None
            return []
        gained = one.share(advice) - one.share([request.pair for request in mine])
        lit = [(request.pair, request.since) for request in mine]
        spent = self._store.dark_s(one.name, now - HOUR_S)
        due = self._request(advice)
        change = self._planner.after(one, [*beside, due])
        # A circuit at ports that are free makes none dark.
        gives_up = {*change.removed} & {request.pair for request in mine}
        dark = (dark_s(self._store, one) or 0.0) if gives_up else 0.0
        one.held_back = self._limits.refusal(now, advice, lit, gained, spent, dark)
        if one.held_back is None:
            one.held_back = self._waits_for(one, due, beside)
        return [due] if one.held_back is None else []

    def current(self, one: Managed, beside: Sequence[Due]) -> list[Due]:
        """The last advice as a request beside some others; empty if the last pass did not carry it
        out for a reason other than a failure."""
        acts = self._config.mode == "act" and one.decider is not None
        if not acts or one.advice is None or one.held_back is not None:
            return []
        mine = self._requests.of_owner(one, POLICY)
        return [self._request(self._attainable(one, mine, beside))]

    def _attainable(
        self, one: Managed, mine: Sequence[Wanted], beside: Sequence[Due]
    ) -> list[Pair]:
        """The advice without cross-connects that another owner blocks, and without circuits of
        other owners that it keeps only because there is no demand. Cross-connects that were carried
        out before remain requested, and are restored when the other owner leaves."""
        advice, before = one.advice or [], {request.pair for request in mine}
        wanted = self._requests.with_(one, [*beside, self._request(advice)])
        conflicts = self._planner.change(one, wanted).conflicts
        left_out = {found.pair for found in conflicts if found.owner == POLICY}
        left_out |= {
            request.pair
            for request in wanted
            if request.owner != POLICY and one.is_idle(request.pair)
        }
        return [pair for pair in advice if pair not in left_out or pair in before]

    def _request(self, advice: Sequence[Pair]) -> Due:
        return Due.of_policy(advice, self._config.limits.when == CHECKPOINT)

    def _waits_for(self, one: Managed, due: Due, beside: Sequence[Due]) -> str | None:
        """The jobs that the advice would stop now, if the limits say that it waits for them."""
        if not due.at_checkpoint:
            return None
        running = self._planner.running(one, self._planner.losses(one, due, beside))
        return f"not at a checkpoint: {', '.join(running)}" if running else None
