"""Draining by OpenFlow: rules of a switch of each rack, in the order that keeps traffic off dark
circuits. The switches are those of `openflow_support`, written from the standard, and Open
vSwitch."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from controller_support import Lab
from openflow_support import FakeSwitch, forwarded, open_vswitch, reason
from test_controller_service import wait
from testbed_support import live

pytest.importorskip("os_ken")

from lightloom.controller.config import config_of
from lightloom.controller.hooks import HookError
from lightloom.controller.openflow_hook import OpenFlowHook
from lightloom.controller.overview import alarms_of
from lightloom.errors import ConfigError
from lightloom.switches.ports import Pair

HEAD = "switch,port,datapath,circuit,electrical\n"
RULES = HEAD + "".join(f"east,{n}A,{n:016x},7,1\n" for n in range(1, 5))
HOSTS = "".join(f"10.0.{n}.0/24,{rack}\n" for n, rack in enumerate("abcd", 1))
CIRCUIT, ELECTRICAL = "output:7", "output:1"


class Flowing:
    """A controller whose hook changes rules; the traffic that enters circuits is recorded at each
    change of circuits."""

    def __init__(self, folder: Path, rules: str = RULES, hosts: str = HOSTS, **keys: Any) -> None:
        (folder / "rules.csv").write_text(rules)
        (folder / "hosts.csv").write_text(hosts)
        table = {"rules": "rules.csv", "hosts": "hosts.csv", "listen": "unix:of.sock"}
        # The time to wait for switches that do not connect or reply.
        table |= {"timeout": "2 s", "settle": "1 ms", **keys}
        self.lab = Lab(folder, openflow=table)
        self.address = f"unix:{folder / 'of.sock'}"
        self.switches = [FakeSwitch(n) for n in range(1, 5)]
        self.changes: list[tuple[list[Pair], list[Pair], set[Pair]]] = []
        emulated = self.lab.switches["east"]
        self.change = emulated.change

        def change(remove: Any, add: Any, **keys: Any) -> Any:
            self.changes.append((sorted(remove), sorted(add), self.on_circuits()))
            return self.change(remove, add, **keys)

        emulated.change = change  # type: ignore[method-assign]

    def connect(self) -> None:
        for one in self.switches:
            one.connect(self.address)
        listener = self.hook()._listening()
        assert listener.missing([1, 2, 3, 4], time.monotonic() + 30) == []

    def fail(self, datapath: int, **how: Any) -> None:
        """Makes a switch close its connection, or fail in the given way."""
        one = self.switches[datapath - 1]
        for name, value in how.items():
            setattr(one, name, value)
        if not how:
            one.close()
            wait(lambda: self.hook()._listening().connections(datapath) == 0)

    def hook(self) -> OpenFlowHook:
        hook = self.lab.controller._hook
        assert isinstance(hook, OpenFlowHook)
        return hook

    def on_circuits(self) -> set[Pair]:
        """Returns the racks whose traffic to another rack enters a circuit, as cross-connects of
        their ports."""
        return {
            (one.datapath, to)
            for one in self.switches
            for to in range(1, 5)
            if forwarded(dict(one.rules), f"10.0.{to}.9") == CIRCUIT
        }

    def apply(self, *pairs: Pair) -> Any:
        self.lab.controller.want("east", pairs, "ann")
        return self.lab.controller.reconcile("east", "ann")[-1]

    def close(self) -> None:
        self.hook().stop()
        for one in self.switches:
            one.close()


@pytest.fixture
def flowing(tmp_path: Path) -> Iterator[Flowing]:
    made = Flowing(tmp_path)
    made.connect()
    yield made
    made.close()


def test_traffic_leaves_a_circuit_before_it_changes(flowing: Flowing) -> None:
    """a – b becomes a – c in three substeps; traffic of b, which has no circuit, has no rule."""
    assert flowing.apply((1, 2), (2, 1)).state == "done"
    assert flowing.on_circuits() == {(1, 2), (2, 1)}
    before = len(flowing.switches[0].events)
    assert flowing.apply((1, 3), (3, 1)).state == "done"
    assert flowing.changes == [
        ([], [(1, 2), (2, 1)], set()),
        ([(1, 2), (2, 1)], [(1, 3), (3, 1)], set()),
    ]
    assert flowing.on_circuits() == {(1, 3), (3, 1)}
    to_b, to_c = (
        "eth_type=0800,ipv4_dst=0a000200/ffffff00",
        "eth_type=0800,ipv4_dst=0a000300/ffffff00",
    )
    assert flowing.switches[0].events[before:] == [
        f"+1049 {to_b} {ELECTRICAL}",
        "barrier",
        f"-1048 {to_b}",
        "barrier",
        f"+1048 {to_c} {CIRCUIT}",
        "barrier",
        f"-1049 {to_c}",
        "barrier",
        f"-1049 {to_b}",
        "barrier",
    ]
    assert flowing.switches[1].rules == {}


def test_traffic_is_never_on_what_changes_and_always_on_what_stays(flowing: Flowing) -> None:
    """Tests fifty random matchings of four racks, unidirectional and bidirectional."""
    chance, lit = random.Random(33), set[Pair]()
    for _ in range(50):
        ends = chance.sample(range(1, 5), 4)
        ways = [(a, b) for a, b in zip(range(1, 5), ends, strict=True) if a != b]
        wanted = {*chance.sample(ways, chance.randint(0, len(ways)))}
        if wanted == lit:
            continue
        seen = len(flowing.changes)
        assert flowing.apply(*sorted(wanted)).state == "done"
        assert len(flowing.changes) == seen + 1
        removed, _, on_circuits = flowing.changes[-1]
        assert on_circuits == lit - {*removed}
        assert flowing.on_circuits() == wanted
        # Only one rule per circuit remains.
        assert sum(len(one.rules) for one in flowing.switches) == len(wanted)
        lit = wanted


def test_rules_of_kept_circuits_are_not_touched(flowing: Flowing) -> None:
    flowing.apply((1, 2), (2, 1), (3, 4), (4, 3))
    events = len(flowing.switches[2].events), len(flowing.switches[3].events)
    flowing.apply((3, 4), (4, 3))
    assert (len(flowing.switches[2].events), len(flowing.switches[3].events)) == events


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"silent": True}, "no barrier reply in time"),
        ({"refuses": (5, 1)}, "OFPFMFC_TABLE_FULL"),
        ({}, "not connected to unix:"),
        ({"breaks_at": 1}, "closed the connection"),
    ],
)
def test_nothing_goes_dark_if_a_switch_fails_the_drain(
    flowing: Flowing, how: dict[str, Any], said: str
) -> None:
    """The other switch, whose traffic had left the circuit in time, uses the circuit again."""
    flowing.apply((1, 2), (2, 1))
    flowing.fail(2, **how)
    made = flowing.apply((1, 3), (3, 1))
    assert made.state in ("undone", "draining")  # if rules are removed, or not yet
    assert said in made.reason
    assert "datapath 0000000000000002" in made.reason
    assert flowing.lab.lit() == [(1, 2), (2, 1)]
    assert len(flowing.changes) == 1
    assert (1, 2) in flowing.on_circuits()


def test_a_switch_that_comes_back_is_used_again(flowing: Flowing) -> None:
    flowing.apply((1, 2), (2, 1))
    flowing.fail(2)
    assert flowing.apply((1, 3), (3, 1)).state == "draining"
    back = flowing.switches[1] = FakeSwitch(2, rules=dict(flowing.switches[1].rules))
    back.connect(flowing.address)
    assert flowing.apply((1, 3), (3, 1)).state == "done"
    assert flowing.on_circuits() == {(1, 3), (3, 1)}


def test_a_switch_that_restarts_gets_the_rules_of_its_lit_circuits_again(flowing: Flowing) -> None:
    """The table of the restarted switch is empty; other switches are not changed.

    A switch that refuses raises an alarm.
    """
    lab = flowing.lab
    flowing.apply((1, 2), (2, 1))
    lab.controller.cycle()
    others = [len(one.events) for one in flowing.switches[1:]]
    for refuses in ((5, 1), None):
        flowing.fail(1)
        lab.controller.cycle()
        flowing.switches[0] = FakeSwitch(1, refuses=refuses)
        flowing.switches[0].connect(flowing.address)
        assert flowing.hook()._listening().missing([1], time.monotonic() + 30) == []
        lab.controller.cycle()
        kinds = [alarm["kind"] for alarm in alarms_of(lab.controller)]
        assert kinds == (["hook"] if refuses else [])
    assert flowing.on_circuits() == {(1, 2), (2, 1)}
    assert [len(one.events) for one in flowing.switches[1:]] == others
    events = len(flowing.switches[0].events)
    lab.controller.cycle()
    assert len(flowing.switches[0].events) == events


def test_a_crash_in_mid_change_leaves_traffic_away_until_it_is_recovered(flowing: Flowing) -> None:
    """The process ends after the switch has acted; the next process admits traffic, and removes the
    rules of the first substep."""
    flowing.apply((1, 2), (2, 1))
    emulated, change = flowing.lab.switches["east"], flowing.lab.switches["east"].change

    def crash(*given: Any, **keys: Any) -> Any:
        change(*given, **keys)
        raise KeyboardInterrupt

    emulated.change = crash  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        flowing.apply((1, 3), (3, 1))
    assert flowing.on_circuits() == set()
    emulated.change = change  # type: ignore[method-assign]
    flowing.hook().stop()
    flowing.lab.begin()
    flowing.connect()
    made = [*flowing.lab.recovered, *flowing.lab.controller.cycle()]
    assert [one.state for one in made][-1] == "done"
    assert flowing.on_circuits() == {(1, 3), (3, 1)}
    assert sum(len(one.rules) for one in flowing.switches) == 2


def test_the_longest_prefix_counts_while_a_shorter_one_is_drained(tmp_path: Path) -> None:
    """Rack b has 10.0.0.0/16, and c has a part of it: draining the path to b does not affect the
    path to c."""
    hosts = "10.0.1.0/24,a\n10.0.0.0/16,b\n10.0.3.0/24,c\n10.0.3.7,d\n10.9.0.0/16,d\n"
    rules = RULES + "west,1A,0000000000000001,8,1\n".replace("\n", ",2000\n")
    rules = rules.replace(HEAD, HEAD.strip() + ",priority\n")
    flowing = Flowing(tmp_path, rules, hosts)
    flowing.connect()
    hook, (first, *_) = flowing.hook(), flowing.switches
    hook.enter("east", [(1, 2), (1, 3), (1, 4)])
    assert len(first.rules) == 4
    hook.drain("east", [(1, 2)])
    assert forwarded(first.rules, "10.0.2.1") == ELECTRICAL
    assert forwarded(first.rules, "10.0.3.1") == CIRCUIT
    hook.drain("east", [(1, 4)])
    assert forwarded(first.rules, "10.0.3.1") == CIRCUIT
    assert forwarded(first.rules, "10.0.3.7") == ELECTRICAL
    flowing.close()


def test_vlans_and_normal_forwarding_are_as_the_table_says(tmp_path: Path) -> None:
    head = "port,switch,datapath,circuit_vlan,circuit,electrical,electrical_vlan,priority\n"
    lines = [f"{n}A,east,{n},100{n},3,{'normal' if n % 2 else 3},{'' if n % 2 else 99},50\n"
             for n in range(1, 5)]  # fmt: skip
    flowing = Flowing(tmp_path, head + "".join(lines))
    flowing.connect()
    flowing.hook().enter("east", [(1, 2), (2, 1)])
    tagged = {one.datapath: forwarded(one.rules, f"10.0.{3 - one.datapath}.1")
              for one in flowing.switches[:2]}  # fmt: skip
    assert tagged == {
        1: "push:8100,set:vlan_vid=13e9,output:3",
        2: "push:8100,set:vlan_vid=13ea,output:3",
    }
    assert {key[0] for key in flowing.switches[0].rules} == {50 + 2 * 24}
    flowing.hook().drain("east", [(1, 2), (2, 1)])
    assert forwarded(flowing.switches[0].rules, "10.0.2.1") == "output:fffffffa"
    assert (
        forwarded(flowing.switches[1].rules, "10.0.1.1") == "push:8100,set:vlan_vid=1063,output:3"
    )
    flowing.close()


def test_a_cross_connect_that_no_rule_can_lead_to_is_named(flowing: Flowing) -> None:
    with pytest.raises(HookError, match="port 7A of east"):
        flowing.hook().drain("east", [(7, 2)])
    with pytest.raises(HookError, match="1A-8B of east: no"):
        flowing.hook().enter("east", [(1, 8)])


def test_a_port_in_use_is_named_by_the_drain(tmp_path: Path) -> None:
    """Another process uses the port when the controller starts, and when it drains."""
    first = Flowing(tmp_path)
    with pytest.raises(ConfigError, match=r"openflow\.listen = unix:.*in use"):
        first.lab.begin()
    second = OpenFlowHook(first.lab.config.openflow)  # type: ignore[arg-type]
    second.check("east", first.lab.controller.switches["east"].racks)
    with pytest.raises(HookError, match="address already in use"):
        second.drain("east", [(1, 2)])
    with pytest.raises(HookError, match="address already in use"):
        second.keep("east", [(1, 2)])
    first.close()


def test_a_pass_of_a_hook_whose_port_is_in_use_raises_its_alarm(tmp_path: Path) -> None:
    first = Flowing(tmp_path)
    first.connect()
    first.lab.controller.apply("east", [(1, 2)], "ann")
    with pytest.raises(ConfigError, match="address already in use"):
        first.lab.begin()
    controller = first.lab.controller
    controller.want("east", [(1, 2), (3, 4)], "ann")
    (made,) = controller.cycle()
    assert "address already in use" in made.reason
    assert {one["kind"] for one in alarms_of(controller)} == {"hook"}
    first.close()


@pytest.mark.parametrize(
    ("rules", "hosts", "said"),
    [
        (f"{HEAD}east,1,1,7,1\n", HOSTS, "rules.csv:2: port = 1:"),
        (f"{HEAD}east,1B,1,7,1\n", HOSTS, "at its A port"),
        (f"{HEAD}east,1A,xyz,7,1\n", HOSTS, "datapath = xyz: not a datapath ID"),
        (f"{HEAD}east,1A,{'1' * 17},7,1\n", HOSTS, "write 16 hexadecimal digits"),
        (f"{HEAD}east,1A,1,,1\n", HOSTS, "no circuit; give an output port, or normal"),
        (f"{HEAD}east,1A,1,0,1\n", HOSTS, "circuit = 0: must be from 1 to 4294967040"),
        (f"{HEAD}east,1A,1,eth0,1\n", HOSTS, "circuit = eth0: must be from 1"),
        (f"{HEAD}east,1A,1,7,7\n", HOSTS, "electrical: both ways are the same"),
        ("switch,port,datapath,circuit\n", HOSTS, "no column electrical"),
        (f"{HEAD}east,1A,1,7,1\neast,1A,1,8,1\n", HOSTS, "rules.csv:3: datapath 0000000000000001"),
        (f"{HEAD}east,1A,1,7,1\neast,2A,1,8,1\n", HOSTS, "list it once for a switch"),
        (f"{HEAD}east,1A,1,7,1\nwest,1A,1,8,1\n", HOSTS, "give priorities that differ by 66"),
        (f"{HEAD}east,1A,1,7,1\neast,2A,2,7,1\n", HOSTS, "port 3A of east, which rack c is on"),
        (RULES, "10.0.1.0/24,a\n", "hosts.csv: no prefix of rack b"),
        (RULES, HOSTS + "2001:db8::/64,a\n", "2001:db8::/64: rules match IPv4 addresses"),
        (RULES, HOSTS + "10.0.1.0/24,b\n", "hosts.csv:5"),
    ],
)
def test_a_table_that_is_none_is_refused(tmp_path: Path, rules: str, hosts: str, said: str) -> None:
    with pytest.raises(ConfigError) as problem:
        Flowing(tmp_path, rules, hosts)
    assert said in str(problem.value)


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ({"hook": "http://x"}, "hook"),
        ({"drain": {"interfaces": "u.csv"}}, "drain"),
        ({"openflow": {"rules": "r.csv"}}, "openflow.hosts"),
        ({"openflow": {"rules": "r", "hosts": "h", "listen": "6653"}}, "openflow.listen"),
        ({"openflow": {"rules": "r", "hosts": "h", "timeout": "0 s"}}, "openflow.timeout"),
        ({"openflow": {"rules": "r", "hosts": "h", "settle": "x"}}, "openflow.settle"),
        ({"openflow": {"rules": "r", "hosts": "h", "priority": 0}}, "openflow.priority"),
        ({"openflow": {"rules": "r", "hosts": "h", "wait": "1 s"}}, "openflow.wait"),
    ],
)
def test_keys_of_openflow_that_cannot_be_are_refused(keys: Any, key: str) -> None:
    table = {
        "switch": [{"name": "x", "url": "scpi://a", "ports": "p.csv"}],
        "openflow": {"rules": "r.csv", "hosts": "h.csv"},
        **keys,
    }
    with pytest.raises(ConfigError) as problem:
        config_of(table)
    assert problem.value.key == key


@live
@pytest.mark.skipif(reason() is not None, reason=reason() or "")
def test_open_vswitch_is_drained_and_a_stopped_one_keeps_its_circuit(tmp_path: Path) -> None:
    """Two racks have Open vSwitch, each in its own namespace."""
    flowing = Flowing(tmp_path, timeout="5 s")
    with ExitStack() as running:
        one, two = (
            running.enter_context(
                open_vswitch(tmp_path / f"ovs{n}", f"lltest-of{n}", n, flowing.address)
            )
            for n in (1, 2)
        )
        for fake in flowing.switches[2:]:
            fake.connect(flowing.address)
        assert flowing.hook()._listening().missing([1, 2, 3, 4], time.monotonic() + 30) == []
        assert flowing.apply((1, 2), (2, 1)).state == "done"
        assert one.flows() == ["priority=1048,ip,nw_dst=10.0.2.0/24 actions=output:7"]
        assert two.flows() == ["priority=1048,ip,nw_dst=10.0.1.0/24 actions=output:7"]
        assert flowing.apply((1, 3), (3, 1)).state == "done"
        assert one.flows() == ["priority=1048,ip,nw_dst=10.0.3.0/24 actions=output:7"]
        assert two.flows() == []
        flowing.hook()._timeout_s = 0.5
        os.kill(one.running[1].pid, signal.SIGSTOP)
        try:
            made = flowing.apply((1, 4), (4, 1))
        finally:
            os.kill(one.running[1].pid, signal.SIGCONT)
        assert made.state == "draining"
        assert "datapath 0000000000000001: no barrier" in made.reason
        assert flowing.lab.lit() == [(1, 3), (3, 1)]
    flowing.close()
