"""The policy's advice: it is asked for each switch at every interval, and its advice becomes a wish
unless a limit holds it back."""

from __future__ import annotations

from collections.abc import Callable

from lightloom.controller.config import ControllerTable
from lightloom.controller.decider import Decider
from lightloom.controller.demand import Collector
from lightloom.controller.limits import HOUR_S, Limits
from lightloom.controller.managed import Managed
from lightloom.controller.store import Store
from lightloom.controller.wishes import Wishes
from lightloom.errors import ConfigError
from lightloom.units.durations import duration_ps


class Advice:
    """Asks the policies of all switches."""

    def __init__(
        self,
        config: ControllerTable,
        store: Store,
        wishes: Wishes,
        collector: Collector,
        clock: Callable[[], float],
    ) -> None:
        self._config = config
        self._store = store
        self._wishes = wishes
        self._collector = collector
        self._clock = clock
        self._limits = Limits.of(config.limits)
        self._older_s = duration_ps("demand.older", config.demand.older) / 1e12

    def renew(self, one: Managed) -> None:
        """Reads the demand of a switch and asks its policy."""
        if one.decider is None:
            return
        try:
            one.demand = self._collector.latest(one.name, one.racks, self._clock())
        except ConfigError as problem:
            one.held_back = str(problem)
            return
        now = self._clock()
        if one.demand is None or now - one.demand.at > self._older_s:
            one.held_back = "there is no recent demand"
            return
        try:
            one.advice = one.decider.decide(one.demand.matrix, one.lit)
        except ConfigError as problem:
            # A policy that fails changes nothing; a new one is built from its table.
            one.held_back = str(problem)
            policy = self._config.policy_table
            if policy is not None:
                one.decider = Decider(policy, one.racks, self._config.interval)
            return
        one.decided_at = now
        self._follow(one, now)

    def _follow(self, one: Managed, now: float) -> None:
        """The advice becomes a wish, unless a limit holds it back."""
        if self._config.mode == "advise":
            one.held_back = 'mode = "advise"'
            return
        advice, mine = one.advice or [], self._wishes.of_policy(one)
        if {wish.pair for wish in mine} == {*advice}:
            one.held_back = None
            return
        gained = one.share(advice) - one.share([wish.pair for wish in mine])
        lit = [(wish.pair, wish.since) for wish in mine]
        spent = self._store.durations(one.name, now - HOUR_S)
        settle = one.description.settle_ps if one.description is not None else None
        dark_s = 0.0 if settle is None else settle / 1e12
        one.held_back = self._limits.refusal(now, advice, lit, gained, spent, dark_s)
        if one.held_back is None:
            self._wishes.follow(one, advice)
