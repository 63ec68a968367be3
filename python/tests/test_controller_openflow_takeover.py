"""OpenFlow rules after a takeover: the new leader finishes or undoes the change, and leaves exactly
one rule for each lit circuit."""

import copy
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from openflow_support import FakeSwitch
from test_controller_openflow import Flowing

pytest.importorskip("os_ken")

from lightloom.controller.database import DeposedError
from lightloom.controller.run import Loop, Role
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import SwitchError

BEFORE, AFTER = [(1, 2), (2, 1)], [(1, 3), (3, 1)]


class EndError(BaseException):
    """The process of the controller ends."""


@pytest.fixture
def flowing(tmp_path: Path) -> Iterator[Flowing]:
    made = Flowing(tmp_path)
    made.connect()
    yield made
    made.close()


def take_over(flowing: Flowing) -> None:
    """Starts another process with the contents of the store, to which the switches connect."""
    flowing.hook().stop()
    flowing.lab.controller = flowing.lab.begin()
    flowing.switches = [FakeSwitch(one.datapath, rules=one.rules) for one in flowing.switches]
    flowing.connect()


def assert_whole(flowing: Flowing) -> None:
    """Checks that there is one rule for each lit circuit, and no other rule."""
    lit = {*flowing.lab.lit()}
    assert flowing.on_circuits() == lit
    assert sum(len(one.rules) for one in flowing.switches) == len(lit)


@pytest.mark.parametrize("number", range(1, 13))
def test_a_change_that_ends_anywhere_is_finished_or_undone_by_the_successor(
    flowing: Flowing, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """The process ends before or after the n-th stage of rules, or the n-th call of the circuit
    switch."""
    flowing.apply(*BEFORE)
    left = [number]

    def point() -> None:
        left[0] -= 1
        if left[0] == 0:
            raise EndError

    emulated, usual = flowing.lab.switches["east"], flowing.lab.switches["east"].change

    def change(*given: Any, **keys: Any) -> Any:
        point()
        made = usual(*given, **keys)
        point()
        return made

    with monkeypatch.context() as watched:
        watched.setattr(emulated, "change", change)
        flowing.hook()._check = point
        try:
            flowing.apply(*AFTER)
        except EndError:
            pass
        else:
            assert left[0] > 0
    take_over(flowing)
    for _ in range(3):
        flowing.lab.controller.cycle()
        flowing.lab.now += 5
    assert flowing.lab.lit() == AFTER
    assert_whole(flowing)


def test_the_rules_of_a_stuck_change_are_gone_once_the_successor_has_settled_it(
    flowing: Flowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change fails halfway, and its undo as well; another controller takes over, and the
    operator sends another request."""
    flowing.apply(*BEFORE)
    emulated, usual = flowing.lab.switches["east"], flowing.lab.switches["east"].change

    def change(remove: Any, add: Any, **keys: Any) -> None:
        usual(remove, [], **keys)
        raise SwitchError("a mirror does not move")

    with monkeypatch.context() as broken:
        broken.setattr(emulated, "change", change)
        assert flowing.apply(*AFTER).state == "stuck"
    assert flowing.on_circuits() == set()
    take_over(flowing)
    assert flowing.apply((3, 4), (4, 3)).state == "done"
    assert_whole(flowing)


def test_a_standby_gives_the_switches_to_the_active_controller(flowing: Flowing) -> None:
    """Both controllers listen at one address, as on one machine or behind a floating address."""
    lab, role = flowing.lab, Role(flowing.lab.store, 10.0, "one")
    loop = Loop(lab.controller, role, lambda text: None, lambda: lab.now)
    role.renew()
    loop.turn()
    flowing.apply(*BEFORE)
    lab.now += 11.0
    other = copy.copy(lab.store)
    assert other.take_role("two", 100.0)
    role.renew()
    loop.turn()
    lab.store = other
    lab.begin()
    flowing.switches = [FakeSwitch(one.datapath, rules=one.rules) for one in flowing.switches]
    flowing.connect()
    assert flowing.apply(*AFTER).state == "done"
    assert_whole(flowing)


def test_a_deposed_controller_sends_no_further_stage(flowing: Flowing) -> None:
    """The controller is stopped within a stage, and continues when another controller is active."""
    flowing.apply(*BEFORE)
    before = [len(one.events) for one in flowing.switches]
    asked: list[float] = []

    def check() -> None:
        asked.append(time.monotonic())
        if len(asked) == 2:
            raise DeposedError("another controller holds the role")

    flowing.hook()._check = check
    pairs: list[Pair] = [(1, 2)]
    with pytest.raises(DeposedError):
        flowing.hook().drain("east", pairs)
    events = [one.events[at:] for one, at in zip(flowing.switches, before, strict=True)]
    assert [len(own) for own in events] == [2, 0, 0, 0]
    assert events[0][0].startswith("+1049")
    assert events[0][1] == "barrier"
