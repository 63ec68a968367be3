"""The main loop of a controller's process, one iteration at a time."""

import copy
from pathlib import Path

import pytest
from controller_support import Lab
from sqlalchemy.exc import OperationalError

from lightloom.controller.database import NO_ROLE, DeposedError
from lightloom.controller.run import Loop, Role


class Driven:
    """A loop on the clock of a lab."""

    def __init__(self, lab: Lab) -> None:
        self.lab, self.said = lab, list[str]()
        self.role = Role(lab.store, 10.0, "one")
        self.loop = Loop(lab.controller, self.role, self.said.append, lambda: lab.now)

    def turn(self, after_s: float) -> None:
        self.lab.now += after_s
        self.role.renew()
        self.loop.turn()


def test_a_failure_is_shown_until_a_pass_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = Driven(Lab(tmp_path))
    controller = driven.lab.controller

    def fail() -> None:
        raise ValueError("no")

    with monkeypatch.context() as broken:
        broken.setattr(controller, "cycle", fail)
        driven.turn(1.0)
        assert controller.failure == "ValueError: no"
        driven.turn(0.2)
        assert controller.failure == "ValueError: no"
        assert len(driven.said) == 1
    driven.turn(0.2)
    assert controller.failure == "ValueError: no"
    driven.turn(1.0)
    assert controller.failure is None


def test_a_loop_passes_once_an_interval_and_only_with_the_role(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven = Driven(Lab(tmp_path))
    passes, began = [], []
    monkeypatch.setattr(driven.lab.controller, "cycle", lambda: passes.append(driven.lab.now) or [])
    monkeypatch.setattr(driven.lab.controller, "start", lambda: began.append(driven.lab.now) or [])
    for _ in range(20):
        driven.turn(0.2)
    assert (len(began), len(passes)) == (1, 4)
    driven.role.held = False
    driven.loop.turn()
    assert (len(began), len(passes)) == (1, 4)
    driven.turn(0.1)
    assert (len(began), len(passes)) == (2, 5)


def test_a_controller_that_ends_gives_its_role_up(tmp_path: Path) -> None:
    """Another controller takes the role at once; a standby gives up no role."""
    lab = Lab(tmp_path)
    first, second = lab.store, copy.copy(lab.store)
    first.fence = second.fence = NO_ROLE
    roles = [Role(first, 1000.0, "one"), Role(second, 1000.0, "two")]
    for role in roles:
        role.renew()
    assert [role.held for role in roles] == [True, False]
    roles[1].leave()
    roles[1].renew()
    assert not roles[1].held
    roles[0].leave()
    with pytest.raises(DeposedError):
        first.note("one", "event", {})
    roles[1].renew()
    assert roles[1].held
    roles[0].leave()
    assert second.is_active()


def test_a_standby_says_once_who_is_active(tmp_path: Path) -> None:
    driven = Driven(Lab(tmp_path))
    other = copy.copy(driven.lab.store)
    assert other.take_role("rack9:77", 100.0)
    for _ in range(3):
        driven.turn(1.0)
    assert len(driven.said) == 1
    assert "rack9:77" in driven.said[0]


def test_the_loop_goes_on_after_its_database_did_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The role is lost in the meantime, and taken again when the database answers."""

    def fail(*_: object, **__: object) -> None:
        raise OperationalError("SELECT 1", {}, Exception("connection refused"))

    driven = Driven(Lab(tmp_path))
    driven.turn(1.0)
    assert driven.role.held
    with monkeypatch.context() as down:
        for name in ("take_role", "holder", "check_role"):
            down.setattr(driven.lab.store, name, fail)
        driven.turn(1.0)
        assert not driven.role.held
    driven.lab.controller.want("east", [(1, 2)], "ann")
    driven.turn(1.0)
    assert (driven.role.held, driven.lab.lit()) == (True, [(1, 2)])


def test_a_failure_of_the_loop_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OperationalError("SELECT 1", {}, Exception("connection refused"))

    driven = Driven(Lab(tmp_path))
    monkeypatch.setattr(driven.lab.controller, "cycle", fail)
    driven.turn(1.0)
    assert len(driven.said) == 1
    assert "\n" not in driven.said[0]
    assert "connection refused" in driven.said[0]


def test_changes_of_clients_are_printed_beside_those_of_the_loop(tmp_path: Path) -> None:
    driven = Driven(Lab(tmp_path))
    driven.turn(1.0)
    driven.lab.controller.want("east", [(1, 2)], "ann")
    driven.lab.controller.reconcile("east", "ann")
    driven.lab.controller.want("east", [], "ann")
    driven.turn(1.0)
    assert driven.said == [
        "transaction 1 of east for ann: done",
        "transaction 2 of east for controller: done",
    ]
