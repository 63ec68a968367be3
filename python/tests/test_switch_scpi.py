"""The SCPI face with a plain socket and with pyvisa-py, and the driver with the conformance
test."""

import re
import socket
import threading
import time
from contextlib import suppress

import pytest
from switch_support import ask, served, tcp

from lightloom.switches import conformance
from lightloom.switches.drivers import scpi
from lightloom.switches.drivers.scpi import ScpiSwitch
from lightloom.switches.faults import Fault
from lightloom.switches.machine import Machine
from lightloom.switches.ports import Port
from lightloom.switches.protocol import SwitchError


def test_the_commands_of_public_client_code():
    with served("scpi", ports="16x16") as switch:
        port = switch.ports["scpi"]
        assert ask(port, ":oxc:swit:size?\n") == "16,16\n"
        # 1 to 17 and 2 to 18 of 16x16 ports are 1A-1B and 2A-2B
        assert ask(port, ":oxc:swit:conn:add (@1,2),(@17,18);*opc?\r\n") == "1\n"
        assert switch.pairs() == [(1, 1), (2, 2)]
        assert ask(port, "oxc:swit:conn:stat?\n") == "(@1,2),(@17,18)\n"
        assert ask(port, "*CLS;:OXC:SWITch:CONNect:PORT? 2;*OPC?\n") == '"18";1\n'
        assert ask(port, ":oxc:swit:conn:port? 3\n") == '""\n'
        assert ask(port, ":oxc:swit:conn:only (@1,3),(@17,20); stat?\n") == "(@1,3),(@17,20)\n"
        assert switch.pairs() == [(1, 1), (3, 4)]
        assert ask(port, ":oxc:swit:conn:sub (@1),(@);:oxc:swit:conn:stat?\n") == "(@3),(@20)\n"
        assert ask(port, ":oxc:swit:port:dis (@2);:oxc:swit:port:stat? (@1:3)\n") == "(E,D,E)\n"
        assert ask(port, ":oxc:swit:disc:all;:oxc:swit:conn:stat?\n") == "(@),(@)\n"


@pytest.mark.parametrize(
    ("command", "number"),
    [
        (":oxc:swit:conn:add (@1),(@49)", -222),
        (":oxc:swit:conn:add (@17),(@1)", -222),
        (":oxc:swit:conn:add (@1,2),(@17)", -109),
        (":oxc:swit:conn:add (@1),(@18)", -221),
        (":oxc:swit:conn:sub (@5),(@21)", -221),
        (":oxc:swit:conn:add 1,17", -109),
        (":oxc:nothing", -113),
    ],
)
def test_a_refused_command_leaves_an_error_and_changes_nothing(command, number):
    with served("scpi", ports="16x16") as switch:
        port = switch.ports["scpi"]
        assert ask(port, ":oxc:swit:conn:add (@1),(@17);*opc?\n") == "1\n"
        answer = ask(port, f"{command};:syst:err?;:syst:err?\n")
        first, second = answer.strip().rsplit(";", 1)
        assert int(first.split(",")[0]) == number
        assert second == '0,"No error"'
        assert switch.pairs() == [(1, 1)]


def test_the_common_commands_of_ieee_488():
    with served("scpi", timing={"settle": "2 s"}) as switch, tcp(switch.ports["scpi"]) as line:
        answers = line.makefile()

        def say(text):
            line.sendall(f"{text}\n".encode())
            return answers.readline().strip() if "?" in text else None

        assert say("*esr?;*stb?;*tst?") == "0;0;0"
        say(":oxc:swit:conn:add (@1),(@33);*opc")
        assert say("*esr?") == "0"  # it is still settling
        say("*wai")
        assert say("*esr?;*esr?") == "1;0"
        say(":oxc:nothing")
        say(":oxc:swit:conn:add (@1),(@34)")
        assert say("*esr?;*stb?") == "48;4"  # a command and an execution error
        assert say(":syst:err:next?;:syst:err?").split(",")[0] == "-113"
        assert say("*stb?;:syst:err?") == '0;0,"No error"'


def test_a_full_queue_of_errors_ends_with_an_overflow():
    with served("scpi") as switch:
        asked = ":oxc:nothing;" * 40 + ":syst:err?;" * 33
        errors = ask(switch.ports["scpi"], f"{asked}\n").strip().split(";:")[0]
        numbers = [int(found) for found in re.findall(r'(-?\d+),"', errors)]
        assert numbers == [-113] * 31 + [-350, 0]


def test_a_client_that_waits_for_settling_does_not_keep_the_switch_busy(monkeypatch):
    until, looks = Machine.pending_until, []

    def counted(machine, now):
        looks.append(now)
        return until(machine, now)

    monkeypatch.setattr(Machine, "pending_until", counted)
    with served("scpi", timing={"settle": "500 ms"}) as switch:
        started = time.monotonic()
        assert ask(switch.ports["scpi"], ":oxc:swit:conn:add (@1),(@33);*opc?\n") == "1\n"
        assert time.monotonic() - started >= 0.5
        assert len(looks) <= 30


def test_a_port_in_use_is_taken_over_where_the_option_says_so():
    with served("scpi", options={"scpi": {"add_in_use": "replace"}}) as switch:
        command = ":oxc:swit:conn:add (@1),(@33);:oxc:swit:conn:add (@1),(@34);stat?\n"
        assert ask(switch.ports["scpi"], command) == "(@1),(@34)\n"


def test_power_is_the_launch_power_less_the_loss_of_the_path():
    with served("scpi", optics={"launch_dbm": 3, "loss_min_db": 2, "loss_max_db": 2}) as switch:
        answer = ask(
            switch.ports["scpi"],
            ":oxc:swit:conn:add (@1),(@33);*opc?;:pmon:pow? (@1,33,34)\n",
        )
        into, out, dark = (float(x) for x in answer.split(";")[1].strip("()\n").split(","))
        assert (into, dark) == (3.0, -60.0)
        assert 0.5 <= out <= 1.0  # 3 dBm - 2 dB, tuned within 0.5 dB


def test_pyvisa_reads_and_changes():
    pyvisa = pytest.importorskip("pyvisa")
    with served("scpi") as switch:
        manager = pyvisa.ResourceManager("@py")
        address = f"TCPIP::127.0.0.1::{switch.ports['scpi']}::SOCKET"
        with manager.open_resource(address) as line:
            line.read_termination = line.write_termination = "\n"
            line.timeout = 10_000
            assert line.query("*IDN?").startswith("Lightloom,N-EMU-32x32-")
            line.write(":oxc:swit:conn:add (@5),(@37)")
            assert line.query(":oxc:swit:conn:port? 5") == '"37"'
        assert switch.pairs() == [(5, 5)]


def test_hostile_input_ends_that_connection_and_nothing_else():
    with served("scpi") as switch:
        port = switch.ports["scpi"]
        other = tcp(port)
        assert "-363" in ask(port, b"x" * 70_000)
        assert "-363" in ask(port, b"\xff\xfe\n")
        with tcp(port) as half_open:
            half_open.sendall(b":oxc:swit:si")
            other.sendall(b":oxc:swit:size?\n")
            assert other.recv(100) == b"32,32\n"
        other.close()


def test_a_hundred_clients_at_once():
    with served("scpi", ports="128x128") as switch:
        lines = [tcp(switch.ports["scpi"]) for _ in range(100)]
        for at, line in enumerate(lines, 1):
            line.sendall(f":oxc:swit:conn:add (@{at}),(@{at + 128});*opc?\n".encode())
        assert {line.recv(100) for line in lines} == {b"1\n"}
        assert switch.pairs() == [(at, at) for at in range(1, 101)]
        for line in lines:
            line.close()


def test_the_driver_passes_the_conformance_test():
    with served("scpi", ports="64x64") as switch:

        def opened():
            return ScpiSwitch("127.0.0.1", switch.ports["scpi"])

        checks = [*conformance.run(opened(), opened)]
        unfit = {one.name: one.detail for one in checks if one.verdict.value != "passed"}
        assert [*unfit] == ["warm reboot", "cold reboot"]  # skipped, because no command reboots it
        assert {*unfit.values()} == {"nothing can reboot the switch; give --faults URL"}
        assert len(checks) == 15
        assert switch.pairs() == []


def test_faults_of_the_connection_reach_the_driver():
    with served("scpi") as switch:
        port = switch.ports["scpi"]
        for kind, expected in [("cut-before", []), ("cut-after", [(1, 1)])]:
            switch.strike(Fault(kind))
            driver = ScpiSwitch("127.0.0.1", port)
            with pytest.raises(SwitchError) as caught:
                driver.change([], [(1, 1)])
            assert caught.value.done is None  # the completed part is unknown
            assert switch.pairs() == expected
        switch.strike(Fault("partial"))
        driver = ScpiSwitch("127.0.0.1", port)
        with pytest.raises(SwitchError, match="-310") as caught:
            driver.change([], [(2, 2), (3, 3)])
        assert [*caught.value.done.added] == [(2, 2)]


def test_a_reboot_closes_connections_and_refuses_new_ones_until_it_is_over():
    with served("scpi", timing={"settle": "5 ms", "warm_boot": "2 s"}) as switch:
        line = tcp(switch.ports["scpi"])
        line.sendall(b":oxc:swit:conn:add (@1),(@33);*opc?\n")
        assert line.recv(10) == b"1\n"
        switch.strike(Fault("reboot-warm"))
        with pytest.raises(SwitchError):
            ScpiSwitch("127.0.0.1", switch.ports["scpi"]).read()
        with suppress(ConnectionResetError):
            assert line.recv(10) == b""
        threading.Event().wait(2.05)
        assert ScpiSwitch("127.0.0.1", switch.ports["scpi"]).read().pairs == [(1, 1)]


def test_a_stuck_mirror_and_a_failed_port_are_seen():
    with served("scpi", timing={"settle": "5 ms", "give_up_settles": 2}) as switch:
        switch.strike(Fault("failed", port=Port("B", 3)))
        driver = ScpiSwitch("127.0.0.1", switch.ports["scpi"])
        assert driver.read().ports[Port("B", 3)].value == "FAILED"
        with pytest.raises(SwitchError, match="steady light at 3B"):
            driver.change([], [(3, 3), (4, 4)])
        assert driver.power()[Port("B", 3)] == -60.0
        assert driver.power()[Port("B", 4)] > -3.0


def test_light_that_settles_slowly_is_waited_for(monkeypatch):
    """Light is steady after about two settling times, of any length."""
    monkeypatch.setattr(scpi, "LIGHT_S", 0.05)
    with served("scpi", timing={"settle": "800 ms"}) as switch:
        driver = ScpiSwitch("127.0.0.1", switch.ports["scpi"])
        assert driver.change([], [(1, 1)]).settled


def test_what_has_not_settled_in_time_is_no_missing_answer():
    with served("scpi", timing={"settle": "60 s"}) as switch:
        driver = ScpiSwitch("127.0.0.1", switch.ports["scpi"])
        with pytest.raises(SwitchError, match=r"1A-1B .*after 0\.5 s") as caught:
            driver.change([], [(1, 1)], wait_s=0.5)
        assert [*caught.value.done.added] == [(1, 1)]
        assert driver.read().pairs == [(1, 1)]


def test_a_cross_connect_without_light_at_its_input_is_not_judged_by_light():
    with served("scpi", optics={"launch_dbm": -50}) as switch:
        driver = ScpiSwitch("127.0.0.1", switch.ports["scpi"])
        assert driver.change([], [(1, 1)]).settled is None


def test_an_address_without_a_switch_is_named():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(SwitchError, match=f"scpi://127.0.0.1:{port}: connection refused"):
            ScpiSwitch("127.0.0.1", port)
