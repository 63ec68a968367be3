"""A standby writes nothing, and an undo drains the circuits that it removes."""

from pathlib import Path

import pytest
from controller_support import Lab

from lightloom.controller.run import standby_store
from lightloom.controller.store import DeposedError
from lightloom.controller.transaction import Executor


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
    assert hook.calls == [("drain", [(1, 2)]), ("enter", [(1, 1)])]
    assert lab.lit() == [(1, 1)]
