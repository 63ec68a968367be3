"""The controller in virtual time: a seed determines faults, crashes at every step, slow switches,
switches that report wrong states, and a second client that changes circuits. After each run the
invariants hold."""

from collections.abc import Iterator
from typing import Any

import pytest
from controller_world import SWITCH, CrashError, FaultySwitch, World, WorldHook, matchings
from sqlalchemy import event

from lightloom.controller.change import Change, change_to
from lightloom.controller.store import Store
from lightloom.controller.transaction import Executor, Steps
from lightloom.controller.transaction_log import OPEN, Transaction
from lightloom.switches.ports import Pair

LIVES = 100
"""As many are lived in each run of the tests; `make test-long` has the others."""


def lives(world: World, store: Store) -> Iterator[Executor]:
    """The controller, restarted after each crash."""
    while True:
        yield Executor(store, lambda name: FaultySwitch(world), WorldHook(world))


def other_way(pair: Pair) -> Pair | None:
    """Returns the reverse direction; each rack is at an A port and the B port of the same
    number."""
    return None if pair[0] == pair[1] else (pair[1], pair[0])


def attempt(world: World, store: Store, wanted: list[Pair]) -> tuple[Change, list[Transaction]]:
    """Sets a request, and reconciles until the controller has no more work, through all crashes."""
    acknowledged = False
    for executor in lives(world, store):
        try:
            over = executor.recover()
            while store.transactions(states=OPEN):
                # A hook has failed: does the work of the next cycle.
                over += executor.recover()
            if not acknowledged:
                store.want(SWITCH, "operator:x", wanted, 0, "x")
                acknowledged = True
            lit = sorted(world.lit)
            owned = {p for one in store.transactions() for p in one.pairs("added")}
            change = change_to(lit, store.intents(SWITCH), owned, other_way=other_way)
            world.kept = {*change.kept}
            if not change.is_empty:
                over.append(executor.run(SWITCH, change, lit, "x"))
            while store.transactions(states=OPEN):
                # A hook has failed at the end: does the work of the next cycle.
                over += executor.recover()
            world.kept = set()
            return change, over
        except CrashError:
            continue
    raise AssertionError


def check(world: World, store: Store, wanted: list[Pair]) -> None:
    """Checks the invariants that hold when the controller has no more work."""
    assert world.breaches == []
    # No acknowledged request is lost.
    assert sorted(one.pair for one in store.intents(SWITCH)) == wanted
    assert store.transactions(states=OPEN) == []
    assert store.broken_link() is None
    for one in store.transactions(states=["undone", "stuck"]):
        assert one.reason
        assert one.state == "undone" or "circuits apply" in one.reason


def lived(seed: int, url: str = "sqlite://") -> World:
    """Runs a life of the controller; fails if an invariant does not hold."""
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
    # There are no more faults: the switch reaches the requested state, or the controller reports
    # why it does not.
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
        is_held = {p for p in blocked if p[0] in held[0] or p[1] in held[1]}
        assert all(other_way(pair) in is_held for pair in blocked - is_held)
        ours = {*wanted} & world.lit
        circuits = {pair for pair in wanted if other_way(pair) in wanted}
        assert {other_way(pair) for pair in ours & circuits} == ours & circuits, "half a circuit"
    else:
        assert last[0].state in ("undone", "stuck")
        assert world.stuck_port is not None
    store.close()
    return world


@pytest.mark.parametrize("first", range(0, LIVES, 50))
def test_whatever_happens_the_invariants_hold(first: int) -> None:
    for seed in range(first, first + 50):
        lived(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(LIVES, 10_100, 500))
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
    """Checks that the lives above include crashes in every state, undone changes and stuck ones."""
    states: dict[str, int] = {}
    crashed: set[str] = set()
    for seed in range(LIVES):
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
    """Changes without draining, which the checks above must detect."""

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
    (breach,) = world.breaches
    assert breach.startswith("(1, 1) went dark")
