"""OpenFlow 1.3: encoding of rules, stages, barriers, and switches that fail."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from openflow_support import FakeSwitch, open_vswitch, reason
from testbed_support import live

pytest.importorskip("os_ken")

from lightloom.errors import ConfigError
from lightloom.switches.openflow import LOCAL, NORMAL, Listener, Match, Removal, Rule

TO_B = Match(ipv4_dst=("10.0.1.0", "255.255.255.0"))
TO_C = Match(in_port=LOCAL, eth_dst=("02:4c:00:02:00:00", "ff:ff:ff:ff:00:00"))
B_ON_WIRE = "eth_type=0800,ipv4_dst=0a000100/ffffff00"
PATIENCE_S = 2.0
"""How long switches are waited for that do not answer."""


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener("127.0.0.1:0", answer_s=1)
    yield made
    made.close()


def connected(listener: Listener, *switches: FakeSwitch) -> None:
    for one in switches:
        one.connect(listener.address)
    assert listener.missing([one.datapath for one in switches], time.monotonic() + 5) == []


def test_rules_are_those_of_the_standard_on_the_wire(listener: Listener) -> None:
    """The receiver is a switch that was written without os-ken."""
    switch = FakeSwitch(0x1234)
    connected(listener, switch)
    stages = [
        [Rule(100, TO_B, out=3, vlan=1000), Rule(7, TO_C, out=None), Rule(1, Match(), NORMAL)],
        [Removal(7, TO_C)],
    ]
    assert listener.apply({0x1234: stages}, 2) == {}
    assert switch.rules == {
        (100, B_ON_WIRE): "push:8100,set:vlan_vid=13e8,output:3",
        (1, ""): "output:fffffffa",
    }
    assert [event[:2] for event in switch.events] == ["+1", "+7", "+1", "ba", "-7", "ba"]
    assert switch.events[1] == "+7 in_port=fffffffe,eth_dst=024c00020000/ffffffff0000 drop"


def test_a_stage_begins_after_all_have_ended_the_one_before(listener: Listener) -> None:
    """The first switch could apply its second stage at once, but waits for the slow switch."""
    fast, slow = FakeSwitch(1), FakeSwitch(2)
    connected(listener, fast, slow)
    times: dict[str, float] = {}
    change, answer = FakeSwitch._change, FakeSwitch._answer

    def noted(self: FakeSwitch, body: bytes) -> None:
        change(self, body)
        times.setdefault(f"{self.datapath} {self.events[-1][:2]}", time.monotonic())

    def late(self: FakeSwitch, link: socket.socket, kind: int, xid: int, body: bytes) -> None:
        if self is slow and kind == 20 and "2 +2" not in times:
            time.sleep(0.2)
            times["slow"] = time.monotonic()
        answer(self, link, kind, xid, body)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FakeSwitch, "_change", noted)
        patch.setattr(FakeSwitch, "_answer", late)
        stages = [[Rule(10, TO_B, 1)], [Rule(20, TO_B, 1)]]
        assert listener.apply({1: stages, 2: stages}, 2) == {}
    assert times["1 +1"] < times["slow"] < times["1 +2"]


@pytest.mark.parametrize(
    ("switch", "said"),
    [
        (FakeSwitch(2, silent=True), "no barrier reply in time"),
        (FakeSwitch(2, refuses=(5, 1)), "it refused a rule: OFPET_FLOW_MOD_FAILED"),
        (FakeSwitch(2, refuses=(5, 1)), "OFPFMFC_TABLE_FULL"),
        (FakeSwitch(2, refuses=(99, 99)), "it refused a rule"),
        (FakeSwitch(2, breaks_at=1), "the switch closed the connection"),
    ],
)
def test_a_switch_that_fails_gets_no_more_stages(
    listener: Listener, switch: FakeSwitch, said: str
) -> None:
    good = FakeSwitch(1)
    connected(listener, good, switch)
    stages = [[Rule(10, TO_B, 1)], [Removal(10, TO_B)]]
    began = time.monotonic()
    failed = listener.apply({1: stages, 2: stages}, PATIENCE_S)
    assert time.monotonic() - began < 2 * PATIENCE_S
    assert [*failed] == [2]
    assert said in str(failed[2])
    assert good.rules == {}
    assert len(good.events) == 4
    assert not [event for event in switch.events if event.startswith("-")]
    switch.close()


def test_a_switch_that_is_not_there_is_reported_in_time(listener: Listener) -> None:
    began = time.monotonic()
    failed = listener.apply({7: [[Rule(10, TO_B, 1)]]}, 0.2)
    assert 0.15 < time.monotonic() - began < 2
    assert f"{listener.address} after 0.2 s" in str(failed[7])


def test_a_switch_may_come_late_and_come_back(listener: Listener) -> None:
    first = FakeSwitch(5)
    connected(listener, first)
    first.close()
    until = time.monotonic() + 5
    while not listener.missing([5], 0) and time.monotonic() < until:
        time.sleep(0.01)
    second = FakeSwitch(5)
    connected(listener, second)
    assert listener.apply({5: [[Rule(10, TO_B, 1)]]}, 1) == {}
    # A third switch with the same datapath ID replaces it, as after a restart.
    third = FakeSwitch(5)
    third.connect(listener.address)
    while not third.rules and time.monotonic() < until:
        listener.apply({5: [[Rule(10, TO_B, 1)]]}, 1)
    assert third.rules


def test_switches_that_ask_whether_somebody_is_there_are_answered(listener: Listener) -> None:
    switch = FakeSwitch(1)
    connected(listener, switch)
    switch.echo(b"are you there")
    until = time.monotonic() + 5
    while not switch.echoes and time.monotonic() < until:
        time.sleep(0.01)
    assert switch.echoes == [b"are you there"]


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("!BBHI", 1, 0, 8, 1),
        struct.pack("!BBHI", 4, 0, 7, 1),
        struct.pack("!BBHI", 4, 0, 8, 1) + struct.pack("!BBHI", 4, 6, 12, 2) + b"abcd",
        struct.pack("!BBHI", 4, 0, 800, 1) + b"too short",
    ],
    ids=["silence", "http", "version", "length", "features", "cut"],
)
def test_what_is_no_switch_is_hung_up_on(listener: Listener, sent: bytes) -> None:
    """The connection is closed after the time for a handshake; switches are served during this time
    and after it."""
    host, _, port = listener.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=5) as link:
        link.sendall(sent)
        switch = FakeSwitch(1)
        connected(listener, switch)
        assert listener.apply({1: [[Rule(10, TO_B, 1)]]}, 1) == {}
        with suppress(ConnectionResetError):
            while link.recv(4096):  # raises an exception if the connection is open after 5 s
                pass
    assert switch.rules


@pytest.mark.parametrize("address", ["6653", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:99999"])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="an address and a"):
        Listener(address)


def test_an_address_in_use_is_refused_and_a_socket_left_behind_is_not(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'of.sock'}"
    first = Listener(address)
    with pytest.raises(ConfigError, match="already in use"):
        Listener(address)
    first.close()
    assert (tmp_path / "of.sock").exists()
    second = Listener(address)
    connected(second, FakeSwitch(1))
    second.close()


@live
@pytest.mark.skipif(reason() is not None, reason=reason() or "")
def test_open_vswitch_has_the_rules_that_were_pushed(tmp_path: Path) -> None:
    listener = Listener(f"unix:{tmp_path / 'of.sock'}")
    try:
        with open_vswitch(tmp_path / "ovs", "lltest-of", 0xABC, listener.address) as switch:
            rules = [
                Rule(100, TO_B, 1, vlan=1000, cookie=9),
                Rule(200, TO_B, None),
                Rule(5, TO_C, 2),
            ]
            assert listener.apply({0xABC: [rules, [Removal(5, TO_C)]]}, 10) == {}
            assert switch.flows() == [
                "cookie=0x9, priority=100,ip,nw_dst=10.0.1.0/24 "
                "actions=push_vlan:0x8100,set_field:5096->vlan_vid,output:1",
                "priority=200,ip,nw_dst=10.0.1.0/24 actions=drop",
            ]
            # A rule that the standard does not allow is refused, with its reason.
            failed = listener.apply({0xABC: [[Rule(1, Match(), 0xFFFFFF05)]]}, 10)
            assert "OFPET_BAD_ACTION" in str(failed[0xABC])
            many = [Rule(1000 + at, TO_B, 1) for at in range(3_000)]
            assert listener.apply({0xABC: [many]}, 20) == {}
            assert len(switch.flows()) == 3_002
    finally:
        listener.close()
