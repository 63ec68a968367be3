"""Switches are read and changed in parallel: a silent switch delays neither the others nor requests
for the state."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from controller_support import PORTS, Lab, Reached
from fastapi.testclient import TestClient
from test_controller_service import wait

from lightloom.controller.api import app_of
from lightloom.controller.managed import LONGEST_PASS_S
from lightloom.controller.overview import alarms_of
from lightloom.controller.passes import Passes
from lightloom.controller.run import Loop, Role
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.switches.design import Design
from lightloom.switches.emulated import EmulatedSwitch
from lightloom.switches.ports import Size


class Gate:
    """Blocks threads until it is opened, and counts them."""

    def __init__(self, act: Callable[..., Any]) -> None:
        self.act = act
        self.opened = threading.Event()
        self.waiting = threading.Event()
        self.came = 0

    def __call__(self, *given: Any, **keys: Any) -> Any:
        self.came += 1
        self.waiting.set()
        assert self.opened.wait(60)
        return self.act(*given, **keys)


def pod(folder: Path, names: list[str], workers: int, **keys: Any) -> Lab:
    """A controller of several switches, with a store in a file that threads share."""
    lab = Lab(folder)
    lab.switches = {name: EmulatedSwitch(Design(size=Size(8, 8))) for name in names}
    tables = [
        {"name": n, "url": f"scpi://127.0.0.1:{at}", "ports": "ports.csv"}
        for at, n in enumerate(names, 1)
    ]
    from lightloom.controller.config import config_of

    lab.config = config_of({"switch": tables, "interval": "200 ms", **keys}, folder)
    lab.store = Store(f"sqlite:///{folder / 'pod.db'}", lab.clock)
    (folder / "ports.csv").write_text(PORTS)
    lab.controller = Controller(
        lab.config, lab.store, lab.clock, lambda one: lab.switches[one.name], workers=workers
    )
    lab.recovered = lab.controller.start()
    return lab


def test_a_silent_switch_does_not_hold_up_the_others(tmp_path: Path) -> None:
    """`west` does not answer for several iterations: `east` changes twice in this time, and `west`
    gets no second request before it has answered."""
    lab = pod(tmp_path, ["west", "east"], 4)
    gate = Gate(lab.switches["west"].read)
    lab.switches["west"].read = gate  # type: ignore[method-assign]
    lab.controller.want("west", [(1, 2)], "ann")
    made: list[tuple[str, str]] = []

    def passed(*expected: tuple[str, str]) -> bool:
        made.extend((one.switch, one.state) for one in lab.controller.cycle())
        return made == [*expected]

    for count in (1, 2):
        lab.controller.want("east", [(1, 1 + count)], "ann")
        wait(lambda count=count: passed(*[("east", "done")] * count))  # type: ignore[misc]
        assert lab.switches["east"].read().pairs == [(1, 1 + count)]
    assert (gate.came, lab.store.transactions("west")) == (1, [])
    gate.opened.set()
    wait(lambda: passed(*[("east", "done")] * 2, ("west", "done")))
    assert lab.store.broken_link() is None


def test_a_silent_switch_does_not_hold_up_a_start(tmp_path: Path) -> None:
    """A controller crashed while it changed `west`, which does not answer the next one: `east` is
    changed meanwhile, and the transaction of `west` is finished when it answers."""
    lab = pod(tmp_path, ["west", "east"], 4)
    change = {"before": [], "removed": [], "added": [(1, 2)], "kept": []}
    lab.store.move(lab.store.plan("west", change, "ann").id, "draining")
    gate = Gate(lab.switches["west"].read)
    lab.switches["west"].read = gate  # type: ignore[method-assign]
    lab.controller.want("east", [(3, 4)], "ann")
    begun = Controller(
        lab.config, lab.store, lab.clock, lambda one: lab.switches[one.name], workers=4
    )
    assert begun.start() == []
    assert [(one.switch, one.state) for one in begun.cycle()] == [("east", "done")]
    assert (gate.came, lab.store.transactions("west")[0].state) == (1, "draining")
    gate.opened.set()
    made: list[tuple[str, str]] = []

    def passed() -> bool:
        made.extend((one.switch, one.state) for one in begun.cycle())
        return bool(made)

    wait(passed)
    assert made == [("west", "undone")]
    assert lab.store.broken_link() is None


def test_a_failure_of_a_long_pass_stays_until_a_pass_of_the_switch_succeeds(
    tmp_path: Path,
) -> None:
    """Between two failures of `west`, the loop passes over `east` alone."""
    lab = pod(tmp_path, ["west", "east"], 4)
    role = Role(lab.store, 1e9, "one")
    role.renew()
    loop = Loop(lab.controller, role, lambda _: None, lambda: lab.now)

    def fail() -> None:
        raise RuntimeError("a bug")

    def turn() -> str | None:
        lab.now += 1
        loop.turn()
        return lab.controller.failure

    usual = lab.switches["west"].read
    gate = Gate(fail)
    lab.switches["west"].read = gate  # type: ignore[method-assign]
    gate.opened.set()
    for _ in range(2):
        assert turn() == "west: RuntimeError: a bug"
        gate.opened.clear()
        assert turn() == "west: RuntimeError: a bug"
        gate.opened.set()
        wait(lambda: lab.controller.switches["west"].pass_began is None)
    gate.act = usual
    wait(lambda: turn() is None)


def test_a_switch_that_hangs_is_unreachable(tmp_path: Path) -> None:
    """Until its pass has ended; it had answered before."""
    lab = pod(tmp_path, ["west", "east"], 4)
    gate = Gate(lab.switches["west"].read)
    lab.switches["west"].read = gate  # type: ignore[method-assign]
    lab.controller.cycle()

    def found() -> list[tuple[str, str]]:
        return [(one["kind"], one["switch"]) for one in alarms_of(lab.controller)]

    lab.now += LONGEST_PASS_S / 2
    assert found() == []
    lab.now += LONGEST_PASS_S
    assert found() == [("unreachable", "west")]
    http = TestClient(app_of(lab.controller))
    assert http.get("/healthz").json() == {"status": "degraded", "unreachable": ["west"]}
    gate.opened.set()
    wait(lambda: found() == [])


def test_many_switches_change_at_once(tmp_path: Path) -> None:
    """Twenty switches that take 100 ms each, on ten threads: ten change at a time, all changes are
    completed, and the audit log is complete."""
    names = [f"s{n}" for n in range(20)]
    lab = pod(tmp_path, names, 10, interval="60 s")
    lock, busy, most = threading.Lock(), 0, 0

    def slowly(change: Callable[..., Any]) -> Callable[..., Any]:
        def act(*given: Any, **keys: Any) -> Any:
            nonlocal busy, most
            with lock:
                busy += 1
                most = max(most, busy)
            time.sleep(0.1)
            with lock:
                busy -= 1
                return change(*given, **keys)

        return act

    for name in names:
        switch = lab.switches[name]
        switch.change = slowly(switch.change)  # type: ignore[method-assign]
        lab.controller.want(name, [(1, 2), (2, 1)], "ann")
    made = lab.controller.cycle()
    assert [(one.switch, one.state) for one in made] == [(name, "done") for name in names]
    assert 2 <= most <= 10
    assert all(lab.switches[name].read().pairs == [(1, 2), (2, 1)] for name in names)
    assert lab.store.broken_link() is None


def test_an_operator_waits_for_the_pass_over_the_same_switch(tmp_path: Path) -> None:
    """Two changes of one switch never overlap, for any requester."""
    lab = pod(tmp_path, ["east"], 2)
    gate = Gate(lab.switches["east"].change)
    lab.switches["east"].change = gate  # type: ignore[method-assign]
    lab.controller.want("east", [(1, 2)], "ann")
    assert lab.controller.cycle() == []
    assert gate.waiting.wait(30)
    lab.controller.want("east", [(1, 3)], "ann")
    made: list[Any] = []
    asked = threading.Thread(
        target=lambda: made.extend(lab.controller.reconcile("east", "ann")), daemon=True
    )
    asked.start()
    asked.join(0.3)
    assert asked.is_alive()
    assert gate.came == 1
    gate.opened.set()
    asked.join(30)
    assert [one.state for one in made] == ["done"]
    assert [one.state for one in lab.store.transactions()] == ["done", "done"]
    assert lab.switches["east"].read().pairs == [(1, 3)]


def test_the_state_shows_a_change_step_by_step(tmp_path: Path) -> None:
    """While a switch settles, the interface answers and reports the step."""
    reached = Reached(tmp_path)
    switch, controller = reached.lab.switches["east"], reached.lab.controller
    gate = Gate(switch.change)
    switch.change = gate  # type: ignore[method-assign]
    controller.want("east", [(1, 2)], "ann")
    before = controller.version
    change = threading.Thread(target=controller.reconcile, args=("east", "ann"), daemon=True)
    change.start()
    assert gate.waiting.wait(30)
    began = time.monotonic()
    state = reached.ask("GET", "/state").json()
    assert time.monotonic() - began < 10
    assert [one["state"] for one in state["transactions"]] == ["changing"]
    assert state["version"] >= before + 2
    gate.opened.set()
    change.join(30)
    state = reached.ask("GET", "/state").json()
    assert [one["state"] for one in state["transactions"]] == ["done"]


def test_a_transaction_of_a_switch_that_left_the_file_fails_nothing(tmp_path: Path) -> None:
    """The controller stopped during a change of `west`, and is started without that switch."""
    lab = pod(tmp_path, ["west", "east"], 1)
    change = {"before": [], "removed": [], "added": [(1, 2)], "kept": []}
    lab.store.plan("west", change, "ann")
    store = lab.store
    lab = pod(tmp_path, ["east"], 1)
    lab.controller.want("east", [(3, 4)], "ann")
    assert [(one.switch, one.state) for one in lab.controller.cycle()] == [("east", "done")]
    assert [one.state for one in store.transactions("west")] == ["planned"]


def test_a_pass_that_fails_is_raised_after_the_others(tmp_path: Path) -> None:
    done = []

    def fail() -> list[Any]:
        raise ValueError("a bug")

    def work() -> list[Any]:
        time.sleep(0.05)
        done.append(1)
        return []

    passes = Passes(2)
    with pytest.raises(ValueError, match="a bug"):
        passes.run({"a": fail, "b": work, "c": work})
    assert done == [1, 1]
    assert passes.run({"a": work}) == []
