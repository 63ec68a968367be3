"""The budget of dark time, which changes of the policy use while they keep circuits dark."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab, matrix
from typer.testing import CliRunner

from lightloom.cli import app, circuits
from lightloom.controller.dark_clock import DarkClock
from lightloom.controller.limits import HOUR_S
from lightloom.controller.overview import state_of
from lightloom.controller.timed import Pace
from lightloom.switches.protocol import SwitchError

CTHROUGH = {"kind": "cthrough", "unrequested": "alone"}
SETTLE_S = 5.0
Change = Callable[..., Any]


class Slow:
    """A controller with a policy, and a switch that takes 5 s for each change."""

    def __init__(self, folder: Path, **limits: Any) -> None:
        east = {"name": "east", "url": "scpi://127.0.0.1:5025", "ports": "ports.csv"}
        switch = [{**east, "settle": f"{SETTLE_S} s"}]
        keys = {"policy": CTHROUGH, "mode": "act", "limits": limits, "switch": switch}
        self.lab = Lab(folder, **keys)
        self.usual = self.lab.switches["east"].change
        self.answers(self.usual)
        self.begin()

    def begin(self) -> None:
        self.lab.begin(pace=Pace(lambda: self.lab.now, self._sleep))

    def _sleep(self, seconds: float) -> None:
        self.lab.now += seconds

    def answers(self, act: Change) -> None:
        def change(*given: Any, **keys: Any) -> Any:
            self.lab.now += SETTLE_S
            return act(*given, **keys)

        self.lab.switches["east"].change = change  # type: ignore[method-assign]

    def policy_joins(self, a: int, b: int) -> list[str]:
        """Lets the policy decide for a circuit; returns the states of the transactions."""
        self.lab.now += 10
        self.lab.send(matrix((a, b, 10**9)))
        return [one.state for one in self.lab.controller.cycle()]

    def spent_s(self, within_s: float = HOUR_S) -> float:
        return self.lab.store.dark_s("east", self.lab.now - within_s)


@pytest.fixture
def slow(tmp_path: Path) -> Slow:
    made = Slow(tmp_path)
    assert made.policy_joins(0, 1) == ["done"]
    return made


def near(seconds: float) -> Any:
    return pytest.approx(seconds, abs=0.1)


def test_new_circuits_at_free_ports_make_nothing_dark(slow: Slow) -> None:
    assert slow.lab.lit() == [(1, 2), (2, 1)]
    assert slow.spent_s() == 0


def test_the_time_of_a_change_that_gives_circuits_up_counts_once(slow: Slow) -> None:
    """Two cross-connects are dark for 5 s."""
    assert slow.policy_joins(0, 2) == ["done"]
    assert slow.lab.lit() == [(1, 3), (3, 1)]
    assert slow.spent_s() == near(SETTLE_S)
    (last,) = slow.lab.store.transactions("east", limit=1)
    assert last.dark_s == near(SETTLE_S)
    assert slow.policy_joins(0, 3) == ["done"]
    assert slow.spent_s() == near(2 * SETTLE_S)


def test_changes_of_operators_do_not_count(slow: Slow) -> None:
    """This also holds if they replace circuits of the policy."""
    for pairs in ([(1, 3), (3, 1)], [(1, 4), (4, 1)], []):
        slow.lab.now += 10
        slow.lab.controller.want("east", pairs, "ann")
        slow.lab.controller.reconcile("east", "ann")
    assert slow.lab.lit() == [(1, 2), (2, 1)]
    assert slow.spent_s() == 0


def test_a_change_that_failed_before_the_switch_acted_does_not_count(slow: Slow) -> None:
    def refuse(*given: Any, **keys: Any) -> Any:
        raise SwitchError("refused")

    slow.answers(refuse)
    assert slow.policy_joins(0, 2) == ["undone"]
    assert slow.lab.lit() == [(1, 2), (2, 1)]
    assert slow.spent_s() == 0


def test_a_change_that_failed_counts_until_the_former_circuits_are_lit(slow: Slow) -> None:
    """Three times, the switch removes circuits but adds neither of the new ones; then it restores
    the former circuits."""

    def half(remove: Any, add: Any, **keys: Any) -> Any:
        slow.usual(remove, [pair for pair in add if pair in ((1, 2), (2, 1))], **keys)
        if (1, 3) in add:
            raise SwitchError("a mirror does not move")

    slow.answers(half)
    assert slow.policy_joins(0, 2) == ["undone"]
    assert slow.lab.lit() == [(1, 2), (2, 1)]
    assert slow.spent_s() == near(4 * SETTLE_S)


def test_time_without_a_controller_does_not_count(slow: Slow) -> None:
    """The controller ends during a change, and 500 s later the next controller finishes the
    change."""

    def crash(remove: Any, add: Any, **keys: Any) -> Any:
        slow.usual(remove, [], **keys)
        raise KeyboardInterrupt

    slow.answers(crash)
    with pytest.raises(KeyboardInterrupt):
        slow.policy_joins(0, 2)
    assert slow.lab.lit() == []
    slow.lab.now += 500
    slow.answers(slow.usual)
    slow.begin()
    assert [one.state for one in slow.lab.recovered] == ["done"]
    assert slow.lab.lit() == [(1, 3), (3, 1)]
    assert slow.spent_s() == near(SETTLE_S)


def test_a_hook_that_fails_afterwards_does_not_count(
    slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lightloom.controller.hooks import HookError, NoHook

    def fail(*given: Any) -> None:
        slow.lab.now += 30
        raise HookError("no answer")

    with monkeypatch.context() as broken:
        broken.setattr(NoHook, "enter", fail)
        assert slow.policy_joins(0, 2) == ["verifying"]
        assert [one.state for one in slow.lab.controller.cycle()] == ["verifying"]
    slow.lab.now += 300
    assert [one.state for one in slow.lab.controller.cycle()] == ["done"]
    assert slow.spent_s() == near(SETTLE_S)


def test_of_dark_time_that_began_before_the_hour_the_part_within_it_counts(slow: Slow) -> None:
    slow.policy_joins(0, 2)
    assert slow.spent_s(2.0) == near(2.0)
    slow.lab.now += HOUR_S - 2.0
    assert slow.spent_s() == near(2.0)
    slow.lab.now += 2.1
    assert slow.spent_s() == 0


def test_the_budget_holds_back_what_gives_circuits_up_alone(tmp_path: Path) -> None:
    """A budget of 12 s permits two changes of 5 s in an hour, and any number of changes that only
    add circuits."""
    slow = Slow(tmp_path, dark_per_hour="12 s")
    slow.policy_joins(0, 1)
    slow.policy_joins(0, 2)
    slow.policy_joins(0, 3)
    assert slow.policy_joins(0, 1) == []
    east = slow.lab.controller.switches["east"]
    assert "dark time" in (east.held_back or "")
    assert slow.lab.lit() == [(1, 4), (4, 1)]
    slow.lab.now += 10
    slow.lab.send(matrix((0, 3, 10**9), (1, 2, 10**9)))
    assert [one.state for one in slow.lab.controller.cycle()] == ["done"]
    assert slow.lab.lit() == [(1, 4), (2, 3), (3, 2), (4, 1)]
    slow.lab.now += HOUR_S
    assert slow.policy_joins(0, 1) == ["done"]


def test_a_reading_ends_dark_time() -> None:
    """The next reading shows whether a command had an effect."""
    now = 0.0
    clock = DarkClock([(1, 2)], lambda: now)
    clock.see(lambda: [])
    now = 1.0
    assert clock.take_s() == 0
    clock.begin()
    now = 3.0
    clock.see(lambda: [(1, 2), (3, 4)])
    assert clock.take_s() == 0
    clock.begin()
    now = 7.0
    clock.see(lambda: [(3, 4)])
    now = 9.0
    assert clock.take_s() == 6
    now = 10.0
    clock.see(lambda: [(1, 2)])
    now = 20.0
    assert clock.take_s() == 1
    assert clock.take_s() == 0


def test_the_page_and_the_command_have_the_same_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(tmp_path, dark_per_hour="12 s")
    slow.policy_joins(0, 1)
    slow.policy_joins(0, 2)
    state = state_of(slow.lab.controller)

    class Client:
        def state(self) -> Any:
            return state

    monkeypatch.setattr(circuits, "_client", lambda url: Client())
    shown = CliRunner().invoke(app, ["circuits", "get"]).output
    assert state["switches"][0]["dark_spent_s"] == near(SETTLE_S)
    assert "5 of 12 s" in shown


def test_the_command_prints_a_plan_that_a_limit_holds_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(tmp_path, dwell="1 h")
    slow.policy_joins(0, 1)

    class Client:
        def state(self) -> Any:
            return state_of(slow.lab.controller)

    monkeypatch.setattr(circuits, "_client", lambda url: Client())
    assert "policy plans" not in CliRunner().invoke(app, ["circuits", "get"]).output
    slow.policy_joins(0, 2)
    assert "policy plans: 1A-3B, 3A-1B" in CliRunner().invoke(app, ["circuits", "get"]).output
