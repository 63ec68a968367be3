"""The alarm `retry`: the transaction that was undone, its reason, its ports, and the time by which
they are tried again."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab, matrix

from lightloom.controller import jobs
from lightloom.controller.overview import alarms_of
from lightloom.controller.service import Controller
from lightloom.switches.ports import Pair
from lightloom.switches.protocol import SwitchError
from lightloom.units.dates import utc

AB = [(1, 2), (2, 1)]
AC = [(1, 3), (3, 1)]
CTHROUGH = {"kind": "cthrough", "unrequested": "alone"}


def refuse(lab: Lab, patch: pytest.MonkeyPatch, bad: Collection[Pair], reason: str) -> None:
    """The switch refuses each change that adds one of some cross-connects."""
    act = lab.switches["east"].change

    def change(remove: Any, add: Any, *args: Any, **keys: Any) -> Any:
        if {*bad} & {*add}:
            raise SwitchError(reason)
        return act(remove, add, *args, **keys)

    patch.setattr(lab.switches["east"], "change", change)


def retries(controller: Controller) -> list[str]:
    return [one["text"] for one in alarms_of(controller) if one["kind"] == "retry"]


def test_a_failure_is_named_with_its_ports_reason_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    refuse(lab, monkeypatch, [(1, 2)], "mirror A1")
    refuse(lab, monkeypatch, [(4, 4)], "mirror A4")
    lab.controller.want("east", [(4, 4)], "ann")
    for _ in range(3):
        lab.controller.cycle()
    lab.controller.want("east", [(1, 2)], "bob")
    lab.controller.cycle()
    (newest, *older), texts = lab.store.transactions(states=["undone"]), retries(lab.controller)
    assert [one.plan["added"] for one in (newest, *older)] == [[[1, 2]], [[4, 4]]]
    for text, one, reason in zip(texts, (newest, *older), ("mirror A1", "mirror A4"), strict=True):
        (a, b) = one.pairs("added")[0]
        assert text.startswith(f"transaction {one.id} was undone: {reason}; ports {a}A, {b}B are ")
        # The pause after the first failure: two intervals of 1 s.
        assert text.endswith(utc(one.updated + 2))
    lab.controller.want("east", [], "ann")
    assert retries(lab.controller) == texts[:1]


def test_a_failing_change_of_the_policy_is_named_while_nothing_holds_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path, policy=CTHROUGH, mode="act", demand={"folder": "demand", "older": "60 s"})
    refuse(lab, monkeypatch, AB, "refused")
    lab.send(matrix((0, 1, 10**9)))
    (made,) = lab.controller.cycle()
    (text,) = retries(lab.controller)
    assert text.startswith(f"transaction {made.id} was undone: refused; ports 1A, 1B, 2A, 2B ")
    lab.now += 61
    assert lab.controller.cycle() == []
    assert lab.controller.switches["east"].held_back == "there is no recent demand"
    assert retries(lab.controller) == []


def test_ports_of_a_stuck_change_are_not_said_to_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change was undone before, and is done since."""
    lab = Lab(tmp_path)
    with monkeypatch.context() as patch:
        refuse(lab, patch, [(4, 4)], "refused")
        lab.controller.apply("east", [(4, 4)], "ann")
    lab.controller.apply("east", [(1, 2), (4, 4)], "ann")
    usual = lab.switches["east"].change

    def stick(remove: Any, add: Any, **keys: Any) -> None:
        usual(remove, [], **keys)
        raise SwitchError("mirror A1")

    monkeypatch.setattr(lab.switches["east"], "change", stick)
    (made,) = lab.controller.apply("east", [(1, 3), (4, 4)], "ann")
    assert made.state == "stuck"
    assert {one["kind"] for one in alarms_of(lab.controller)} == {"stuck"}


def test_a_change_that_fails_at_a_checkpoint_is_named_until_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    lab.controller.apply("east", AB, "ann")
    jobs.announce(lab.store, "train", "s", ["a"], 8, lab.now)
    made = lab.controller.want_later("east", AC, "ann", 0, None)
    jobs.set_boundary(lab.store, "train", "s", lab.now, lab.now + 60, lab.now)
    with monkeypatch.context() as patch:
        refuse(lab, patch, AC, "refused")
        (tried,) = lab.controller.cycle()
    lab.now += 4000
    assert lab.controller.cycle() == []
    (text,) = retries(lab.controller)
    assert text.startswith(f"transaction {tried.id} was undone: refused; change {made.id} of ann ")
    lab.controller.apply("east", AB, "ann")
    assert retries(lab.controller) == []


def test_a_standby_that_never_read_the_switch_names_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Lab(tmp_path)
    refuse(lab, monkeypatch, AB, "refused")
    lab.controller.apply("east", AB, "ann")
    standby = Controller(lab.config, lab.store, lab.clock, lambda _: lab.switches["east"])
    assert (len(retries(lab.controller)), retries(standby)) == (1, [])
