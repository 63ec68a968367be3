"""Draining by disabling interfaces: gNMI to a switch of each rack, in the order that keeps traffic
off dark circuits."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab
from gnmi_support import TopOfRack, racks

from lightloom.controller.config import config_of
from lightloom.controller.database import DeposedError
from lightloom.controller.hooks import HookError
from lightloom.controller.interface_hook import InterfaceHook
from lightloom.controller.overview import alarms_of
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.errors import ConfigError
from lightloom.switches.ports import Pair

UPLINK = "Ethernet8"
HEAD = "switch,port,target,interface\n"


class Drained:
    """A controller whose hook disables interfaces; the interfaces that are up are recorded at each
    change of circuits."""

    def __init__(self, folder: Path) -> None:
        self.tors = [TopOfRack(UPLINK) for _ in range(4)]
        lines = [f"east,{a}A,{tor.url},{UPLINK}\n" for a, tor in enumerate(self.tors, 1)]
        (folder / "uplinks.csv").write_text(HEAD + "".join(lines))
        self.lab = Lab(folder, drain={"interfaces": "uplinks.csv"})
        self.changes: list[tuple[list[Pair], list[Pair], list[bool]]] = []
        switch = self.lab.switches["east"]
        self.change = switch.change

        def change(remove: Any, add: Any, **keys: Any) -> Any:
            self.changes.append((sorted(remove), sorted(add), self.up()))
            return self.change(remove, add, **keys)

        switch.change = change  # type: ignore[method-assign]

    def up(self) -> list[bool]:
        """Returns which of the four interfaces are up."""
        return [tor.enabled[UPLINK] for tor in self.tors]

    def slow(self, tor: TopOfRack) -> None:
        """Makes an interface stay up; the time to wait for it is short, unlike that for answers."""
        tor.slow.add(UPLINK)
        hook = self.lab.controller._hook
        assert isinstance(hook, InterfaceHook)
        hook._wait_s = 0.3

    def apply(self, *pairs: Pair) -> Any:
        """Returns the transaction that lights exactly these cross-connects."""
        self.lab.controller.want("east", pairs, "ann")
        return self.lab.controller.reconcile("east", "ann")[-1]


@pytest.fixture
def drained(tmp_path: Path) -> Iterator[Drained]:
    made = Drained(tmp_path)
    with racks(*made.tors):
        yield made


def test_interfaces_are_down_while_their_circuit_changes(drained: Drained) -> None:
    """a – b becomes a – c; the interface of b, which no longer has a circuit, stays down."""
    assert drained.apply((1, 2), (2, 1)).state == "done"
    assert drained.apply((1, 3), (3, 1)).state == "done"
    assert drained.changes == [
        ([], [(1, 2), (2, 1)], [True, True, True, True]),
        ([(1, 2), (2, 1)], [(1, 3), (3, 1)], [False, False, True, True]),
    ]
    assert drained.up() == [True, False, True, True]
    assert drained.apply((1, 3), (3, 1), (2, 4), (4, 2)).state == "done"
    assert drained.up() == [True] * 4


def test_interfaces_of_kept_circuits_are_not_touched(drained: Drained) -> None:
    drained.apply((1, 2), (2, 1), (3, 4), (4, 3))
    sets = len(drained.tors[2].sets), len(drained.tors[3].sets)
    drained.apply((3, 4), (4, 3))
    assert drained.changes[-1][2] == [False, False, True, True]
    assert (len(drained.tors[2].sets), len(drained.tors[3].sets)) == sets


def test_light_that_leads_one_way_has_one_interface(drained: Drained) -> None:
    """Traffic enters 1A-2B only at rack a: rack b continues to send over 2A-3B."""
    drained.apply((1, 2), (2, 3))
    drained.apply((2, 3))
    assert drained.changes[-1] == ([(1, 2)], [], [False, True, True, True])


def test_a_switch_has_one_set_for_all_its_interfaces(tmp_path: Path) -> None:
    tor = TopOfRack("e1", "e2")
    (tmp_path / "u.csv").write_text(f"{HEAD}east,1A,{tor.url},e1\neast,2A,{tor.url},e2\n")
    config = config_of(
        {
            "switch": [{"name": "east", "url": "scpi://x", "ports": "p.csv"}],
            "drain": {"interfaces": "u.csv"},
        },
        tmp_path,
    )
    assert config.drain is not None
    hook = InterfaceHook(config.drain)
    with racks(tor):
        hook.drain("east", [(1, 2), (2, 1)])
        hook.enter("east", [(2, 1)])
        hook.drain("east", [])
    assert tor.sets == [[("e1", False), ("e2", False)], [("e2", True)]]
    assert tor.enabled == {"e1": False, "e2": True}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda _, tor: setattr(tor, "refuses", True), "the configuration is locked"),
        (Drained.slow, "admin-status is UP after 0.3 s, not DOWN"),
        (lambda _, tor: setattr(tor, "password", "secret"), "refused the login"),
        (lambda _, tor: tor.enabled.pop(UPLINK), f"no interface {UPLINK}"),
        (lambda _, tor: tor.stop(), "gnmi://127.0.0.1"),
    ],
)
def test_nothing_goes_dark_if_an_interface_stays_up(
    drained: Drained, spoil: Any, said: str
) -> None:
    """The other end, which was disabled in time, is enabled again.

    The transaction is open until the switch of the first end answers, and an alarm states the
    reason.
    """
    drained.apply((1, 2), (2, 1))
    spoil(drained, drained.tors[1])
    made = drained.apply((1, 3), (3, 1))
    assert made.state in ("undone", "draining")
    alarms = [one["kind"] for one in alarms_of(drained.lab.controller)]
    assert ("hook" in alarms) == (made.state == "draining")
    assert said in made.reason
    assert str(drained.tors[1].port) in made.reason
    assert drained.lab.lit() == [(1, 2), (2, 1)]
    assert len(drained.changes) == 1
    assert drained.tors[0].enabled[UPLINK]


def test_a_port_without_an_interface_is_named(drained: Drained) -> None:
    drained.lab.switches["east"].change([], [(7, 8)])
    with pytest.raises(HookError, match="at port 7A of"):
        InterfaceHook(drained.lab.config.drain).drain("east", [(7, 8)])  # type: ignore[arg-type]


def test_a_crash_in_mid_change_leaves_interfaces_down_until_it_is_recovered(
    drained: Drained,
) -> None:
    """The process ends after the switch has acted; the next process admits traffic."""
    drained.apply((1, 2), (2, 1))
    switch, change = drained.lab.switches["east"], drained.lab.switches["east"].change

    def crash(*given: Any, **keys: Any) -> Any:
        change(*given, **keys)
        raise KeyboardInterrupt

    switch.change = crash  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        drained.apply((1, 3), (3, 1))
    assert drained.up() == [False, False, True, True]
    switch.change = change  # type: ignore[method-assign]
    drained.lab.begin()
    assert [one.state for one in drained.lab.recovered] == ["done"]
    assert drained.up() == [True, False, True, True]
    assert drained.lab.lit() == [(1, 3), (3, 1)]


def test_after_a_takeover_the_former_controller_leaves_interfaces_alone(tmp_path: Path) -> None:
    """The controller is stopped after the switch has acted.

    The other controller finishes the change with its own hook, and changes the circuits again. Then
    the former controller continues.
    """
    drained = Drained(tmp_path)
    lab, url = drained.lab, f"sqlite:///{tmp_path / 'shared.db'}"
    lab.store = Store(url, lab.clock)
    switch, change = lab.switches["east"], lab.switches["east"].change
    with racks(*drained.tors):
        lab.begin()
        assert lab.store.take_role("one", 10.0)
        drained.apply((1, 2), (2, 1))
        store = Store(url, lab.clock)
        other = Controller(lab.config, store, lab.clock, lambda _: switch)

        def stopped(*given: Any, **keys: Any) -> Any:
            made = change(*given, **keys)
            switch.change = change  # type: ignore[method-assign]
            lab.now += 20.0
            assert store.take_role("two", 1e9)
            assert [one.state for one in other.start()] == ["done"]
            assert drained.up() == [True, False, True, True]
            other.want("east", [(4, 2)], "ann")
            assert [one.state for one in other.reconcile("east", "ann")] == ["done"]
            return made

        switch.change = stopped  # type: ignore[method-assign]
        with pytest.raises(DeposedError):
            drained.apply((1, 3), (3, 1))
        assert lab.lit() == [(4, 2)]
        # Interfaces of removed circuits without a new circuit at their ports stay down.
        assert drained.up() == [False, False, False, True]
        assert [one.state for one in store.transactions()] == ["done", "done", "done"]
        assert store.broken_link() is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{HEAD}east,1,gnmi://x,e0\n", "u.csv:2: port = 1:"),
        (f"{HEAD}east,1B,gnmi://x,e0\n", "at its A port"),
        (f"{HEAD}east,1A,scpi://x,e0\n", "over gNMI"),
        (f"{HEAD}east,1A,gnmi://x,e0\neast,1A,gnmi://x,e1\n", "u.csv:3: 1A of east is there"),
        (f"{HEAD}east,1A,gnmi://x,e0\neast,2A,gnmi://x,e0\n", "u.csv:3: gnmi://x e0 is there"),
        ("port,target,interface\n1A,gnmi://x,e0\n", "no column switch"),
        (f"{HEAD}east,1A,gnmi://x,e0\neast,2A,gnmi://x,e1\n", "port 3A of east, which rack c"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "u.csv").write_text(text)
    with pytest.raises(ConfigError) as problem:
        Lab(tmp_path, drain={"interfaces": "u.csv"})
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"drain": {"interfaces": "u.csv"}, "hook": "http://x"}, "hook"),
        ({"drain": {"interfaces": "u.csv", "timeout": "0 s"}}, "drain.timeout"),
        ({"drain": {}}, "drain.interfaces"),
        ({"drain": {"interfaces": "u.csv", "wait": "1 s"}}, "drain.wait"),
    ],
)
def test_keys_of_drain_that_cannot_be_are_refused(keys: Any, key: str) -> None:
    table = {"switch": [{"name": "x", "url": "scpi://a", "ports": "p.csv"}], **keys}
    with pytest.raises(ConfigError) as problem:
        config_of(table)
    assert problem.value.key == key
