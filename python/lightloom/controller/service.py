"""The reconcile loop: read what is lit, compare with what is wanted, change, verify.

What is wanted comes from operators, from leases and from the policy. Leases come first, then
operators, then the policy; within one of these the higher priority, then the older one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lightloom.controller.change import Change, change_to
from lightloom.controller.config import ControllerTable
from lightloom.controller.decider import Decider
from lightloom.controller.demand import Collector, Seen
from lightloom.controller.hooks import Hook, HttpHook, NoHook
from lightloom.controller.leases import leases
from lightloom.controller.limits import Limits
from lightloom.controller.racks import Racks
from lightloom.controller.store import OPEN, DeposedError, Store, Transaction, Wanted
from lightloom.controller.transaction import Executor
from lightloom.durations import duration_ps
from lightloom.errors import ConfigError, refusal
from lightloom.switches.ports import Pair, name_of
from lightloom.switches.protocol import CircuitSwitch, Description, SwitchError
from lightloom.switches.targets import open_target

POLICY, LEASE, OPERATOR = "policy", "lease", "operator"
SELF = "controller"
"""Who reconciles at every interval."""
MOST_FAILURES = 12
LONGEST_PAUSE_S = 600.0
"""The longest pause before a failed change is tried again."""
PRIORITY = {POLICY: 0, OPERATOR: 1_000, LEASE: 2_000}
"""Added to the priority of an intent by its kind."""


class UnreachableError(Exception):
    """A switch that does not answer: what is wanted is kept, and nothing was changed."""


@dataclass
class Managed:
    """A switch of the controller and what is known of it."""

    name: str
    url: str
    racks: Racks
    credentials: Path | None = None
    decider: Decider | None = None
    description: Description | None = None
    lit: list[Pair] = field(default_factory=list)
    power: dict[str, float] = field(default_factory=dict)
    read_at: float | None = None
    trouble: str | None = None
    """Why it could not be read; None if it could."""
    advice: list[Pair] | None = None
    """What the policy wants; None if it has not decided."""
    held_back: str | None = None
    """Why the advice is not carried out."""
    unowned: list[Pair] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    demand: Seen | None = None
    decided_at: float | None = None


class Controller:
    """The service, without its HTTP interface."""

    def __init__(
        self,
        config: ControllerTable,
        store: Store,
        clock: Callable[[], float] = time.time,
        opener: Callable[[Managed], CircuitSwitch] | None = None,
        hook: Hook | None = None,
    ) -> None:
        """Reads port maps and builds policies; no switch is asked yet.

        Raises:
            ConfigError: of a port map or a policy.
        """
        self.config = config
        self.store = store
        self.clock = clock
        self.limits = Limits.of(config.limits)
        self.collector = Collector(config.demand.folder, config.demand.prometheus)
        self.changed = threading.Condition()
        self.version = 0
        """Counts what a dashboard has to show."""
        self.failure: str | None = None
        """Why the loop failed the last time; None if it did not."""
        self._lock = threading.RLock()
        self._opener = opener or _opened
        self.switches: dict[str, Managed] = {}
        for table in config.switch:
            racks = Racks(table.ports)
            policy = config.policy_table
            decider = None if policy is None else Decider(policy, racks, config.interval)
            one = Managed(table.name, table.url, racks, table.credentials, decider)
            self.switches[table.name] = one
        own = HttpHook(config.hook) if config.hook else NoHook()
        self._executor = Executor(store, self._open, hook or own)

    def _open(self, name: str) -> CircuitSwitch:
        return self._opener(self.switches[name])

    def managed(self, name: str) -> Managed:
        """The switch of a name.

        Raises:
            ConfigError: if there is none.
        """
        if name not in self.switches:
            known = ", ".join(self.switches)
            raise refusal("switch", name, "no such switch", f"name one of {known}")
        return self.switches[name]

    # What is wanted

    def want(self, switch: str, pairs: Sequence[Pair], who: str, priority: int = 0) -> None:
        """Sets the cross-connects that an operator wants on a switch.

        Raises:
            ConfigError: of a port that is in two of them, or not on the switch.
        """
        self.check_pairs(self.managed(switch), pairs)
        owner = f"{OPERATOR}:{who}"
        self.store.want(switch, owner, pairs, PRIORITY[OPERATOR] + priority, who)
        self._tell()

    @staticmethod
    def check_pairs(one: Managed, pairs: Sequence[Pair]) -> None:
        """Refuses cross-connects that cannot be lit together.

        Raises:
            ConfigError: of a port that is in two of them, or not on the switch.
        """
        for side in (0, 1):
            seen: set[int] = set()
            for pair in pairs:
                if pair[side] in seen:
                    limit = "a port is in one cross-connect"
                    name = f"{pair[side]}{'AB'[side]}"
                    raise refusal("cross_connects", name, limit, "name each port once")
                seen.add(pair[side])
        if one.description is not None:
            size = one.description.size
            for a, b in pairs:
                if not 1 <= a <= size.a or not 1 <= b <= size.b:
                    limit = f"the switch has {size} ports"
                    raise refusal("cross_connects", name_of((a, b)), limit, "choose other ports")

    def wanted(self, switch: str) -> list[Wanted]:
        """All intents of a switch, active leases among them, the most important first."""
        now, racks = self.clock(), self.managed(switch).racks
        found = self.store.intents(switch)
        for lease in leases(self.store, switch):
            if lease.is_active(now):
                ends = (racks.number(lease.racks[0]), racks.number(lease.racks[1]))
                priority = PRIORITY[LEASE] + lease.priority
                owner = f"{LEASE}:{lease.id} ({lease.owner})"
                pairs = racks.pairs([ends])
                found += [Wanted(pair, owner, priority, lease.begins) for pair in pairs]
        return sorted(found, key=lambda one: (-one.priority, one.since, one.pair))

    # The loop

    def start(self) -> list[Transaction]:
        """Finishes or undoes what a crash left, and reads every switch; returns the former."""
        with self._lock:
            recovered = self._executor.recover()
            for one in self.switches.values():
                self._read(one)
            self._tell()
            return recovered

    def _read(self, one: Managed) -> bool:
        try:
            switch = self._opener(one)
            try:
                if one.description is None:
                    one.description = switch.describe()
                    one.racks.check(one.description.size, one.name)
                one.lit = switch.read().pairs
                measured = switch.power()
                one.power = {str(port): level for port, level in (measured or {}).items()}
            finally:
                switch.close()
        except SwitchError as problem:
            one.trouble = str(problem)
            return False
        one.trouble, one.read_at = None, self.clock()
        return True

    def cycle(self) -> list[Transaction]:
        """One pass over all switches: decide, compare, and change where needed."""
        with self._lock:
            # Such as a change whose hook failed at its end.
            made = self._executor.recover()
        for one in self.switches.values():
            with self._lock:
                if self._read(one):
                    self._decide(one)
                    made += self._reconcile(one, SELF)
            self._tell()
        return made

    def reconcile(self, name: str, who: str) -> list[Transaction]:
        """Compares one switch with what is wanted now, and changes it.

        Raises:
            UnreachableError: if the switch does not answer.
        """
        with self._lock:
            one = self.managed(name)
            if not self._read(one):
                raise UnreachableError(
                    f"switch = {name}: {one.trouble}; check the switch and its address"
                )
            made = self._reconcile(one, who)
        self._tell()
        return made

    def _decide(self, one: Managed) -> None:
        if one.decider is None:
            return
        try:
            one.demand = self.collector.latest(one.name, one.racks, self.clock())
        except ConfigError as problem:
            one.held_back = str(problem)
            return
        now = self.clock()
        older = duration_ps("demand.older", self.config.demand.older) / 1e12
        if one.demand is None or now - one.demand.at > older:
            one.held_back = "there is no recent demand"
            return
        try:
            one.advice = one.decider.decide(one.demand.matrix, one.lit)
        except ConfigError as problem:
            # A policy that fails changes nothing; a new one is built from its table.
            one.held_back = str(problem)
            policy = self.config.policy_table
            if policy is not None:
                one.decider = Decider(policy, one.racks, self.config.interval)
            return
        one.decided_at = now
        self._follow(one, now)

    def _follow(self, one: Managed, now: float) -> None:
        """The policy's advice becomes an intent, unless a limit holds it back."""
        if self.config.mode == "advise":
            one.held_back = 'mode = "advise"'
            return
        advice = one.advice or []
        mine = [w for w in self.store.intents(one.name) if w.owner == POLICY]
        if {w.pair for w in mine} == {*advice}:
            one.held_back = None
            return
        gained = self.share(one, advice) - self.share(one, [w.pair for w in mine])
        lit = [(w.pair, w.since) for w in mine]
        spent = [(t.created, t.updated - t.created) for t in self.store.transactions(one.name)]
        settle = one.description.settle_ps if one.description is not None else None
        dark_s = 0.0 if settle is None else settle / 1e12
        one.held_back = self.limits.refusal(now, advice, lit, gained, spent, dark_s)
        if one.held_back is None:
            self.store.want(one.name, POLICY, advice, PRIORITY[POLICY], POLICY)

    def share(self, one: Managed, pairs: Sequence[Pair]) -> float:
        """The share of the demand whose racks cross-connects join."""
        if one.demand is None:
            return 0.0
        whole = sum(map(sum, one.demand.matrix))
        directed, circuits = one.racks.circuits(pairs)
        ways = [*circuits] if directed else [*circuits, *((b, a) for a, b in circuits)]
        return sum(one.demand.matrix[a][b] for a, b in ways) / whole if whole else 0.0

    def difference(self, name: str) -> Change:
        """What a reconciliation of a switch would change."""
        one = self.managed(name)
        return change_to(
            one.lit,
            self.wanted(name),
            self.store.owned(name),
            remove_unowned=self.config.unowned == "remove",
        )

    def _reconcile(self, one: Managed, who: str) -> list[Transaction]:
        change = self.difference(one.name)
        one.unowned = [*change.unowned]
        one.conflicts = [str(conflict) for conflict in change.conflicts]
        if change.is_empty or (who == SELF and self._waits(one.name, change)):
            return []
        if who == SELF and self.store.transactions(one.name, OPEN, limit=1):
            # Its hook failed: the next cycle resumes it first.
            return []
        try:
            made = self._executor.run(one.name, change, one.lit, who)
        except DeposedError:
            raise
        except SwitchError as problem:
            one.trouble = str(problem)
            return []
        self._read(one)
        return [made]

    def _waits(self, name: str, change: Change) -> bool:
        """Whether a change that failed before is not to be tried yet: each failure doubles the
        pause, as every attempt drains traffic; a stuck one waits for an operator."""
        plan = change.plan([])
        failures, newest = 0, 0.0
        for last in self.store.transactions(name, limit=MOST_FAILURES):
            same = last.pairs("added") == plan["added"] and last.pairs("removed") == plan["removed"]
            if last.state == "stuck" and same:
                return True
            if last.state != "undone" or not same:
                break
            failures += 1
            newest = max(newest, last.updated)
        if failures == 0:
            return False
        interval = duration_ps("interval", self.config.interval) / 1e12
        pause = min(LONGEST_PAUSE_S, interval * 2.0**failures)
        return self.clock() < newest + pause

    def undo(self, number: int, who: str) -> list[Transaction]:
        """Makes a switch as it was before a transaction: the operator then wants that.

        Raises:
            ConfigError: if there is no such transaction, or it is not done.
        """
        found = self.store.transaction(number)
        if found is None or found.state != "done":
            limit = "no such transaction" if found is None else f"it is {found.state}"
            raise refusal("transaction", number, limit, "name one that is done")
        self.managed(found.switch)
        added, removed = {*found.pairs("added")}, {*found.pairs("removed")}
        owner = f"{OPERATOR}:{who}"
        wishes: dict[str, list[Wanted]] = {owner: []}
        for wanted in self.store.intents(found.switch):
            wishes.setdefault(wanted.owner, []).append(wanted)
        for other, own in wishes.items():
            left = {wanted.pair for wanted in own} - added
            if other == owner:
                left |= removed
            elif len(left) == len(own):
                continue
            rank = own[0].priority if own else PRIORITY[OPERATOR]
            self.store.want(found.switch, other, sorted(left), rank, who)
        return self.reconcile(found.switch, who)

    # What is to be seen

    def state(self) -> dict[str, Any]:
        """The state of all switches as the interface and the dashboard show it."""
        with self._lock:
            return {
                "name": self.config.name,
                "mode": self.config.mode,
                "now": self.clock(),
                "version": self.version,
                "switches": [self._seen(one) for one in self.switches.values()],
                "transactions": [_shown(one) for one in self.store.transactions(limit=20)],
                "leases": [
                    {**vars(one), "active": one.is_active(self.clock())}
                    for one in leases(self.store)
                    if one.until > self.clock()
                ],
                "alarms": self.alarms(),
            }

    def _seen(self, one: Managed) -> dict[str, Any]:
        wanted = self.wanted(one.name)
        lit = {*one.lit}
        about = one.description
        return {
            "name": one.name,
            "url": one.url,
            "model": "" if about is None else about.model,
            "ports": "" if about is None else str(about.size),
            "read_at": one.read_at,
            "trouble": one.trouble,
            "racks": one.racks.names,
            "lit": [self._named(one, pair) for pair in one.lit],
            "wanted": [
                {**self._named(one, w.pair), "owner": w.owner, "lit": w.pair in lit} for w in wanted
            ],
            "advice": None if one.advice is None else [self._named(one, p) for p in one.advice],
            "held_back": one.held_back,
            "unowned": [name_of(pair) for pair in one.unowned],
            "conflicts": one.conflicts,
            "demand": None if one.demand is None else vars(one.demand),
            "carried": self.share(one, one.lit),
        }

    def _named(self, one: Managed, pair: Pair) -> dict[str, Any]:
        return {"name": name_of(pair), "pair": pair, "racks": one.racks.named(pair)}

    def alarms(self) -> list[dict[str, Any]]:
        """What needs an operator."""
        found = []
        if self.failure is not None:
            found.append({"kind": "failed", "switch": "all", "text": self.failure})
        for one in self.switches.values():
            if one.trouble is not None:
                found.append({"kind": "unreachable", "switch": one.name, "text": one.trouble})
            if one.unowned and self.config.unowned == "report":
                text = f"{', '.join(map(name_of, one.unowned))}: they have no owner"
                found.append({"kind": "drift", "switch": one.name, "text": text})
            for text in one.conflicts:
                found.append({"kind": "conflict", "switch": one.name, "text": text})
            last = self.store.transactions(one.name, limit=1)
            if last and last[0].state == "stuck":
                text = f"transaction {last[0].id}: {last[0].reason}"
                found.append({"kind": "stuck", "switch": one.name, "text": text})
        return found

    def _tell(self) -> None:
        with self.changed:
            self.version += 1
            self.changed.notify_all()


def _shown(one: Transaction) -> dict[str, Any]:
    names: Mapping[str, list[str]] = {
        key: [name_of(pair) for pair in one.pairs(key)] for key in ("removed", "added", "kept")
    }
    return {**vars(one), **names}


def _opened(one: Managed) -> CircuitSwitch:
    return open_target(one.url, one.credentials)
