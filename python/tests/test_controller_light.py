"""Traffic and light: no traffic enters a circuit without light, and none is kept away from a lit
circuit for longer than a transaction is open or the light is missing."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab
from test_controller_dark import Slow
from test_controller_roles import Recorder

from lightloom.controller.deferred import waiting
from lightloom.controller.hooks import HookError, NoHook
from lightloom.controller.leases import reserve
from lightloom.controller.overview import alarms_of
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.switches.ports import Pair, Port
from lightloom.switches.protocol import SwitchError

DARK_DBM = -60.0


class Faulty(Recorder):
    """A hook of which some calls fail after they have acted."""

    def __init__(self) -> None:
        super().__init__()
        self.fails: dict[str, int] = {}
        """By step: the number of calls that fail from now on."""
        self.kept: list[Pair] = []

    def keep(self, switch: str, pairs: Any) -> None:
        self.kept = [*pairs]

    def drain(self, switch: str, pairs: Any) -> None:
        super().drain(switch, pairs)
        self._fail("drain")

    def enter(self, switch: str, pairs: Any) -> None:
        super().enter(switch, pairs)
        self._fail("enter")

    def _fail(self, step: str) -> None:
        if self.fails.get(step, 0):
            self.fails[step] -= 1
            raise HookError("no answer")

    def entered(self) -> set[Pair]:
        """The cross-connects that traffic was let in to."""
        return {pair for step, pairs in self.calls if step == "enter" for pair in pairs}


class Site:
    """A controller, and a switch of which ports can lose their light."""

    def __init__(self, folder: Path, lit: Sequence[Pair] = ()) -> None:
        self.lab, self.hook = Lab(folder), Faulty()
        self.switch = self.lab.switches["east"]
        self.dark: set[int] = set()
        self.silent = 0
        """Number of readings of the power that fail from now on."""
        self.switch.power = self._power  # type: ignore[method-assign]
        self.controller: Controller = self.lab.begin(hook=self.hook)
        if lit:
            self.apply(lit)
        self.hook.calls.clear()

    def _power(self) -> Mapping[Port, float]:
        if self.silent:
            self.silent -= 1
            raise SwitchError("no answer")
        return {Port("B", b): DARK_DBM if b in self.dark else -3.0 for b in range(1, 9)}

    def apply(self, pairs: Sequence[Pair], who: str = "ann") -> str:
        self.controller.want("east", pairs, who)
        return self.controller.reconcile("east", who)[-1].state

    def sticks(self, a_port: int) -> None:
        """From now on, the switch removes cross-connects at an A port and adds none there."""
        act = self.switch.change

        def change(remove: Any, add: Any, **keys: Any) -> Any:
            if any(pair[0] == a_port for pair in add):
                act(remove, [], **keys)
                raise SwitchError(f"{a_port}A does not move")
            return act(remove, add, **keys)

        self.switch.change = change  # type: ignore[method-assign]

    def kinds(self) -> list[str]:
        return [str(alarm["kind"]) for alarm in alarms_of(self.controller)]

    def away(self) -> set[Pair]:
        return self.lab.store.away("east")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path, [(1, 1), (2, 2)])


def test_a_drain_that_fails_sends_no_traffic_into_the_dark(site: Site) -> None:
    site.dark = {2}
    site.hook.fails = {"drain": 1}
    assert site.apply([]) == "undone"
    assert site.hook.entered() == {(1, 1)}
    assert site.away() == {(2, 2)}
    site.dark.clear()
    site.controller.want("east", [(1, 1), (2, 2)], "ann")
    site.controller.cycle()
    assert site.hook.entered() == {(1, 1), (2, 2)}
    assert (site.away(), site.kinds()) == (set(), [])


def test_light_that_fades_while_the_hook_fails_keeps_traffic_away(site: Site) -> None:
    site.hook.fails = {"drain": 1, "enter": 1}
    assert site.apply([]) == "draining"
    site.hook.calls.clear()
    site.dark = {2}
    site.controller.want("east", [(1, 1), (2, 2)], "ann")
    assert [made.state for made in site.controller.cycle()] == ["undone"]
    assert site.hook.entered() == {(1, 1)}
    assert site.kinds() == ["dark"]


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_change_is_undone_if_its_light_is_not_read_at_three_attempts(
    site: Site, lost: int
) -> None:
    act = site.switch.change

    def change(*given: Any, **keys: Any) -> Any:
        made = act(*given, **keys)
        site.silent, site.switch.change = lost, act  # type: ignore[method-assign]
        return made

    site.switch.change = change  # type: ignore[method-assign]
    assert site.apply([(1, 1), (2, 3)]) == ("undone" if lost == 3 else "done")


def test_an_undo_goes_on_when_its_hook_answers(site: Site) -> None:
    """After a crash in `verifying`, traffic may be on the new circuit, which has no light."""
    store = site.lab.store
    plan = {"before": [(1, 1)], "removed": [(1, 1)], "added": [(1, 3)], "kept": []}
    one = store.plan("east", plan, "x")
    site.switch.change([(1, 1)], [(1, 3)])
    store.move(one.id, "verifying")
    site.dark = {3}
    site.controller = site.lab.begin(hook=site.hook)
    found = store.transaction(one.id)
    assert found is not None
    assert (found.state, site.lab.lit()) == ("undone", [(1, 1), (2, 2)])
    again = store.plan("east", plan, "x")
    site.switch.change([(1, 1)], [(1, 3)])
    store.move(again.id, "verifying")
    site.hook.fails = {"drain": 1}
    site.hook.calls.clear()
    site.controller.cycle()
    assert [made.state for made in store.transactions(limit=1)] == ["verifying"]
    site.controller.cycle()
    assert [made.state for made in store.transactions(limit=1)] == ["undone"]
    assert site.lab.lit() == [(1, 1), (2, 2)]


def test_a_hook_that_fails_in_an_undo_is_called_again(site: Site) -> None:
    """The switch refuses the new circuit; the hook drains at first, and then fails once."""
    act = site.switch.change

    def change(remove: Any, add: Any, **keys: Any) -> Any:
        if (1, 3) in add:
            act(remove, [], **keys)
            site.hook.fails = {"drain": 1} if site.lab.store.transactions()[0].reason == "" else {}
            raise SwitchError("refused")
        return act(remove, add, **keys)

    site.switch.change = change  # type: ignore[method-assign]
    assert site.apply([(1, 3), (2, 2)]) == "changing"
    assert site.kinds() == ["hook"]
    site.controller.want("east", [(1, 1), (2, 2)], "ann")
    assert [made.state for made in site.controller.cycle()] == ["undone"]
    assert (site.lab.lit(), site.hook.entered()) == ([(1, 1), (2, 2)], {(1, 1)})


def test_a_stuck_transaction_outlasts_changes_of_other_ports(tmp_path: Path) -> None:
    site = Site(tmp_path, [(1, 1)])
    site.sticks(1)
    assert site.apply([(1, 3)]) == "stuck"
    reserve(site.lab.store, "east", ("b", "d"), "y", 0, site.lab.now, site.lab.now + 1e6)
    for _ in range(4):
        site.lab.now += 700
        site.controller.cycle()
    assert site.lab.lit() == [(2, 4), (4, 2)]
    assert site.kinds() == ["stuck"]
    assert [made.state for made in site.lab.store.transactions()] == ["done", "stuck", "done"]
    del site.switch.change  # type: ignore[method-assign]
    assert site.apply([(1, 3)]) == "done"
    assert site.kinds() == []


def test_the_loop_settles_a_stuck_port_that_it_sets(tmp_path: Path) -> None:
    site = Site(tmp_path, [(1, 1)])
    site.sticks(1)
    assert site.apply([(1, 3)]) == "stuck"
    del site.switch.change  # type: ignore[method-assign]
    site.controller.want("east", [], "ann")
    reserve(site.lab.store, "east", ("a", "d"), "y", 0, site.lab.now, site.lab.now + 1e6)
    assert [made.state for made in site.controller.cycle()] == ["done"]
    assert site.lab.lit() == [(1, 4), (4, 1)]
    assert _names(site) == {"3B"}
    site.controller.want("east", [(2, 3)], "bob")
    assert site.controller.cycle() == []
    assert site.kinds() == ["stuck"]
    assert site.apply([(2, 3)], "bob") == "done"
    assert (site.kinds(), _names(site)) == ([], set())


def _names(site: Site) -> set[str]:
    """The names of the ports that are stuck."""
    ports = site.lab.store.stuck_ports("east")
    return {str(port) for left in ports.values() for port in left}


def test_traffic_returns_to_what_a_stuck_change_has_restored(tmp_path: Path) -> None:
    site = Site(tmp_path, [(1, 1), (2, 2)])
    site.sticks(1)
    assert site.apply([(1, 3), (2, 4)]) == "stuck"
    assert site.away() >= {(2, 2)}
    site.switch.change([], [(2, 2)])
    site.controller.want("east", [(2, 2)], "ann")
    site.hook.calls.clear()
    site.controller.cycle()
    assert site.hook.entered() == {(2, 2)}
    assert site.kinds() == ["stuck"]


def test_a_dark_circuit_without_an_owner_delays_no_rules_of_others(site: Site) -> None:
    site.switch.change([], [(3, 4)])
    site.dark = {4}
    site.controller.want("east", [(1, 1), (2, 2), (3, 4)], "ann")
    site.controller.cycle()
    assert site.hook.kept == [(1, 1), (2, 2)]
    assert site.kinds() == ["dark"]
    site.dark.clear()
    site.controller.cycle()
    assert site.hook.entered() == {(3, 4)}


def test_rules_are_kept_beside_a_transaction_whose_hook_fails(site: Site) -> None:
    site.hook.fails = {"enter": 2}
    assert site.apply([(1, 1), (2, 2), (3, 4)]) == "verifying"
    assert [made.state for made in site.controller.cycle()] == ["verifying"]
    assert site.hook.kept == [(1, 1), (2, 2)]
    assert site.kinds() == ["hook"]


def test_the_alarm_of_a_hook_stays_while_the_hook_is_called(site: Site) -> None:
    site.switch.change([], [(3, 4)])
    site.controller.want("east", [(1, 1), (2, 2), (3, 4)], "ann")
    site.hook.fails = {"enter": 3}
    seen = []
    act = site.hook.enter

    def enter(switch: str, pairs: Any) -> None:
        seen.append(site.kinds())
        act(switch, pairs)

    site.hook.enter = enter  # type: ignore[method-assign]
    for _ in range(4):
        site.controller.cycle()
    assert seen == [[], ["hook"], ["hook"], ["hook"]]
    assert site.kinds() == []


def test_what_an_open_transaction_has_added_is_not_foreign(site: Site) -> None:
    """Its hook fails, and its client then requests another circuit at one of its ports."""
    site.hook.fails = {"enter": 100}
    assert site.apply([(1, 1), (2, 2), (3, 4)]) == "verifying"
    site.controller.want("east", [(1, 1), (2, 2), (3, 3)], "ann")
    site.controller.cycle()
    assert site.kinds() == ["hook"]


def test_a_hook_that_fails_at_the_end_uses_no_dark_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The circuits are lit; the switch takes half a second for each answer."""
    slow = Slow(tmp_path)
    slow.policy_joins(0, 1)
    switch, lab = slow.lab.switches["east"], slow.lab
    for name in ("read", "power"):
        usual = getattr(switch, name)

        def late(usual: Any = usual) -> Any:
            lab.now += 0.5
            return usual()

        monkeypatch.setattr(switch, name, late)
    monkeypatch.setattr(NoHook, "enter", _fails)
    assert slow.policy_joins(0, 2) == ["verifying"]
    spent = slow.spent_s()
    for _ in range(20):
        lab.controller.cycle()
    assert slow.spent_s() == spent


def _fails(*_: object) -> None:
    raise HookError("no answer")


def test_after_a_crash_only_what_is_lit_is_drained(site: Site) -> None:
    """The change had removed a circuit, and the hook does not answer at first."""
    plan = {"before": [(1, 1), (2, 2)], "removed": [(1, 1)], "added": [(1, 3)], "kept": [(2, 2)]}
    one = site.lab.store.plan("east", plan, "x")
    site.lab.store.move(one.id, "changing")
    site.switch.change([(1, 1)], [])
    site.lab.begin(hook=site.hook)
    assert [made.state for made in site.lab.recovered] == ["done"]
    assert site.hook.calls == [("drain", []), ("enter", [(1, 3)])]


def test_a_lit_circuit_without_a_measurement_gets_traffic(tmp_path: Path) -> None:
    """A switch without power meters reports a circuit of a stuck change as failed, later as
    connected."""
    site = Site(tmp_path, [(1, 1)])
    site.switch.power = lambda: None  # type: ignore[method-assign, assignment, return-value]
    store = site.lab.store
    plan = {"before": [(1, 1)], "removed": [(1, 1)], "added": [(1, 3)], "kept": []}
    store.move(store.plan("east", plan, "x").id, "stuck", "1A")
    site.hook.calls.clear()
    site.controller.cycle()
    assert site.hook.entered() == {(1, 1)}
    assert site.away() == {(1, 3)}


def test_a_store_of_the_fifth_version_keeps_its_stuck_transactions(tmp_path: Path) -> None:
    """There, a stuck transaction lasted until the next one that was done."""
    store = Store(f"sqlite:///{tmp_path / 'c.db'}", lambda: 1.8e9)
    for added, state in (((1, 2), "stuck"), ((3, 4), "done"), ((5, 6), "stuck")):
        plan = {"before": [], "removed": [], "added": [added], "kept": []}
        store.move(store.plan("east", plan, "ann").id, state, "port" if state == "stuck" else "")
    with store._engine.begin() as db:
        db.exec_driver_sql("DROP TABLE stuck_port")
        db.exec_driver_sql("DROP TABLE away")
        db.exec_driver_sql("UPDATE meta SET value = '5' WHERE key = 'version'")
    store.close()
    again = Store(f"sqlite:///{tmp_path / 'c.db'}", lambda: 1.8e9)
    assert [one.id for one in again.stuck("east")] == [3]
    assert again.away("east") == {(5, 6)}
    again.close()


@pytest.mark.parametrize("then", [[(1, 3), (2, 2)], [(2, 2)], [(1, 1), (2, 2)]])
def test_traffic_leaves_a_circuit_that_another_client_removed(site: Site, then: list[Pair]) -> None:
    """It leaves before traffic enters another circuit at the port."""
    site.switch.change([(1, 1)], [])
    site.controller.want("east", then, "ann")
    site.controller.reconcile("east", "ann")
    assert site.hook.calls[0] == ("drain", [(1, 1)])
    assert site.hook.entered() == {*then} - {(2, 2)}
    calls = len(site.hook.calls)
    site.controller.cycle()
    assert len(site.hook.calls) == calls


def test_traffic_that_cannot_leave_a_lost_circuit_is_named(site: Site) -> None:
    site.switch.change([(1, 1)], [])
    site.controller.want("east", [(2, 2)], "ann")
    site.hook.fails = {"drain": 1}
    site.controller.cycle()
    assert site.kinds() == ["hook"]
    site.controller.cycle()
    assert site.kinds() == []


def test_a_circuit_that_was_dark_before_a_change_does_not_make_it_stuck(site: Site) -> None:
    site.dark = {2, 4}
    site.controller.cycle()
    assert site.apply([(1, 1), (2, 4)]) == "undone"
    assert site.lab.lit() == [(1, 1), (2, 2)]
    assert (site.hook.entered(), site.away()) == (set(), {(2, 2)})


def test_the_request_of_higher_priority_takes_a_checkpoint(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    for who, pair, rank in (("a", (1, 1), 0), ("b", (1, 2), 5)):
        lab.controller.want_later("east", [pair], who, rank, None)
    lab.controller.cycle()
    assert lab.lit() == [(1, 2)]
    assert [one.who for one in waiting(lab.store)] == ["a"]
