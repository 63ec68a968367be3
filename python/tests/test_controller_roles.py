"""A standby writes nothing, and an undo drains the circuits that it removes; a failed hook or
change is tried again, with pauses."""

import itertools
import threading
import time
from pathlib import Path

import pytest
from controller_support import Lab

from lightloom.controller.hooks import HookError
from lightloom.controller.run import Role, standby_store
from lightloom.controller.store import DeposedError, Store
from lightloom.controller.transaction import Executor
from lightloom.switches.protocol import SwitchError


def test_a_controller_without_the_role_writes_nothing(tmp_path: Path) -> None:
    store = standby_store(f"sqlite:///{tmp_path / 'c.db'}")
    with pytest.raises(DeposedError):
        store.want("east", "operator:x", [(1, 2)], 0, "x")
    assert store.intents("east") == []
    assert store.take_role("one", 10)
    store.want("east", "operator:x", [(1, 2)], 0, "x")
    assert [wanted.pair for wanted in store.intents("east")] == [(1, 2)]
    store.close()


class Recorder:
    def __init__(self) -> None:
        self.calls: list[tuple[str, list[tuple[int, int]]]] = []

    def start(self) -> None:
        pass

    def drain(self, switch: str, pairs: object) -> None:
        self.calls.append(("drain", list(pairs)))  # type: ignore[call-overload]

    def enter(self, switch: str, pairs: object) -> None:
        self.calls.append(("enter", list(pairs)))  # type: ignore[call-overload]


def test_an_undo_drains_new_circuits_first(tmp_path: Path) -> None:
    """A crash after `verifying`: the new circuit carries traffic, and turns out dark."""
    lab, hook = Lab(tmp_path), Recorder()
    switch = lab.switches["east"]
    switch.change([], [(1, 2)])
    plan = {"before": [(1, 1)], "removed": [(1, 1)], "added": [(1, 2)], "kept": []}
    one = lab.store.plan("east", plan, "x")
    lab.store.move(one.id, "verifying")
    executor = Executor(lab.store, lambda name: switch, hook)
    executor._unlit = lambda *_: "no light"  # type: ignore[method-assign]
    assert [found.state for found in executor.recover()] == ["undone"]
    assert hook.calls == [("drain", [(1, 1)]), ("drain", [(1, 2)]), ("enter", [(1, 1)])]
    assert lab.lit() == [(1, 1)]


def test_a_role_is_kept_while_a_change_takes_longer_than_its_lease(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    first, second = standby_store(url), Store(url, time.time)
    role, stop = Role(first, 2.0), threading.Event()
    thread = threading.Thread(target=role.keep, args=(stop,), daemon=True)
    thread.start()
    until = time.monotonic() + 10
    while not role.held and time.monotonic() < until:
        time.sleep(0.01)
    # Nothing but the thread renews: a change would be under way for three leases.
    for _ in range(60):
        time.sleep(0.1)
        assert not second.take_role("two", 2.0)
    first.note("one", "event", {})
    stop.set()
    thread.join(5)
    time.sleep(2.5)
    assert second.take_role("two", 2.0)
    with pytest.raises(DeposedError):
        first.note("one", "event", {})


class Faltering(Recorder):
    """Lets traffic in at the third attempt."""

    def enter(self, switch: str, pairs: object) -> None:
        super().enter(switch, pairs)
        if sum(kind == "enter" for kind, _ in self.calls) < 3:
            raise HookError("no answer")


def test_a_hook_that_fails_at_the_end_is_tried_again(tmp_path: Path) -> None:
    lab, hook = Lab(tmp_path), Faltering()
    controller = lab.begin(hook=hook)
    controller.want("east", [(1, 2)], "ann")
    (made,) = controller.reconcile("east", "ann")
    assert (made.state, lab.lit()) == ("verifying", [(1, 2)])
    assert [one.state for one in controller.cycle()] == ["verifying"]
    assert [one.state for one in controller.cycle()] == ["done"]
    entered = [call for call in hook.calls if call[0] == "enter"]
    assert entered == [("enter", [(1, 2)])] * 3
    assert controller.cycle() == []


def test_a_change_that_fails_is_tried_with_longer_and_longer_pauses(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    switch = lab.switches["east"]
    usual = switch.change

    def refuse(remove: object, add: object, *, wait_s: float = 60.0) -> object:
        raise SwitchError("refused")

    switch.change = refuse  # type: ignore[method-assign, assignment]
    lab.controller.want("east", [(1, 2)], "ann")
    tried = []
    for second in range(40):
        before = len(lab.store.transactions())
        lab.controller.cycle()
        if len(lab.store.transactions()) > before:
            tried.append(second)
        lab.now += 1 - (lab.now % 0.5)
    assert 4 <= len(tried) <= 6
    gaps = [b - a for a, b in itertools.pairwise(tried)]
    assert gaps == sorted(gaps)
    assert gaps[-1] >= 4 * gaps[0]
    # An operator's word is carried out at once.
    switch.change = usual  # type: ignore[method-assign]
    (made,) = lab.controller.reconcile("east", "ann")
    assert made.state == "done"


def test_a_stuck_change_waits_for_an_operator_and_its_alarm_stays(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    plan = {"before": [], "removed": [], "added": [(1, 2)], "kept": []}
    one = lab.store.plan("east", plan, "x")
    lab.store.move(one.id, "stuck", "port 1A")
    lab.controller.want("east", [(1, 2)], "ann")
    for _ in range(3):
        lab.now += 1000
        assert lab.controller.cycle() == []
        assert [alarm["kind"] for alarm in lab.controller.alarms()] == ["stuck"]
    (made,) = lab.controller.reconcile("east", "ann")
    assert (made.state, lab.lit()) == ("done", [(1, 2)])
    assert lab.controller.alarms() == []


def test_an_undo_leaves_others_circuits_alone(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    lab.switches["east"].change([], [(8, 8)])
    lab.controller.want("east", [(1, 2)], "ann")
    lab.controller.reconcile("east", "ann")
    lab.controller.want("east", [(3, 4)], "bob")
    (made,) = lab.controller.reconcile("east", "bob")
    lab.controller.undo(made.id, "ann")
    assert lab.lit() == [(1, 2), (8, 8)]
    assert {(w.pair, w.owner) for w in lab.store.intents("east")} == {((1, 2), "operator:ann")}
    # (8, 8) is nobody's still.
    assert [alarm["kind"] for alarm in lab.controller.alarms()] == ["drift"]
