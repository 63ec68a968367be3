"""The reconcile loop: read the lit cross-connects, compare them with the requested ones, change,
verify."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial

from lightloom.controller.advice import Advice
from lightloom.controller.attempts import Advise, Attempts, Plan, no_advice
from lightloom.controller.basis import basis_of, begun_lease, ended_request
from lightloom.controller.change import Change, change_to, settle
from lightloom.controller.claims import Claim
from lightloom.controller.config import ControllerTable
from lightloom.controller.cost import Cost, cost_of
from lightloom.controller.dark import dark_s
from lightloom.controller.database import DeposedError
from lightloom.controller.decider import Decider
from lightloom.controller.deferrals import Deferrals
from lightloom.controller.deferred import Deferred, defer
from lightloom.controller.demand import Collector
from lightloom.controller.held_clock import HeldClock
from lightloom.controller.hooks import Hook, HttpHook, NoHook
from lightloom.controller.intents import Wanted
from lightloom.controller.jobs import jobs
from lightloom.controller.leases import leases
from lightloom.controller.managed import Managed
from lightloom.controller.meters import Metered
from lightloom.controller.passes import Job, Passes
from lightloom.controller.planner import Planner
from lightloom.controller.racks import Racks
from lightloom.controller.requests import POLICY, Due, Requests, check_pairs
from lightloom.controller.retries import Failures
from lightloom.controller.store import Store
from lightloom.controller.timed import REAL, Pace
from lightloom.controller.traffic import Traffic
from lightloom.controller.transaction import Executor, without_light
from lightloom.controller.transaction_log import LOOP, OPEN, Transaction
from lightloom.controller.undoing import check_free
from lightloom.errors import ConfigError, refusal
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import CircuitSwitch, SwitchError
from lightloom.switches.targets import open_target
from lightloom.units.durations import duration_ps


class UnreachableError(Exception):
    """A switch does not answer. Requests are stored; no cross-connect was changed."""


class Controller:
    """The service, without its HTTP interface."""

    def __init__(
        self,
        config: ControllerTable,
        store: Store,
        clock: Callable[[], float] = time.time,
        opener: Callable[[Managed], CircuitSwitch] | None = None,
        hook: Hook | None = None,
        workers: int = 1,
        pace: Pace = REAL,
    ) -> None:
        """Reads port maps and builds policies; contacts no switch yet.

        Args:
            config: the configuration.
            store: everything that must survive a crash.
            clock: seconds since 1970.
            opener: opens a switch; default: by its address.
            hook: drains traffic; default: the configured hook.
            workers: number of switches that are read and changed in parallel.
            pace: how time passes while a switch settles.

        Raises:
            ConfigError: if a port map or a policy is invalid.
        """
        self.config = config
        self.store = store
        self.clock = clock = HeldClock(clock)
        self.collector = Collector(config.demand, config.interval)
        self.requests = Requests(store, clock)
        self.changed = threading.Condition()
        self.announce: Callable[[Transaction], None] = lambda _: None
        """Called with each transaction that a client's request made."""
        self.version = 0
        """Counter of changes that a dashboard has to show."""
        self.failure: str | None = None
        """The error of the last pass of the loop; None if it did not fail."""
        self.switches: dict[str, Managed] = {}
        for table in config.switch:
            racks = Racks(table.ports)
            self.collector.check(racks)
            policy = config.policy_table
            decider = None if policy is None else Decider(policy, racks, config.interval)
            about = (table.credentials, decider, table.settle_s)
            one = Managed(table.name, table.url, racks, *about)
            self.switches[table.name] = one
        self._passes = Passes(workers)
        self._interval_s = duration_ps("interval", config.interval) / 1e12
        self._opener = opener or _opened
        planner = Planner(self.requests, self._change_of, self.cost)
        self._planner, self._deferrals = planner, Deferrals(store, clock, planner)
        self._attempts = Attempts(store, self.requests, self._deferrals, planner)
        self._advice = Advice(config, store, self.requests, self.collector, clock, planner)
        self._hook = hook or _hook(config, self.switches)
        self._executor = Executor(
            store, self._open, self._hook, tell=self._tell, pace=pace, forbids=self._forbids
        )
        self._traffic = Traffic(store, self.requests, planner, self._executor, self._hook)

    def _open(self, name: str) -> CircuitSwitch:
        return self._opened(self.switches[name])

    def _opened(self, one: Managed) -> CircuitSwitch:
        with one.meters.asking():
            return Metered(self._opener(one), one.meters)

    def managed(self, name: str) -> Managed:
        """The switch with a name.

        Raises:
            ConfigError: if there is none.
        """
        if name not in self.switches:
            known = ", ".join(self.switches)
            raise refusal("switch", name, "no such switch", f"name one of {known}")
        return self.switches[name]

    def check_racks(self, names: Sequence[str]) -> None:
        """Refuses racks that no port map has.

        Raises:
            ConfigError: naming one.
        """
        known = {name for one in self.switches.values() for name in one.racks.names}
        for name in names:
            if name not in known:
                shown = ", ".join(sorted(known)[:8])
                raise refusal("racks", name, "in no port map", f"name some of {shown}")

    def want(
        self,
        switch: str,
        pairs: Sequence[Pair],
        who: str,
        priority: int = 0,
        claim: Claim | None = None,
    ) -> None:
        """Sets the cross-connects that an operator requests on a switch, unless the same HTTP
        request did so before.

        Raises:
            ConfigError: if a port is in two of them, or is not on the switch.
        """
        if claim is None or not claim.has_effect:
            self.requests.replace(self.managed(switch), pairs, who, priority, claim)
            self._tell()

    def apply(
        self,
        switch: str,
        pairs: Sequence[Pair],
        who: str,
        priority: int = 0,
        claim: Claim | None = None,
    ) -> list[Transaction]:
        """Sets the cross-connects that an operator requests on a switch, and changes the switch. No
        pass of the loop can come in between, so that the transaction belongs to this client.

        Raises:
            UnreachableError: if the switch does not answer.
            ConfigError: as `want` and `reconcile`.
        """
        with self.managed(switch).lock:
            self.want(switch, pairs, who, priority, claim)
            return self.reconcile(switch, who)

    def want_later(
        self,
        switch: str,
        pairs: Sequence[Pair],
        who: str,
        priority: int,
        at: float | None,
        claim: Claim | None = None,
    ) -> Deferred:
        """Sets the cross-connects that an operator requests on a switch from a time on, or from the
        checkpoint of the jobs that lose a circuit (if `at` is None).

        Raises:
            ConfigError: if a port is in two of them, or is not on the switch; if the time is over.
        """
        check_pairs(self.managed(switch), pairs)
        made = defer(self.store, switch, who, pairs, priority, at, self.clock(), claim)
        self._tell()
        return made

    def why_waiting(self, request: Deferred) -> str | None:
        """The reasons why a request that waits for a checkpoint does not begin now; None if there
        are none, or if they are not known."""
        one = self.switches.get(request.switch)
        if one is None or one.read_at is None or request.at is not None:
            return None
        with self.clock.held():
            running, conflicts = self._deferrals.obstacles(one, request)
            found = self.requests.told(one, conflicts)
            if running:
                dark = dark_s(self.store, one)
                length = "" if dark is None else f" of at least {dark:.3g} s"
                found.insert(0, f"no pause{length}: {', '.join(running)}")
        return "; ".join(found) or None

    def wanted(self, switch: str) -> list[Wanted]:
        """All requests of a switch, including active leases, in order of precedence."""
        return self.requests.all(self.managed(switch))

    def start(self) -> list[Transaction]:
        """Finishes or undoes transactions that a crash left open, and reads every switch; returns
        these transactions.

        With several workers, it does not wait longer than an interval for a switch: `cycle` then
        returns its transactions.
        """
        self._hook.start(lambda: self.store.check_role(self.store.fence))
        return self._passes.run(self._jobs(self._begin), self._interval_s)

    def read(self) -> None:
        """Reads every switch once; opens no resource of the hook."""
        for one in self.switches.values():
            with one.lock:
                self._read(one)

    def stand_by(self) -> None:
        """Records that another controller may be active, which the dashboard shows."""
        self.failure = None
        self._passes.failed.clear()
        self._hook.stop()
        self._tell()

    @property
    def failed(self) -> Mapping[str, BaseException]:
        """The error of each switch whose last completed pass failed."""
        return self._passes.failed

    def _jobs(self, act: Callable[[Managed], list[Transaction]]) -> dict[str, Job]:
        return {one.name: partial(self._timed, act, one) for one in self.switches.values()}

    def _timed(
        self, act: Callable[[Managed], list[Transaction]], one: Managed
    ) -> list[Transaction]:
        one.pass_began = self.clock()
        try:
            return act(one)
        finally:
            one.pass_began = None

    def _begin(self, one: Managed) -> list[Transaction]:
        with one.lock:
            recovered = self._recovered(one)
            self._leave_policy(one)
            self._read(one)
        self._tell()
        return recovered

    def _recovered(self, one: Managed) -> list[Transaction]:
        """Continues a transaction of a switch that is open, for example as its hook failed."""
        made = self._executor.recover(one.name)
        one.being_added = {
            pair for left in made if left.state in OPEN for pair in left.pairs("added")
        }
        return made

    def _leave_policy(self, one: Managed) -> None:
        """Withdraws the requests of a policy that no longer acts, if no transaction is open.

        Its circuits are then neither restored nor removed on its behalf.
        """
        acts = self.config.mode == "act" and one.decider is not None
        if not acts and not self.store.unfinished(one.name):
            self.store.leave(one.name, POLICY, LOOP)

    def _read(self, one: Managed) -> bool:
        try:
            switch = self._opened(one)
            try:
                if one.description is None or one.trouble is not None:
                    # The switch did not answer, so another one may now have its address.
                    _describe(one, switch)
                found = switch.read()
                if one.port_count not in (None, len(found.ports)):
                    _describe(one, switch)
                one.lit, one.port_count = found.pairs, len(found.ports)
                one.connected = {*found.connected}
                one.power = switch.power() or {}
            finally:
                switch.close()
        except (ConfigError, SwitchError) as problem:
            one.trouble = str(problem)
            return False
        one.trouble, one.read_at = None, self.clock()
        return True

    def cycle(self) -> list[Transaction]:
        """One pass over all switches: decide, compare, and change where needed.

        With several workers, the next pass starts without the switches that have not answered
        within an interval.
        """
        return self._passes.run(self._jobs(self._pass), self._interval_s)

    def _pass(self, one: Managed) -> list[Transaction]:
        with one.lock:
            made = self._recovered(one)
            self._leave_policy(one)
            if self._read(one):
                self._traffic.follow(one)
                self._traffic.keep(one)
                with one.meters.planning():
                    # A policy may take long.
                    is_new = self._advice.renew(one)
                    advise = partial(self._advice.permitted, one) if is_new else no_advice
                    with self.clock.held():
                        plan = self._planned(one, LOOP, advise)
                made += (tried := self._carry_out(one, LOOP, plan))
                if tried and one.trouble is None and not self.failures(one).are_none:
                    # So that parts that failed are also tried if other parts change often.
                    made += self._reconcile(one, LOOP)
        self._tell()
        return made

    def reconcile(self, name: str, who: str) -> list[Transaction]:
        """Compares one switch with the current requests, and changes it. Completes first a
        transaction that a hook has kept open; returns those of this client's requests.

        Raises:
            UnreachableError: if the switch does not answer.
            ConfigError: if the hook of that transaction still fails.
        """
        one = self.managed(name)
        with one.lock:
            made = self._recover(one, who)
            if not self._read(one):
                raise UnreachableError(
                    f"switch = {name}: {one.trouble}; the request is kept, and is carried out once "
                    "the switch answers"
                )
            self._traffic.follow(one)
            tried = self._reconcile(one, who)
        self._tell()
        for transaction in tried:
            self.announce(transaction)
        return made + tried

    def _recover(self, one: Managed, who: str) -> list[Transaction]:
        """Ends a transaction that a hook has kept open; returns it if it has done what this client
        requested.

        Raises:
            ConfigError: if the hook fails still.
        """
        ended = self._recovered(one)
        for left in ended:
            if left.state in OPEN:
                limit = f"transaction {left.id} of this switch is not over: {left.reason}"
                raise refusal("switch", one.name, limit, "correct that; the request is kept")
            self.announce(left)
        return [left for left in ended if left.who == who and left.state == "done"]

    def difference(self, name: str, wanted: Sequence[Wanted] | None = None) -> Change:
        """The changes that the requests of a switch need, or other requests if they are given;
        without the next plan of the policy, and with parts that failed and wait."""
        one = self.managed(name)
        if wanted is None:
            wanted = self.requests.with_(one, self.due(one))
        return self._change_of(one, wanted)

    def pending(self, one: Managed) -> Change:
        """The change that the loop would make if nothing had failed, with the last advice of the
        policy."""
        due = self.due(one)
        return self._planner.after(one, [*due, *self._advice.current(one, due)])

    def due(self, one: Managed) -> list[Due]:
        """The deferred requests of a switch that may begin now."""
        return self._deferrals.due(one)

    def _change_of(
        self, one: Managed, wanted: Sequence[Wanted], owned: set[Pair] | None = None
    ) -> Change:
        remove_unowned = self.config.unowned == "remove"
        if owned is None:
            owned = self.store.owned(one.name) | one.being_added
        return change_to(
            one.lit,
            wanted,
            owned,
            remove_unowned=remove_unowned,
            other_way=one.racks.other_way,
            size=one.size,
        )

    def cost(self, name: str, change: Change) -> Cost:
        """The cost of a change of a switch that is made now."""
        one = self.managed(name)
        dark = dark_s(self.store, one)
        now = self.clock()
        return cost_of(change, one.racks, dark, jobs(self.store, now), now)

    def _reconcile(self, one: Managed, who: str) -> list[Transaction]:
        with one.meters.planning(), self.clock.held():
            plan = self._planned(one, who)
        return self._carry_out(one, who, plan)

    def _planned(self, one: Managed, who: str, advise: Advise = no_advice) -> Plan | None:
        """The change to make now, and the requests that it puts into effect; None if there is no
        change."""
        # A request of a client carries out no deferred ones: the next pass does.
        change, due = self._attempts.whole(one, advise, None if who == LOOP else ())
        one.unowned = [*change.unowned]
        one.conflicts = self.requests.told(one, change.conflicts)
        if who == LOOP and self.store.unfinished(one.name):
            # A transaction is open because its hook failed; the next cycle resumes it first.
            return None
        away = self.store.away(one.name) & {*one.lit}
        if change.is_empty and (who == LOOP or not self.store.stuck_ports(one.name)):
            if not away & {*change.kept}:
                self.requests.fulfil(one, due)
            return None
        if who == LOOP and not (failures := self.failures(one)).are_none:
            if (part := self._attempts.part(one, advise, failures)) is None:
                return None
            change, due = part
        return change, due

    def _carry_out(self, one: Managed, who: str, plan: Plan | None) -> list[Transaction]:
        if plan is None:
            return []
        change, due = plan
        about = {
            "cost": self.cost(one.name, change).table(),
            "due": [request.table() for request in due],
            **basis_of(due, self.requests.leases_for(one, change.added)),
            "given_up": self._given_up(one, change, due),
            "dark": [p for p in change.removed if without_light([p], one.power) is not None],
            "only_at_checkpoint": self._planner.only_at_checkpoint(one, change, due),
        }
        try:
            made = self._executor.run(one.name, change, one.lit, who, about)
        except DeposedError:
            raise
        except SwitchError as problem:
            one.trouble = str(problem)
            return []
        self._read(one)
        return [made]

    def _forbids(self, made: Transaction, lit: Collection[Pair]) -> str | None:
        """Why a transaction may not make more circuits dark: the boundary of a job is over, or the
        requests have changed before any circuit was dark."""
        one = self.switches.get(made.switch)
        if one is None:
            return None
        if {*made.pairs("removed")} <= {*lit} and (reason := self._outdated(one, made)) is not None:
            return reason
        left = {*made.pairs("only_at_checkpoint")} & {*lit}
        if not left:
            return None
        if one.description is None:
            # For its settling time, after a restart.
            self._read(one)
        running = self._planner.running(one, left)
        return f"the checkpoint is over: {', '.join(running)}" if running else None

    def _outdated(self, one: Managed, made: Transaction) -> str | None:
        """Why a plan no longer fits the requests; None if it does."""
        ended = ended_request(self.store, made, self.clock())
        return ended or begun_lease(made, self.requests.leases_for(one, made.pairs("removed")))

    def _given_up(self, one: Managed, change: Change, due: Sequence[Due]) -> list[Pair]:
        """The cross-connects that a change removes because the policy requests other circuits than
        before."""
        if all(request.owner != POLICY for request in due):
            return []
        before = {request.pair for request in self.requests.of_owner(one, POLICY)}
        return [pair for pair in change.removed if pair in before]

    def failures(self, one: Managed) -> Failures:
        """The changes of a switch that failed."""
        return Failures(self.store, one.name, self.clock(), self._interval_s)

    def undo(self, number: int, who: str, claim: Claim | None = None) -> list[Transaction]:
        """Restores the cross-connects that a switch had before a transaction; the operator then
        requests them. Has no effect if the same HTTP request did so before.

        Raises:
            ConfigError: if there is no such transaction, it is not done, or another owner holds a
                port that this needs.
        """
        found = self.store.transaction(number)
        if found is None or found.state != "done":
            limit = "no such transaction" if found is None else f"it is {found.state}"
            raise refusal("transaction", number, limit, "name one that is done")
        one = self.managed(found.switch)
        with one.lock:
            made = self._recover(one, who)
            if claim is None or not claim.has_effect:
                self._read(one)
                after = self.requests.after_revert(one, found, who)
                unowned = self._change_of(one, after).unowned
                chosen, _ = settle(after, one.racks.other_way, one.size)
                check_free(found, chosen, unowned, leases(self.store, self.clock(), one.name))
                self.requests.revert(found, who, claim)
            return made + self.reconcile(found.switch, who)

    def _tell(self) -> None:
        with self.changed:
            self.version += 1
            self.changed.notify_all()


def _hook(config: ControllerTable, switches: Mapping[str, Managed]) -> Hook:
    if config.drain is not None:
        from lightloom.controller.interface_hook import InterfaceHook

        made = InterfaceHook(config.drain)
        for one in switches.values():
            made.check(one.name, one.racks)
        return made
    if config.openflow is not None:
        from lightloom.controller.openflow_hook import OpenFlowHook

        rules = OpenFlowHook(config.openflow)
        for one in switches.values():
            rules.check(one.name, one.racks)
        return rules
    return HttpHook(config.hook) if config.hook else NoHook()


def _describe(one: Managed, switch: CircuitSwitch) -> None:
    """Reads the description of a switch.

    Raises:
        ConfigError: if it has fewer ports than the port map.
    """
    one.description = switch.describe()
    one.racks.check(one.description.size, one.name)


def _opened(one: Managed) -> CircuitSwitch:
    return open_target(one.url, one.credentials)
