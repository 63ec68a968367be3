"""The controller of two switches in virtual time: a failing switch does not keep the other from the
requested state, and a change of both is finished or undone."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from controller_pair import ILLS, PairLife
from sqlalchemy.exc import SQLAlchemyError
from test_controller_lives import instead, ports_in

from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.errors import ConfigError
from lightloom.switches.protocol import SwitchError

STEPS = 12
LIVES = 40
"""As many are lived in each run of the tests; `make test-long` has the others."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ports_in(tmp_path_factory.mktemp("pair"))


def lived(seed: int, folder: Path) -> Counter[str]:
    """What happened in a life; fails if an invariant does not hold."""
    life = PairLife(seed, folder)
    seen = Counter([str(life.places[life.ill].ill)])
    for _ in range(STEPS):
        life.step()
    seen["crashes"] += life.crashes
    seen["both open"] += life.most_open == 2
    for one in life.store.transactions(limit=1000):
        seen[f"{'sound' if one.switch == life.sound else 'ill'} {one.state}"] += 1
    life.calm()
    return seen


counted = cache(lived)
"""Each life once."""


@pytest.mark.parametrize("first", range(0, LIVES, 20))
def test_a_switch_that_fails_does_not_concern_the_other(folder: Path, first: int) -> None:
    for seed in range(first, first + 20):
        counted(seed, folder)


@pytest.mark.long
@pytest.mark.parametrize("first", range(LIVES, 2_160, 100))
def test_a_switch_that_fails_does_not_concern_the_other_for_long(folder: Path, first: int) -> None:
    for seed in range(first, first + 100):
        lived(seed, folder)


def test_the_lives_have_every_fault_and_changes_of_both_at_a_crash(folder: Path) -> None:
    seen = sum((counted(seed, folder) for seed in range(LIVES)), Counter[str]())
    assert all(seen[ill] > 3 for ill in ILLS), seen
    assert seen["crashes"] > 10, seen
    assert seen["both open"] > 0, seen
    assert min(seen["ill undone"], seen["ill stuck"], seen["ill done"], seen["sound done"]) > 0, (
        seen
    )


def of_one_only(usual: Any, self: Store, switch: str | None = None) -> Any:
    """Returns the unfinished transactions of only one of the switches."""
    return [one for one in usual(self, switch) if one.switch == "east"]


def stops_at_trouble(usual: Any, self: Controller, one: Any) -> bool:
    """A switch that does not answer ends the iteration."""
    if not usual(self, one):
        raise SwitchError("no answer")
    return True


def of_any_switch(usual: Any, self: Store, switch: str) -> Any:
    return usual(self, "east") if switch == "west" else usual(self, switch)


BROKEN: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "both changes are recovered": instead(Store, "unfinished", of_one_only),
    "a silent switch holds up no other": instead(Controller, "_read", stops_at_trouble),
    "requests are of one switch": instead(Store, "intents", of_any_switch),
    "ownership is of one switch": instead(Store, "owned", of_any_switch),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_controller_that_mixes_its_switches_is_found_out(
    folder: Path, monkeypatch: pytest.MonkeyPatch, rule: str
) -> None:
    BROKEN[rule](monkeypatch)
    for seed in range(100):
        try:
            lived(seed, folder)
        except (AssertionError, ConfigError, SwitchError, SQLAlchemyError):
            return
    pytest.fail("in 100 lives nothing was found")
