"""The controller in virtual time: a seed decides faults, crashes at every step, slow and lying
switches, and a second client that changes circuits. After each run the invariants hold."""

import random
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import pytest
from sqlalchemy import event

from lightloom.controller.change import Change, change_to
from lightloom.controller.hooks import HookError
from lightloom.controller.store import OPEN, Store, Transaction
from lightloom.controller.transaction import Executor, Steps
from lightloom.switches.ports import Pair, Port
from lightloom.switches.protocol import (
    CrossConnect,
    Description,
    Outcome,
    Reading,
    SwitchError,
)
from lightloom.switches.states import Status

PORTS = 5
SWITCH = "east"


class CrashError(BaseException):
    """The controller's process ends here."""


class World:
    """What is physically so, and what must never be."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lit: set[Pair] = set()
        self.drained: set[Pair] = set()
        self.now = 1_000_000.0
        self.crashes_left = self.random.choice([0, 1, 1, 2, 3])
        self.faults_left = self.random.choice([0, 0, 1, 2, 4])
        self.kept: set[Pair] = set()
        """Cross-connects that the transaction under way must not touch."""
        self.foreign = self.random.random() < 0.15
        self.breaches: list[str] = []
        self.stuck_port = self.random.choice([None] * 4 + [1])
        self.stuck_from = self.random.randint(0, 60)
        """From this step on the mirror of that port does not move."""
        self.steps = 0

    def clock(self) -> float:
        self.now += 0.001
        return self.now

    def point(self) -> None:
        """A place at which the process may crash."""
        self.steps += 1
        if self.crashes_left and self.random.random() < 0.05:
            self.crashes_left -= 1
            raise CrashError

    def faulty(self, share: float) -> bool:
        if self.faults_left and self.random.random() < share:
            self.faults_left -= 1
            return True
        return False

    def darken(self, pair: Pair) -> None:
        if pair in self.kept:
            self.breaches.append(f"kept {pair} went dark")
        if pair not in self.drained:
            self.breaches.append(f"{pair} went dark with traffic on it")
        self.lit.discard(pair)

    def light(self, pair: Pair) -> None:
        if any(pair[0] == a or pair[1] == b for a, b in self.lit):
            self.breaches.append(f"a port of {pair} is in two cross-connects")
        self.lit.add(pair)
        # New light carries nothing until traffic is let in.
        self.drained.add(pair)

    def meddle(self) -> None:
        """Another client changes a cross-connect that is not kept."""
        if not self.foreign or self.random.random() > 0.1:
            return
        self.foreign = False
        loose = sorted(self.lit - self.kept)
        if loose and self.random.random() < 0.5:
            self.lit.discard(self.random.choice(loose))
            return
        a = sorted({*range(1, PORTS + 1)} - {a for a, _ in self.lit})
        b = sorted({*range(1, PORTS + 1)} - {b for _, b in self.lit})
        if a and b:
            self.lit.add((self.random.choice(a), self.random.choice(b)))


class FaultySwitch:
    """A switch of the world that refuses, half does, or acts and does not answer."""

    def __init__(self, world: World) -> None:
        self.world = world

    def describe(self) -> Description:
        raise NotImplementedError

    def read(self) -> Reading:
        self.world.point()
        self.world.meddle()
        if self.world.faulty(0.1):
            raise SwitchError("no answer")
        found = [CrossConnect(p, f"{p[0]}A-{p[1]}B", Status.CONNECTED) for p in self.world.lit]
        return Reading(sorted(found, key=lambda one: one.pair))

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = 60.0
    ) -> Outcome:
        world = self.world
        world.point()
        if world.faulty(0.15):
            raise SwitchError("refused", Outcome())
        half = world.faulty(0.15)
        steps = [(world.darken, p) for p in sorted(remove) if p in world.lit]
        steps += [(world.light, p) for p in sorted(add) if p not in world.lit]
        for number, (act, pair) in enumerate(steps):
            if half and number == len(steps) // 2:
                raise SwitchError("half of it is done")
            if act == world.light:
                if world.stuck_port == pair[0] and world.steps >= world.stuck_from:
                    raise SwitchError(f"port {pair[0]}A is stuck")
                if any(pair[0] == a or pair[1] == b for a, b in world.lit):
                    raise SwitchError("port in use")
            act(pair)
            world.point()
        if world.faulty(0.15):
            raise SwitchError("the connection was cut after the switch acted")
        return Outcome([*remove], [*add])

    def power(self) -> Mapping[Port, float] | None:
        self.world.point()
        return {Port("B", b): -3.0 for _, b in self.world.lit}

    def close(self) -> None:
        pass


class WorldHook:
    """Leads traffic away and in, and fails at times."""

    def __init__(self, world: World) -> None:
        self.world = world

    def start(self) -> None:
        pass

    def drain(self, switch: str, pairs: Collection[Pair]) -> None:
        self.world.point()
        self.world.drained |= {*pairs}
        if self.world.faulty(0.1):
            raise HookError("no answer")

    def enter(self, switch: str, pairs: Collection[Pair]) -> None:
        self.world.point()
        self.world.drained -= {*pairs}
        if self.world.faulty(0.05):
            raise HookError("no answer")


def matchings(chance: random.Random) -> list[Pair]:
    ports = [*range(1, PORTS + 1)]
    outputs = chance.sample(ports, PORTS)
    return sorted(chance.sample([*zip(ports, outputs, strict=True)], chance.randint(0, PORTS)))


def lives(world: World, store: Store) -> Iterator[Executor]:
    """The controller, begun again after each crash."""
    while True:
        yield Executor(store, lambda name: FaultySwitch(world), WorldHook(world))


def attempt(world: World, store: Store, wanted: list[Pair]) -> tuple[Change, list[Transaction]]:
    """Wants something, and reconciles until the controller is at rest, through all crashes."""
    acknowledged = False
    for executor in lives(world, store):
        try:
            over = executor.recover()
            while store.transactions(states=OPEN):
                # A hook failed: as the next cycle does.
                over += executor.recover()
            if not acknowledged:
                store.want(SWITCH, "operator:x", wanted, 0, "x")
                acknowledged = True
            lit = sorted(world.lit)
            owned = {p for one in store.transactions() for p in one.pairs("added")}
            change = change_to(lit, store.intents(SWITCH), owned)
            world.kept = {*change.kept}
            if not change.is_empty:
                over.append(executor.run(SWITCH, change, lit, "x"))
            while store.transactions(states=OPEN):
                # A hook failed at the end: as the next cycle does.
                over += executor.recover()
            world.kept = set()
            return change, over
        except CrashError:
            continue
    raise AssertionError


def check(world: World, store: Store, wanted: list[Pair]) -> None:
    """What holds whenever the controller is at rest."""
    assert world.breaches == []
    # Nothing acknowledged is lost.
    assert sorted(one.pair for one in store.intents(SWITCH)) == wanted
    assert store.transactions(states=OPEN) == []
    assert store.broken_link() is None
    for one in store.transactions(states=["undone", "stuck"]):
        assert one.reason
        assert one.state == "undone" or "circuits apply" in one.reason


def lived(seed: int, url: str = "sqlite://") -> World:
    """A life of the controller; fails if an invariant does not hold."""
    world = World(seed)
    store = Store(url, world.clock)

    def crash_before_commit(connection: object) -> None:
        world.point()

    wanted: list[Pair] = []
    for _ in range(world.random.randint(1, 4)):
        wanted = matchings(world.random)
        event.listen(store._engine, "commit", crash_before_commit)
        attempt(world, store, wanted)
        event.remove(store._engine, "commit", crash_before_commit)
        check(world, store, wanted)
    # No more faults: the switch gets as wanted, or the controller says why it does not.
    world.crashes_left = world.faults_left = 0
    world.foreign = False
    for _ in range(3):
        change, _ = attempt(world, store, wanted)
    check(world, store, wanted)
    last = store.transactions(SWITCH, limit=1)
    if change.is_empty:
        blocked = {conflict.pair for conflict in change.conflicts}
        assert {*wanted} - blocked <= world.lit
        held = [{a for a, _ in change.unowned}, {b for _, b in change.unowned}]
        assert all(pair[0] in held[0] or pair[1] in held[1] for pair in blocked)
    else:
        assert last[0].state in ("undone", "stuck")
        assert world.stuck_port is not None
    store.close()
    return world


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_whatever_happens_the_invariants_hold(first: int) -> None:
    for seed in range(first, first + 50):
        lived(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(500, 10_000, 500))
def test_whatever_happens_the_invariants_hold_for_long(first: int) -> None:
    for seed in range(first, first + 500):
        lived(seed)


def test_without_faults_the_switch_is_as_wanted() -> None:
    for seed in range(40):
        world = World(seed)
        world.crashes_left = world.faults_left = 0
        world.foreign, world.stuck_port = False, None
        store = Store("sqlite://", world.clock)
        for _ in range(3):
            wanted = matchings(world.random)
            _, over = attempt(world, store, wanted)
            assert {*wanted} == world.lit
            assert all(one.state == "done" for one in over)
            assert not world.drained & world.lit
        assert world.breaches == []


def test_seeds_reach_every_state_and_crash_everywhere() -> None:
    """The lives above are not all alike: crashes in every state, changes undone and stuck."""
    states: dict[str, int] = {}
    crashed: set[str] = set()
    for seed in range(300):
        world = World(seed)
        store = Store("sqlite://", world.clock)
        point = world.point

        def noted(store: Store = store, world: World = world, point: Any = point) -> None:
            try:
                point()
            except CrashError:
                with store._engine.connect() as db:
                    rows = db.exec_driver_sql("select state from transaction_log").all()
                crashed.update(state for (state,) in rows)
                raise

        world.point = noted  # type: ignore[method-assign]
        event.listen(store._engine, "commit", lambda connection, world=world: world.point())
        for _ in range(2):
            attempt(world, store, matchings(world.random))
        world.crashes_left = 0
        for one in store.transactions():
            states[one.state] = states.get(one.state, 0) + 1
    assert {"done", "undone", "stuck"} <= states.keys()
    assert crashed >= {"planned", "draining", "changing", "verifying"}


class CarelessSteps(Steps):
    """Changes without draining: what the checks above have to find."""

    def carry_out(self, one: Transaction) -> Transaction:
        one = self._store.move(one.id, "changing")
        failure = self._change(one, one.pairs("removed"), one.pairs("added"))
        return self._store.move(one.id, "done" if failure is None else "stuck", failure or "")


class CarelessExecutor(Executor):
    steps = CarelessSteps


def test_a_controller_that_does_not_drain_is_found_out() -> None:
    world = World(1)
    world.crashes_left = world.faults_left = 0
    world.foreign, world.stuck_port = False, None
    store = Store("sqlite://", world.clock)
    executor = CarelessExecutor(store, lambda name: FaultySwitch(world), WorldHook(world))
    world.light((1, 1))
    world.drained.clear()
    store.want(SWITCH, "operator:x", [(1, 2)], 0, "x")
    change = change_to([(1, 1)], store.intents(SWITCH), {(1, 1)})
    executor.run(SWITCH, change, [(1, 1)], "x")
    assert world.breaches == ["(1, 1) went dark with traffic on it"]
