"""Two controllers of one store in virtual time, with their clients. A seed determines all events.

The world checks the physical state, the journal checks the acknowledged state, and the plan of each
transaction is compared with an independent reference.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from controller_journal import Journal, requests_of
from controller_reference import Limited, chosen, permitted
from controller_world import (
    PORTS,
    SETTLE_S,
    SWITCH,
    CrashError,
    FaultySwitch,
    World,
    WorldHook,
    matchings,
)
from sqlalchemy import event, func, select

from lightloom.controller import schema
from lightloom.controller.config import ControllerTable
from lightloom.controller.database import NO_ROLE, DeposedError
from lightloom.controller.deferred import end, waiting
from lightloom.controller.jobs import announce, set_boundary
from lightloom.controller.jobs import end as end_job
from lightloom.controller.leases import leases, release, reserve
from lightloom.controller.overview import alarms_of
from lightloom.controller.run import Loop, Role
from lightloom.controller.service import Controller, UnreachableError
from lightloom.controller.store import Store
from lightloom.controller.timed import Pace
from lightloom.controller.transaction_log import OPEN, OVER, Transaction
from lightloom.errors import ConfigError
from lightloom.switches.ports import Pair, name_of
from lightloom.switches.protocol import Outcome, Reading

RACKS = [f"r{number}" for number in range(1, PORTS + 1)]
CLIENTS = ("ann", "bob")
LEASE_S = 10.0
TICK_S = 5.0


class Until(NamedTuple):
    """Cumulative shares of the kinds of steps; in the remaining share a process dies."""

    soon: float
    later: float
    advice: float
    client: float


USUAL = Until(0.45, 0.49, 0.65, 0.95)
RESTLESS = Until(0.35, 0.36, 0.90, 0.97)
"""The policy changes its request in nearly all steps, and clients rarely request anything."""


class Host:
    """A machine that runs a controller, and restarts it after each crash."""

    def __init__(self, life: Life, name: str) -> None:
        self.life, self.name, self.number = life, name, 0
        self.is_stopped = False
        """Whether the process is stopped (SIGSTOP) within a call; its role is then not renewed."""
        self.is_busy = False
        """Whether an iteration of its loop is in progress."""
        self.begin()

    def begin(self) -> None:
        """Starts the process."""
        life, self.number = self.life, self.number + 1
        self.holder = f"{self.name}:{self.number}"
        self.store = life.open_store(self)
        pace = Pace(lambda: life.world.now, lambda seconds: life.delay(self, seconds))
        self.controller = Controller(
            life.config,
            self.store,
            life.world.clock,
            lambda one: LiveSwitch(self),
            LiveHook(self),
            pace=pace,
        )
        self.controller.switches[SWITCH].decider = Advisor(life)  # type: ignore[assignment]
        self.role = Role(self.store, LEASE_S, self.holder)
        self.loop = Loop(self.controller, self.role, lambda text: None, lambda: life.world.now)
        self.is_alive = True

    def die(self) -> None:
        """Ends the process, with all its state in memory."""
        self.is_alive = self.is_stopped = self.is_busy = False
        self.life.world.answered = set()
        self.life.forget_dark()

    def turn(self) -> None:
        """Renews the role and runs the actions of the loop that are due."""
        if self.is_busy or self.is_stopped:
            return
        if not self.is_alive:
            self.begin()
        self.is_busy = True
        try:
            self.role.renew()
            self.loop.turn()
        except CrashError:
            self.die()
        self.is_busy = False
        if self.is_alive and (failure := self.controller.failure) is not None:
            self.life.world.breaches.append(f"the loop failed: {failure}")


class Advisor:
    """A policy whose requests the seed determines, and which sometimes fails."""

    def __init__(self, life: Life) -> None:
        self._life = life

    def decide(self, demand: Any, lit: Any, mine: Any) -> list[Pair]:
        if self._life.world.faulty(0.05):
            raise ConfigError("policy: it cannot decide")
        return [*self._life.advice]


class LiveSwitch(FaultySwitch):
    """A switch whose answers take time, during which other processes act."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.life.world)
        self._host = host

    def read(self) -> Reading:
        found = super().read()
        # Another process may have ended meanwhile; this one has its answer.
        self.world.answered = {*found.pairs}
        return found

    def change(self, remove: Any, add: Any, *, wait_s: float = 60.0) -> Outcome:
        made = super().change(remove, add, wait_s=wait_s)
        self._host.life.delay(self._host, SETTLE_S)
        return made

    def before(self, remove: object, add: object) -> None:
        self._host.life.commanded(self._host)

    def after(self) -> None:
        self._host.life.meanwhile(self._host)


class LiveHook(WorldHook):
    """A hook whose answers take time, during which other processes act."""

    def __init__(self, host: Host) -> None:
        super().__init__(host.life.world)
        self._host = host

    def drain(self, switch: str, pairs: Any) -> None:
        super().drain(switch, pairs)
        self._host.life.meanwhile(self._host)

    def enter(self, switch: str, pairs: Any) -> None:
        super().enter(switch, pairs)
        self._host.life.meanwhile(self._host)


class Witnessed(Store):
    """A store that reports transactions to the checks when they are planned and when they end."""

    life: Life

    def plan(self, switch: str, plan: Mapping[str, Any], who: str) -> Transaction:
        made = super().plan(switch, plan, who)
        self.life.planned(made)
        return made

    def move(
        self,
        number: int,
        state: str,
        reason: str = "",
        before: Any = None,
        dark_s: float = 0.0,
        dark: Any = (),
    ) -> Transaction:
        moved = super().move(number, state, reason, before, dark_s, dark)
        self.life.moved(moved)
        if state in OVER:
            self.life.ended(moved)
        return moved


class Life:
    """A life of two controllers."""

    def __init__(
        self,
        seed: int,
        config: ControllerTable,
        url: str = "sqlite://",
        *,
        is_restless: bool = False,
    ) -> None:
        self.world = World(seed)
        self.until = RESTLESS if is_restless else USUAL
        self.chance = self.world.random
        self.config = config
        self.url = url
        self._is_watched = True
        self._shared: Store | None = None
        self._world_of_a_life()
        self.limited = Limited(config.limits, SETTLE_S)
        self.advice: list[Pair] = []
        self.matrix = [[0] * PORTS for _ in RACKS]
        self.policy_before: dict[Pair, float] = {}
        """The request of the policy when its last change was carried out, with the start time of
        each cross-connect."""
        self.spans: list[tuple[float, float]] = []
        """Times during which cross-connects that the policy gave up were dark."""
        self.given_up: dict[int, set[Pair]] = {}
        """By transaction of the policy: the cross-connects of its earlier request that the
        transaction removes."""
        self._nested = 0
        self.hosts: list[Host] = []
        self.seen = self._opened(Store)
        """A view of the store for the checks, which no process owns."""
        self.journal = Journal(self.rows, self.records)
        self.hosts = [Host(self, name) for name in ("one", "two")]
        self._advise()

    def _world_of_a_life(self) -> None:
        world, chance = self.world, self.chance
        world.crash_share = 1 / 150
        world.crashes_left = chance.choice([0, 1, 2, 4])
        world.faults_left = chance.choice([0, 0, 4, 8, 16])
        world.fault_factor = chance.choice([1.0, 1.0, 5.0])
        world.foreign = chance.random() < 0.5
        world.stuck_from = chance.randint(0, 300)
        world.stuck_port = chance.choice([None] * 3 + [1])
        world.dim_port = chance.choice([None] * 4 + [2])
        world.is_permissive = chance.random() < 0.3
        world.lies_left = chance.choice([0, 0, 1, 3])
        for pair in matchings(chance)[: chance.choice([0, 0, 2])]:
            world.lit.add(pair)
            world.foreigners.add(pair)

    # The store

    def open_store(self, host: Host) -> Store:
        """Opens the store for a starting process, which has no role."""
        store = self._opened(Witnessed)
        store.life = self  # type: ignore[attr-defined]
        store.fence = NO_ROLE
        return store

    def _opened(self, kind: type[Store]) -> Store:
        if self._shared is None or self.url != "sqlite://":
            store = kind(self.url, self.world.clock)
            event.listen(store._engine, "commit", lambda connection: self._committing())
            self._shared = self._shared or store
            return store
        # The same database in memory, opened as by another process.
        store = copy.copy(self._shared)
        store.__class__ = kind
        store._lock = threading.RLock()
        return store

    def _committing(self) -> None:
        if self._is_watched:
            self.world.point()

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Disables crashes while the checks read the store."""
        before, self._is_watched = self._is_watched, False
        try:
            yield
        finally:
            self._is_watched = before

    def rows(self, table: Any, **where: Any) -> list[dict[str, Any]]:
        """Returns rows of the store."""
        with self.unwatched():
            return self.seen.rows(table, **where)

    def records(self) -> int:
        """The number of the last audit record."""
        with self.unwatched(), self.seen._read() as db:
            return db.execute(select(func.max(schema.audit.c.id))).scalar() or 0

    # Time, in which others act

    def delay(self, host: Host, seconds: float) -> None:
        """Advances time while a process waits; a parallel thread renews its role."""
        until = self.world.now + seconds
        while self.world.now < until:
            self.world.now += min(LEASE_S / 3, until - self.world.now)
            if not host.is_stopped:
                host.role.renew()

    def meanwhile(self, host: Host) -> None:
        """Lets other processes act while a process waits for an answer."""
        if self._nested or self.chance.random() > 0.1:
            return
        self._nested += 1
        try:
            if self.chance.random() < 0.7:
                self.delay(host, self.chance.choice([0.1, 1.0, 30.0]))
                self.client(host)
            else:
                self._stop(host)
        finally:
            self._nested -= 1

    def _stop(self, host: Host) -> None:
        """Stops the process for longer than its lease."""
        host.is_stopped = True
        self.forget_dark()
        other = next(one for one in self.hosts if one is not host)
        for _ in range(self.chance.randint(1, 4)):
            self.delay(host, self.chance.choice([1.0, 8.0, 15.0]))
            other.turn()
            if self.chance.random() < 0.3 and other.is_alive and not other.is_busy:
                self.client(other)
        host.is_stopped = False
        if self.chance.random() < 0.5:
            host.role.renew()

    # Checks

    def commanded(self, host: Host) -> None:
        """Checks that a command that reaches the switch is from the controller with the role."""
        (row,) = self.rows(schema.role)
        is_held = row["holder"] == host.holder and row["fence"] == host.store.fence
        if not is_held or row["until"] <= self.world.now - 0.1:
            self.world.breaches.append(f"{host.name} commands, and {row['holder']} has the role")

    def planned(self, made: Transaction) -> None:
        """Compares a plan with the requests in force at this time."""
        self.world.kept = {*made.pairs("kept")}
        now = made.created
        if any(request["owner"] == "policy" for request in made.plan["due"]):
            mine = {(row["a"], row["b"]) for row in self.rows(schema.intent, owner="policy")}
            self.given_up[made.id] = {*made.pairs("removed")} & mine
            self.forget_dark()
        if any(abs(now - at) < 0.2 for at in self._boundaries()):
            return
        requests = requests_of(self.rows, now, made.plan.get("deferred", []), "policy")
        lit = self.world.answered
        there = (lit, self.drift(lit))
        before = chosen(
            [*requests, *((0, since, p, "policy") for p, since in self.before())], *there
        )
        after = chosen([*requests, *((0, now, pair, "policy") for pair in self.advice)], *there)
        # Of a circuit that is blocked, what the policy has already stays requested.
        mine = {pair for pair, _ in self.before()}
        part = [pair for pair in self.advice if after.get(pair) == "policy" or pair in mine]
        left = chosen([*requests, *((0, now, pair, "policy") for pair in part)], *there)
        fitting = [target for target in (after, left) if self._fits(made, lit, target)]
        if self._fits(made, lit, before):
            target = before
        elif fitting:
            target = fitting[0]
            self._check_limits(made, before, target)
        else:
            self.world.breaches.append(f"{made} fits neither {before} nor {after} of {lit}")
            return
        self._check_leases(made, target)
        self._check_deferred(made, now)

    def before(self) -> list[tuple[Pair, float]]:
        """Returns the request of the policy before its change, without cross-connects that an undo
        has removed."""
        rows = self.rows(schema.intent, owner="policy")
        there = {(row["a"], row["b"]) for row in rows}
        taken = self.journal.taken()
        return [(p, at) for p, at in self.policy_before.items() if p in there or p not in taken]

    def drift(self, lit: set[Pair]) -> set[Pair]:
        """Returns the lit cross-connects that the controller must not remove."""
        owned = {(row["a"], row["b"]) for row in self.rows(schema.owned)}
        return set() if self.config.unowned == "remove" else lit - owned

    def _boundaries(self) -> list[float]:
        rows = self.rows(schema.lease)
        ends = [row["ends"] if row["released"] is None else row["released"] for row in rows]
        return [row["begins"] for row in rows] + ends

    def _fits(self, made: Transaction, lit: set[Pair], target: Mapping[Pair, str]) -> bool:
        removed, added = {*made.pairs("removed")}, {*made.pairs("added")}
        self.journal.adopt()
        foreign = set() if self.config.unowned == "remove" else self.world.foreigners
        return (
            {*made.pairs("kept")} == lit & target.keys()
            and added <= target.keys() - lit
            and removed <= lit - target.keys() - (foreign - self.journal.adopted)
        )

    def _check_leases(self, made: Transaction, target: Mapping[Pair, str]) -> None:
        """Checks that a change touches no port under another owner's lease."""
        held = [pair for pair, owner in target.items() if owner.startswith("lease")]
        for a, b in held:
            if (a, b) in made.pairs("removed"):
                self.world.breaches.append(f"{(a, b)} is leased, and {made} removes it")
            for pair in made.pairs("added"):
                if pair != (a, b) and (pair[0] == a or pair[1] == b):
                    self.world.breaches.append(f"{(a, b)} is leased, and {made} adds {pair}")

    def _check_deferred(self, made: Transaction, now: float) -> None:
        for number in made.plan.get("deferred", []):
            (row,) = self.rows(schema.deferred, id=number)
            if row["outcome"] is not None or (row["at"] is not None and row["at"] > now):
                self.world.breaches.append(f"{made} carries out {row}")
            if row["at"] is None and not self._may_policy_stop_jobs(made):
                others = [other for other in made.plan["deferred"] if other != number]
                before = chosen(requests_of(self.rows, now, others, ""))
                for job in self._running({*made.pairs("removed")} & before.keys(), now):
                    self.world.breaches.append(f"{made} carries out {row}, and {job} runs")

    def _may_policy_stop_jobs(self, made: Transaction) -> bool:
        is_policys = any(request["owner"] == "policy" for request in made.plan["due"])
        return is_policys and self.config.limits.when == "now"

    def _check_limits(
        self, made: Transaction, before: Mapping[Pair, str], after: Mapping[Pair, str]
    ) -> None:
        """Checks the limits of the policy for a change of the policy."""
        now = made.created
        ours = {pair: since for pair, since in self.before() if pair not in self.advice}
        darkens = bool(self.given_up.get(made.id))
        problem = permitted(self.limited, now, self.spans, ours, self.gained(), darkens=darkens)
        if problem is not None:
            self.world.breaches.append(f"{made} of the policy: {problem}")
        if self.config.limits.when == "at checkpoint":
            lost = (self.world.answered & before.keys()) - after.keys()
            for job in self._running(lost, now):
                self.world.breaches.append(f"{made} of the policy stops {job}")

    def gained(self) -> float:
        """Returns the share of the demand that the advice adds."""
        whole = sum(map(sum, self.matrix))
        mine = [pair for pair, _ in self.before()]
        shares = [sum(self.matrix[a - 1][b - 1] for a, b in p) for p in (self.advice, mine)]
        return (shares[0] - shares[1]) / whole if whole else 0.0

    def _running(self, lost: set[Pair], now: float) -> list[str]:
        racks = {RACKS[port - 1] for pair in lost for port in pair}
        found = []
        for row in self.rows(schema.job, ended=None):
            is_paused = row["begins"] is not None and (
                row["begins"] <= now + 0.1 and now + SETTLE_S <= row["ends"] + 0.1
            )
            if not is_paused and any(f'"{rack}"' in row["racks"] for rack in racks):
                found.append(row["name"])
        return found

    def forget_dark(self) -> None:
        """Discards dark times that have no cause in a change of a running controller."""
        self.world.dark_since.clear()
        self.world.dark_spans.clear()

    def moved(self, moved: Transaction) -> None:
        """Records the dark time of the removed cross-connects after a step of a transaction."""
        ours, now = self.given_up.get(moved.id, set()), self.world.now
        spans = [(since, end) for pair, since, end in self.world.dark_spans if pair in ours]
        spans += [(since, now) for pair, since in self.world.dark_since.items() if pair in ours]
        if spans:
            self.spans.append((min(since for since, _ in spans), max(end for _, end in spans)))
        self.forget_dark()

    def ended(self, moved: Transaction) -> None:
        """A transaction is over."""
        self.world.kept = set()
        self.journal.end(moved)
        if moved.state == "done":
            self.follow()

    def follow(self) -> None:
        """Records that the request of the policy is carried out."""
        rows = self.rows(schema.intent, owner="policy")
        now = self.world.now
        pairs = {(row["a"], row["b"]) for row in rows}
        self.policy_before = {pair: self.policy_before.get(pair, now) for pair in pairs}
        self.journal.taken_from_policy.clear()

    # A life

    def step(self) -> None:
        """Performs a random step."""
        what = self.chance.random()
        until = self.until
        if what < until.soon:
            self.world.now += self.chance.choice([TICK_S, TICK_S, 30.0])
        elif what < until.later:
            self.world.now += self.chance.choice([300.0, 1800.0])
        elif what < until.advice:
            self._advise()
        elif what < until.client:
            host = self.chance.choice(self.hosts)
            if host.is_alive:
                self.client(host)
        else:
            host = self.chance.choice(self.hosts)
            host.die()
        first = self.hosts if self.chance.random() < 0.9 else self.hosts[::-1]
        for host in first:
            host.turn()
        self.check()

    def _advise(self) -> None:
        self.advice = self.chance.choice([self.advice, matchings(self.chance)])
        self.matrix = [[0 if a == b else self.chance.randint(0, 9) for b in RACKS] for a in RACKS]
        for host in self.hosts:
            collector = host.controller.collector
            collector.send(SWITCH, self.matrix, self.world.now, "test")

    def check(self) -> None:
        """Checks the invariants that hold after every step."""
        assert self.world.breaches == []
        self.journal.observe()
        with self.unwatched():
            left = self.seen.transactions(states=OPEN)
        assert len(left) <= 1
        wanted = {(row["a"], row["b"]) for row in self.rows(schema.intent, owner="policy")}
        if not left and wanted - self.policy_before.keys() <= self.world.lit:
            # The request was already carried out.
            self.follow()

    def client(self, host: Host) -> None:
        """A client sends a random request to a controller."""
        requests: list[tuple[int, Callable[[Host], None]]] = [
            (6, self._apply),
            (3, self._later),
            (2, self._withdraw),
            (1, self._undo),
            (4, self._reserve),
            (1, self._release),
            (2, self._announce),
            (3, self._boundary),
        ]
        weights = [weight for weight, _ in requests]
        (chosen_one,) = self.chance.choices([act for _, act in requests], weights)
        try:
            chosen_one(host)
        except CrashError:
            if host.is_busy:
                raise
            host.die()

    def _ask(self, act: Callable[[], Any], effect: Callable[[dict[str, Any]], None]) -> bool:
        """Sends a request; returns whether it was acknowledged."""
        self.journal.observe()
        try:
            with self.journal.asked(effect):
                act()
        except (DeposedError, ConfigError):
            self.journal.observe()
            return False
        return True

    def _apply(self, host: Host) -> None:
        who, pairs = self.chance.choice(CLIENTS), matchings(self.chance)[:3]
        priority = self.chance.choice([0, 0, 5])
        act = lambda: host.controller.want(SWITCH, pairs, who, priority)  # noqa: E731
        done = self._ask(act, self.journal.wanted(who, pairs, priority))
        if done and not host.is_busy:
            self._reconcile(host, who)

    def _reconcile(self, host: Host, who: str) -> None:
        host.is_busy = True
        try:
            host.controller.reconcile(SWITCH, who)
        except (UnreachableError, ConfigError, DeposedError):
            pass
        finally:
            host.is_busy = False

    def _later(self, host: Host) -> None:
        who, pairs = self.chance.choice(CLIENTS), matchings(self.chance)[:3]
        at = self.chance.choice([None, self.world.now + self.chance.choice([1.0, 60.0, 600.0])])
        act = lambda: host.controller.want_later(SWITCH, pairs, who, 0, at)  # noqa: E731
        self._ask(act, self.journal.deferred(who, pairs, at))

    def _withdraw(self, host: Host) -> None:
        with self.unwatched():
            there = waiting(self.seen)
        if there:
            one = self.chance.choice(there)
            act = lambda: end(host.store, one.id, one.who, "withdrawn", self.world.now)  # noqa: E731
            self._ask(act, self.journal.withdrawn(one.id))

    def _undo(self, host: Host) -> None:
        with self.unwatched():
            done = self.seen.transactions(SWITCH, ["done"], limit=4)
        # The journal follows one undo at a time.
        if done and not host.is_busy and not self.journal.is_undoing:
            one, who = self.chance.choice(done), self.chance.choice(CLIENTS)
            self.journal.observe()
            host.is_busy = True
            try:
                with self.journal.undoing(one, who):
                    host.controller.undo(one.id, who)
            except (UnreachableError, ConfigError, DeposedError):
                pass
            finally:
                host.is_busy = False

    def _reserve(self, host: Host) -> None:
        a, b = self.chance.sample(RACKS, 2)
        who, priority = self.chance.choice(CLIENTS), self.chance.choice([0, 0, 5])
        begins = self.world.now + self.chance.choice([0.0, 0.0, 20.0, 300.0])
        ends = begins + self.chance.choice([15.0, 60.0, 900.0])
        act = lambda: reserve(host.store, SWITCH, (a, b), who, priority, begins, ends)  # noqa: E731
        self._ask(act, self.journal.reserved((a, b), who, priority, begins, ends))

    def _release(self, host: Host) -> None:
        with self.unwatched():
            there = leases(self.seen, self.world.now + 1)
        if there:
            one, now = self.chance.choice(there), self.world.now
            act = lambda: release(host.store, one.id, one.owner, now)  # noqa: E731
            self._ask(act, self.journal.released(one.id, now))

    def _announce(self, host: Host) -> None:
        name, racks = self.chance.choice(["t1", "t2"]), self.chance.sample(RACKS, 2)
        if self.chance.random() < 0.3 and self.rows(schema.job, name=name, ended=None):
            now = self.world.now
            self._ask(lambda: end_job(host.store, name, "s", now), self.journal.job_ended(name))
            return
        now = self.world.now
        act = lambda: announce(host.store, name, "s", racks, 8, now)  # noqa: E731
        self._ask(act, self.journal.announced(name, racks))

    def _boundary(self, host: Host) -> None:
        jobs = self.rows(schema.job, ended=None)
        if jobs:
            name = self.chance.choice(jobs)["name"]
            begins = self.world.now + self.chance.choice([0.0, 10.0])
            ends = begins + self.chance.choice([1.0, 60.0])
            times = (begins, ends, self.world.now)
            act = lambda: set_boundary(host.store, name, "s", *times)  # noqa: E731
            self._ask(act, self.journal.bounded(name, begins, ends))

    # Its end

    def calm(self) -> None:
        """Ends all faults, and checks that the switch reaches the requested state or that the
        controller reports why it does not."""
        world = self.world
        world.crashes_left = world.faults_left = world.lies_left = 0
        world.foreign = False
        self._nested += 1
        for _ in range(4):
            for _ in range(3):
                world.now += LEASE_S / 2
                for host in self.hosts:
                    host.turn()
            # The longest pause before a failed change is tried again.
            world.now += 700.0
            self.check()
        active = next(host for host in self.hosts if host.role.held)
        if self._is_stuck():
            active.role.renew()
            self._reconcile(active, "ann")
        self.check()
        self._check_rest()

    def _has_failed(self, pair: Pair, what: str) -> bool:
        """Whether the last change that should add or remove a cross-connect failed."""
        with self.unwatched():
            made = self.seen.transactions(SWITCH, limit=1000)
        tried = [one.state for one in made if pair in one.pairs(what)]
        return bool(tried) and tried[0] in ("undone", "stuck")

    def _of_stuck(self) -> set[Pair]:
        """The cross-connects that stuck changes name: an operator has to check them."""
        with self.unwatched():
            stuck = self.seen.stuck(SWITCH)
        return {p for one in stuck for name in ("removed", "added") for p in one.pairs(name)}

    def _is_stuck(self) -> bool:
        with self.unwatched():
            return bool(self.seen.stuck(SWITCH))

    def _named_dark(self) -> set[Pair]:
        """Returns the cross-connects that an alarm of a running controller reports as dark."""
        with self.unwatched():
            alarms = [alarms_of(host.controller) for host in self.hosts if host.is_alive]
        named = [
            {pair for pair in self.world.lit if str(alarm["text"]).startswith(name_of(pair) + " ")}
            for several in alarms
            for alarm in several
            if alarm["kind"] == "dark"
        ]
        return set.union(*named) if named else set()

    def _check_rest(self) -> None:
        with self.unwatched():
            assert self.seen.broken_link() is None
            assert self.seen.transactions(states=OPEN) == []
            for one in self.seen.transactions(states=["undone", "stuck"], limit=1000):
                assert one.reason
                assert one.state == "undone" or "circuits apply" in one.reason
        now, world = self.world.now, self.world
        requests = requests_of(self.rows, now, [], "")
        target = chosen(requests, world.lit, self.drift(world.lit))
        missing = {pair for pair in target if pair not in world.lit}
        held = world.lit - target.keys()
        missing = {p for p in missing if not any(p[0] == a or p[1] == b for a, b in held)}
        unowned = {*world.foreigners}
        surplus = held - unowned
        bright = {pair for pair in target.keys() & world.lit if pair[1] != world.dim_port}
        bright -= self._of_stuck()
        assert not (world.drained & bright), "traffic is kept away"
        if missing or surplus:
            for pair in missing:
                assert self._has_failed(pair, "added"), (missing, surplus)
            for a, b in surplus:
                is_in_way = any(a == c or b == d for c, d in missing)
                assert is_in_way or self._has_failed((a, b), "removed"), (missing, surplus)
            assert world.stuck_port is not None or world.dim_port is not None, (missing, surplus)
            return
        if self.config.unowned == "remove":
            assert held == set()
        kept_away = world.drained & world.lit & target.keys()
        assert self._is_stuck() or kept_away <= self._named_dark(), (
            "traffic is kept away, and no alarm says so"
        )
