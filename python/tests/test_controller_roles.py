"""A standby writes nothing; an undo drains the circuits that it removes; a failed hook or change is
repeated after pauses."""

import itertools
import threading
import time
from pathlib import Path

import pytest
from controller_support import Lab

from lightloom.controller.change import change_to
from lightloom.controller.database import DeposedError
from lightloom.controller.hooks import HookError
from lightloom.controller.leases import reserve
from lightloom.controller.overview import alarms_of
from lightloom.controller.run import Role, standby_store
from lightloom.controller.store import Store
from lightloom.controller.transaction import Executor, Steps
from lightloom.controller.transaction_log import OPEN
from lightloom.errors import ConfigError
from lightloom.switches.ports import Port
from lightloom.switches.protocol import SwitchError

LEASE_S = 3.0


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

    def start(self, check: object) -> None:
        pass

    def forget(self, switch: str, pairs: object) -> None:
        pass

    def keep(self, switch: str, pairs: object) -> None:
        pass

    def stop(self) -> None:
        pass

    def drain(self, switch: str, pairs: object) -> None:
        self.calls.append(("drain", list(pairs)))  # type: ignore[call-overload]

    def enter(self, switch: str, pairs: object) -> None:
        self.calls.append(("enter", list(pairs)))  # type: ignore[call-overload]


def test_an_undo_drains_new_circuits_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash after `verifying`: the new circuit carries traffic, and is found to be dark."""
    lab, hook = Lab(tmp_path), Recorder()
    switch = lab.switches["east"]
    switch.change([], [(1, 2)])
    plan = {"before": [(1, 1)], "removed": [(1, 1)], "added": [(1, 2)], "kept": []}
    one = lab.store.plan("east", plan, "x")
    lab.store.move(one.id, "verifying")
    executor = Executor(lab.store, lambda name: switch, hook)
    unlit = lambda self, switch, pairs: "no light" if (1, 2) in pairs else None  # noqa: E731
    monkeypatch.setattr(Steps, "_unlit", unlit)
    assert [found.state for found in executor.recover()] == ["undone"]
    assert hook.calls == [("drain", []), ("drain", [(1, 2)]), ("enter", [(1, 1)])]
    assert lab.lit() == [(1, 1)]


def test_a_role_is_kept_while_a_change_takes_longer_than_its_lease(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'c.db'}"
    first, second = standby_store(url), Store(url, time.time)
    role, stop = Role(first, LEASE_S), threading.Event()
    thread = threading.Thread(target=role.keep, args=(stop,), daemon=True)
    thread.start()
    until = time.monotonic() + 10
    while not role.held and time.monotonic() < until:
        time.sleep(0.01)
    # Only the thread renews the role: a change would be in progress for two leases.
    for _ in range(round(20 * LEASE_S)):
        time.sleep(0.1)
        assert not second.take_role("two", LEASE_S)
    first.note("one", "event", {})
    stop.set()
    thread.join(5)
    time.sleep(LEASE_S + 0.5)
    assert second.take_role("two", LEASE_S)
    with pytest.raises(DeposedError):
        first.note("one", "event", {})


class Faltering(Recorder):
    """A hook that admits traffic at the third attempt."""

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
    # A request of an operator is carried out at once.
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
        assert [alarm["kind"] for alarm in alarms_of(lab.controller)] == ["stuck"]
    (made,) = lab.controller.reconcile("east", "ann")
    assert (made.state, lab.lit()) == ("done", [(1, 2)])
    assert alarms_of(lab.controller) == []


def test_apply_ends_a_stuck_transaction_of_a_switch_that_was_set_by_hand(tmp_path: Path) -> None:
    """The alarm advises this. Traffic had left one circuit, and entered it again before."""
    lab, hook = Lab(tmp_path), Recorder()
    lab.switches["east"].change([], [(1, 1)])
    controller = lab.begin(hook=hook)
    controller.want("east", [(1, 1)], "ann")
    controller.reconcile("east", "ann")
    plan = {"before": [(1, 1)], "removed": [(1, 1)], "added": [(1, 2)], "kept": []}
    lab.store.move(lab.store.plan("east", plan, "x").id, "stuck", "port 1A")
    hook.calls.clear()
    assert controller.cycle() == []
    assert hook.calls == [("enter", [(1, 1)])]
    assert [alarm["kind"] for alarm in alarms_of(controller)] == ["stuck"]
    (made,) = controller.reconcile("east", "ann")
    assert (made.state, made.pairs("added")) == ("done", [])
    assert alarms_of(controller) == []
    assert controller.reconcile("east", "ann") == []


@pytest.mark.parametrize("fails", [False, True], ids=["another is lit", "another cannot be lit"])
def test_a_circuit_that_stays_dark_keeps_no_traffic_off_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    """Two circuits of a stuck change are lit, and one has no light.

    The operator applies with another circuit, and again when the light has returned.
    """
    lab, hook = Lab(tmp_path), Recorder()
    switch, pairs = lab.switches["east"], [(1, 1), (2, 2), (3, 3)]
    switch.change([], pairs)
    controller = lab.begin(hook=hook)
    controller.want("east", pairs, "ann")
    controller.cycle()
    plan = {"before": pairs, "removed": pairs, "added": [(1, 2)], "kept": []}
    lab.store.move(lab.store.plan("east", plan, "x").id, "stuck", "port 1A")
    usual = switch.change

    def change(remove: object, add: object, *, wait_s: float = 60.0) -> object:
        if fails:
            raise SwitchError("4A does not move")
        return usual(remove, add, wait_s=wait_s)  # type: ignore[arg-type]

    monkeypatch.setattr(switch, "change", change)
    dark = {Port("B", 2): -60.0}
    monkeypatch.setattr(switch, "power", lambda: {Port("B", b): -3.0 for b in range(1, 9)} | dark)
    hook.calls.clear()
    controller.want("east", [*pairs, (4, 4)], "ann")
    (made,) = controller.reconcile("east", "ann")
    entered = {pair for kind, own in hook.calls if kind == "enter" for pair in own}
    assert entered == ({(1, 1), (3, 3)} if fails else {(1, 1), (3, 3), (4, 4)})
    assert made.state == ("undone" if fails else "done")
    kinds = ["dark", "retry", "stuck"] if fails else ["dark"]
    assert [one["kind"] for one in alarms_of(controller)] == kinds
    if not fails:
        assert lab.lit() == [*pairs, (4, 4)]
    dark.clear()
    fails = False
    hook.calls.clear()
    controller.reconcile("east", "ann")
    assert hook.calls[0] == ("enter", [(2, 2)])
    assert alarms_of(controller) == []
    assert controller.reconcile("east", "ann") == []


def test_traffic_enters_a_circuit_that_the_controller_takes_over(tmp_path: Path) -> None:
    """Traffic had left the circuit when the controller removed it; then another client lit it
    again."""
    lab, hook = Lab(tmp_path), Faltering()
    lab.switches["east"].change([], [(1, 2)])
    controller = lab.begin(hook=hook)
    controller.want("east", [(1, 2)], "ann")
    for _ in range(2):
        controller.cycle()
        assert [alarm["kind"] for alarm in alarms_of(controller)] == ["hook"]
        assert lab.store.owned("east") == set()
    controller.cycle()
    assert hook.calls == [("enter", [(1, 2)])] * 3
    assert lab.store.owned("east") == {(1, 2)}
    assert alarms_of(controller) == []


def test_a_partial_change_does_not_end_a_stuck_one_that_keeps_traffic_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The part removes another circuit, and the dark one, which the whole change would remove,
    stays. When it is requested again and has light, traffic enters it."""
    lab, hook = Lab(tmp_path), Recorder()
    switch, pairs = lab.switches["east"], [(1, 1), (2, 2)]
    switch.change([], pairs)
    controller = lab.begin(hook=hook)
    controller.want("east", pairs, "ann")
    controller.cycle()
    plan = {"before": pairs, "removed": [(2, 2)], "added": [(2, 4)], "kept": [(1, 1)]}
    lab.store.move(lab.store.plan("east", plan, "x").id, "stuck", "no light leaves 2A-2B")
    dark = {Port("B", 2): -60.0}
    monkeypatch.setattr(switch, "power", lambda: {Port("B", b): -3.0 for b in range(1, 9)} | dark)
    controller.want("east", [(2, 4)], "ann")
    hook.calls.clear()
    (made,) = controller.cycle()
    assert (made.state, made.pairs("removed"), lab.lit()) == ("done", [(1, 1)], [(2, 2)])
    assert [one.state for one in lab.store.stuck("east")] == ["stuck"]
    assert (2, 2) not in {pair for _, own in hook.calls[1:] for pair in own}
    dark.clear()
    controller.want("east", [(2, 2)], "ann")
    (made,) = controller.reconcile("east", "ann")
    assert (made.state, lab.store.stuck("east")) == ("done", [])
    assert (2, 2) in {pair for kind, own in hook.calls if kind == "enter" for pair in own}


def test_what_a_stuck_change_did_not_light_is_adopted_when_another_client_does(
    tmp_path: Path,
) -> None:
    """Traffic has never entered the circuit; it does when a client requests the circuit."""
    lab, hook = Lab(tmp_path), Recorder()
    controller = lab.begin(hook=hook)
    plan = {"before": [], "removed": [], "added": [(1, 2), (3, 4)], "kept": []}
    lab.store.move(lab.store.plan("east", plan, "x").id, "stuck", "port 1A")
    controller.want("east", [(5, 6)], "ann")
    (made,) = controller.reconcile("east", "ann")
    assert (made.state, lab.store.owned("east")) == ("done", {(5, 6)})
    lab.switches["east"].change([], [(3, 4)])
    controller.want("east", [(3, 4), (5, 6)], "ann")
    controller.cycle()
    entered = [pairs for step, pairs in hook.calls if step == "enter"]
    assert entered == [[(5, 6)], [(3, 4)]]
    assert lab.store.owned("east") == {(3, 4), (5, 6)}


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
    # (8, 8) still has no owner.
    assert [alarm["kind"] for alarm in alarms_of(lab.controller)] == ["drift"]


def test_after_a_crash_no_traffic_is_sent_to_what_another_client_removed(tmp_path: Path) -> None:
    """The change had not begun; one of the circuits that it would have removed is still lit."""
    lab, hook = Lab(tmp_path), Recorder()
    lab.switches["east"].change([], [(1, 1), (2, 2)])
    plan = {"before": [(1, 1), (2, 2)], "removed": [(1, 1), (2, 2)], "added": [], "kept": []}
    one = lab.store.plan("east", plan, "x")
    lab.store.move(one.id, "draining")
    lab.switches["east"].change([(1, 1)], [])
    lab.begin(hook=hook)
    assert [made.state for made in lab.recovered] == ["undone"]
    assert hook.calls == [("enter", [(2, 2)])]


class Shut(Recorder):
    """A hook that refuses to drain, and to admit traffic before its fourth attempt."""

    def drain(self, switch: str, pairs: object) -> None:
        raise HookError("locked")

    def enter(self, switch: str, pairs: object) -> None:
        super().enter(switch, pairs)
        if len(self.calls) < 4:
            raise HookError("locked")


def test_an_undone_change_lets_traffic_in_as_soon_as_its_hook_answers(tmp_path: Path) -> None:
    lab, hook = Lab(tmp_path), Shut()
    lab.switches["east"].change([], [(1, 1)])
    controller = lab.begin(hook=hook)
    lab.store.adopt("east", [(1, 1)], "x")
    controller.want("east", [(1, 2)], "ann")
    (made,) = controller.reconcile("east", "ann")
    assert (made.state, lab.lit()) == ("draining", [(1, 1)])
    assert [one["kind"] for one in alarms_of(controller)] == ["hook"]
    assert [one.state for one in controller.cycle()] == ["draining"]
    assert [one.state for one in controller.cycle()] == ["draining"]
    (made,) = (one for one in controller.cycle() if one.id == made.id)
    assert (made.state, made.reason) == ("undone", "locked")
    assert hook.calls == [("enter", [(1, 1)])] * 4
    assert "hook" not in {one["kind"] for one in alarms_of(controller)}


@pytest.mark.parametrize(("who", "ids"), [("ann", [1, 2]), ("bob", [2])])
def test_a_request_returns_no_change_of_another_client(
    tmp_path: Path, who: str, ids: list[int]
) -> None:
    """The hook has kept open a change of `ann`, which is completed first."""
    lab = Lab(tmp_path)
    controller = lab.begin(hook=Faltering())
    controller.apply("east", [(1, 2)], "ann")
    assert [one.state for one in controller.cycle()] == ["verifying"]
    found = controller.apply("east", [(1, 2), (4, 4)], who)
    assert [(one.id, one.state) for one in found] == [(number, "done") for number in ids]
    assert lab.lit() == [(1, 2), (4, 4)]


def test_a_request_returns_no_change_that_was_undone_before(tmp_path: Path) -> None:
    """The hook has kept open the undo; the exit code of `circuits apply` depends on what it
    returns."""
    lab, hook = Lab(tmp_path), Shut()
    controller = lab.begin(hook=hook)
    lab.switches["east"].change([], [(1, 1)])
    lab.store.adopt("east", [(1, 1)], "x")
    controller.apply("east", [(1, 2)], "ann")
    hook.calls += [("enter", [])] * 3
    found = controller.apply("east", [(1, 1)], "ann")
    assert (found, lab.store.transactions()[0].state, lab.lit()) == ([], "undone", [(1, 1)])


@pytest.mark.parametrize("late", range(1, 12))
def test_a_deposed_controller_sends_nothing_to_a_switch(tmp_path: Path, late: int) -> None:
    """The role is taken at the n-th call of the switch or the hook, as if the controller had been
    stopped there: it sends nothing more, and the other controller finishes the change."""
    url = f"sqlite:///{tmp_path / 'c.db'}"
    lab = Lab(tmp_path, url)
    other = Store(url, lab.clock)
    assert lab.store.take_role("one", 10.0)
    hook, asked = Recorder(), []
    switch = lab.switches["east"]

    def ask(what: str) -> None:
        asked.append(what)
        if len(asked) == late:
            lab.now += 20.0
            assert other.take_role("two", 1e9)

    class Asked:
        """A switch that reports each request before it is carried out."""

        def __getattr__(self, name: str) -> object:
            if name in ("read", "change", "power"):
                ask(name)
            return getattr(switch, name)

    class Hooked(Recorder):
        def drain(self, switch: str, pairs: object) -> None:
            ask("drain")
            hook.drain(switch, pairs)

        def enter(self, switch: str, pairs: object) -> None:
            ask("enter")
            hook.enter(switch, pairs)

    lab.store.want("east", "operator:ann", [(1, 2)], 0, "ann")
    executor = Executor(lab.store, lambda name: Asked(), Hooked())  # type: ignore[arg-type]
    change = change_to([], lab.store.intents("east"), set())
    try:
        made = executor.run("east", change, [], "ann")
    except DeposedError:
        assert len(asked) == late  # the request that was in progress is the last one
    else:
        assert made.state == "done"
        assert len(asked) < late
        return
    (left,) = other.transactions()
    assert left.state in OPEN
    (ended,) = Executor(other, lambda name: switch, hook).recover()
    assert ended.state in ("done", "undone")
    assert lab.lit() == ([(1, 2)] if ended.state == "done" else [])


def test_a_transaction_goes_on_from_the_state_that_it_is_in(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    plan = {"before": [], "removed": [], "added": [(1, 2)], "kept": []}
    one = lab.store.plan("east", plan, "x")
    lab.store.move(one.id, "draining", before="planned")
    lab.store.move(one.id, "undone", before="draining")
    with pytest.raises(DeposedError, match="undone, not changing"):
        lab.store.move(one.id, "done", before="changing")


@pytest.mark.parametrize("processes", [1, 2])
def test_of_equal_leases_at_once_one_is_granted(tmp_path: Path, processes: int) -> None:
    """The requests are from threads of one store, and of two stores as in two processes."""
    url = f"sqlite:///{tmp_path / 'c.db'}"
    stores = [Store(url, time.time) for _ in range(processes)]
    granted, refused = [], []
    start = threading.Barrier(8)

    def ask(number: int) -> None:
        start.wait(10)
        try:
            store = stores[number % processes]
            granted.append(reserve(store, "east", ("a", "b"), f"o{number}", 0, 0.0, 10.0))
        except ConfigError:
            refused.append(number)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert (len(granted), len(refused)) == (1, 7)


def test_the_audit_chain_of_two_writers_does_not_fork(tmp_path: Path) -> None:
    """The two writers are the controller and `token add`."""
    url = f"sqlite:///{tmp_path / 'c.db'}"
    stores = [Store(url, time.time) for _ in range(2)]
    start = threading.Barrier(2)

    def write(store: Store) -> None:
        start.wait(10)
        for number in range(60):
            store.note("x", "event", {"number": number})

    threads = [threading.Thread(target=write, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(stores[0].audit()) == 120
    assert stores[0].broken_link() is None


def test_a_restored_circuit_without_light_is_stuck_and_gets_no_traffic(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change is found to be dark, and so is the restored circuit, because the ports have
    failed."""
    lab, hook = Lab(tmp_path), Recorder()
    controller = lab.begin(hook=hook)
    controller.want("east", [(1, 2)], "ann")
    controller.cycle()
    switch = lab.switches["east"]
    act = switch.change

    def change(*given: object, **keys: object) -> object:
        levels = {Port("B", b): -60.0 if b in (2, 3) else -3.0 for b in range(1, 9)}
        monkeypatch.setattr(switch, "power", lambda: levels)
        return act(*given, **keys)  # type: ignore[arg-type]

    monkeypatch.setattr(switch, "change", change)
    hook.calls.clear()
    controller.want("east", [(1, 3)], "ann")
    (made,) = controller.reconcile("east", "ann")
    assert (made.state, lab.lit()) == ("stuck", [(1, 2)])
    assert "1A-2B" in made.reason
    assert [pairs for step, pairs in hook.calls if step == "enter" and pairs] == []
    assert "stuck" in {one["kind"] for one in alarms_of(controller)}
