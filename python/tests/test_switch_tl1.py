"""The TL1 face with a plain socket, and the driver with the conformance test."""

import re

import pytest
from switch_support import ask, served, tcp

from lightloom.switches import conformance
from lightloom.switches.access import Credentials
from lightloom.switches.drivers.tl1 import Tl1Switch
from lightloom.switches.faults import Fault
from lightloom.switches.protocol import SwitchError

LOGIN = "ACT-USER::admin:1::any;"


def talk(port, *commands):
    """Returns the answers on one connection, each up to its semicolon."""
    found = []
    with tcp(port) as line:
        for command in commands:
            line.sendall(command.encode())
            answer = b""
            while not answer.endswith(b";"):
                answer += line.recv(65536)
            found.append(answer.decode())
    return found


def test_the_commands_of_public_client_code():
    with served("tl1", ports="16x16") as switch:
        answers = talk(
            switch.ports["tl1"],
            LOGIN,
            "ENT-CRS::1.1.1,1.2.1:2::Quali,1WAY;",
            "ACT-CRS::1.1.1,1.2.1:3::1.1.1>1.2.1,Quali;",
            "RTRV-CRS:::::ALL;",
            "rtrv-ne;",
            "RTRV-PORT::0;",
            "DLT-CRS::1.1.1,1.2.1:7::,Quali,1.1.1>1.2.1;",
            "ENT-CRS::1.1.1,1.1.2:8::Quali,2WAY;",
        )
        assert re.fullmatch(r"\r\n\n   ocs [\d-]+ [\d:]+\r\nM  1 COMPLD\r\n;", answers[0])
        row = re.search(
            r"SRCPORT=(\S+),DSTPORT=(\S+),GRPNAME=(\S+),CONNNAME=(\S+),CONNTYPE=(\w+)", answers[3]
        )
        # with 8 ports on a card, 1.1.1 is port 1 and 1.2.1 is port 9
        assert row.groups()[:2] == ("1.1.1", "1.2.1")
        assert row[5] == "1WAY"
        assert "CHASSISTYPE=EMU-16x16" in answers[4]
        assert len(re.findall(r'"([\w.-]+):([\w.-]+),', answers[5])) == 16
        assert "M  7 COMPLD" in answers[6]
        assert switch.pairs() == [(1, 2), (2, 1)]  # both directions


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("ENT-CRS::1.1.1,1.2.2:5::g,1WAY;", "SROF"),
        ("ENT-CRS::1.9.1,1.2.2:5::g,1WAY;", "IIAC"),
        ("ENT-CRS::1.1.9,1.2.2:5::g,1WAY;", "IIAC"),
        ("ENT-CRS::1.1.2&1.1.3,1.2.2:5::g,1WAY;", "IIAC"),
        ("ENT-CRS::1.1.2,1.2.2:5::g,3WAY;", "IDNV"),
        ("DLT-CRS::1.1.2,1.2.2:5::,g,x;", "SROF"),
        ("CANC-CRS::1.1.1,1.2.1:5::,g,x;", "IICM"),
        ("RTRV-PORT::1.3.1:5::;", "IIAC"),
    ],
)
def test_a_denied_command_changes_nothing(command, code):
    with served("tl1", ports="16x16") as switch:
        create = "ENT-CRS::1.1.1,1.2.1:2::g,1WAY;"
        answer = talk(switch.ports["tl1"], LOGIN, create, command)[2]
        # the code on its line, the reason in a comment, and no `;` before the end
        pattern = r"\r\n\n   ocs \S+ \S+\r\nM  5 DENY\r\n   (\w+)\r\n   /\* [^;]+ \*/\r\n;"
        assert re.fullmatch(pattern, answer)[1] == code
        assert switch.pairs() == [(1, 9)]


def test_clients_that_delete_by_name_and_ask_for_one_connection():
    """The clients of CloudShell, MonALISA and Phosphorus use Calient switches in this way."""
    with served("tl1", ports="16x16", timing={"settle": "0 s"}) as switch:
        answers = talk(
            switch.ports["tl1"],
            LOGIN,
            "ENT-CRS::1.1.1,1.2.1:2::g,1WAY;",
            "RTRV-PORT-SUM::1.1.1:3;",
            "RTRV-CRS::1.1.1,1.2.1:4::1.1.1>1.2.1;",
            "dlt-crs:::5::1.1.1>1.2.1;",
            "RTRV-CRS::1.1.1,1.2.1:6::1.1.1>1.2.1;",
            "rtrv-crs:::7::,1.1.7-1.1.8;",
            "ENT-CRS::1.1.1&1.1.2,1.2.1&1.2.2:8::g,1WAY;",
            "dlt-crs-all:::9;",
        )
        row = answers[2].split('"')[1]
        assert row.startswith("1.1.1:ALIAS=,INPWR=0.00,OUTPWR=")
        fields = dict(field.split("=") for field in row.partition(":")[2].split(","))
        assert (fields["CONNNAME1"], fields["CONNSTATE1"]) == ("1.1.1>1.2.1", "ACT")
        name, _, rest = answers[3].split('"')[1].partition(":")
        fields = dict(field.split("=") for field in rest.split(","))
        assert name == fields["CONNNAME"] == "1.1.1>1.2.1"
        assert {"AS", "OS", "OC"} <= {*fields}
        assert "M  5 COMPLD" in answers[4]
        assert all("DENY" in said and "Invalid Connection" in said for said in answers[5:7])
        assert "M  9 COMPLD" in answers[8]
        assert switch.pairs() == []


def test_a_wrong_tag_is_denied_and_an_address_selects_rows():
    with served("tl1", ports="16x16") as switch:
        answers = talk(
            switch.ports["tl1"],
            LOGIN,
            "ENT-CRS::1.1.1,1.2.1:toolong::g,1WAY;",
            "ENT-CRS::1.1.1&1.1.2,1.2.1&1.2.2:2::g,1WAY;",
            "RTRV-CRS::1.1.1,1.2.1:3;",
            "RTRV-CRS::1.1.1,1.2.2:4;",
        )
        assert "M  0 DENY\r\n   IICT" in answers[1]
        assert [answer.count("SRCPORT=") for answer in answers] == [0, 0, 0, 1, 0]
        assert switch.pairs() == [(1, 9), (2, 10)]


def test_nothing_is_done_without_a_login(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("admin\ncorrect\n")
    with served("tl1", credentials=str(secret)) as switch:
        port = switch.ports["tl1"]
        answers = talk(port, "RTRV-CRS:::2::;", "ACT-USER::admin:3::wrong;", "RTRV-CRS:::4::;")
        assert all("DENY" in answer for answer in answers)
        with pytest.raises(SwitchError, match="login; check LIGHTLOOM_SWITCH_PASSWORD"):
            Tl1Switch("127.0.0.1", port, Credentials("admin", "wrong"))
        assert Tl1Switch("127.0.0.1", port, Credentials("admin", "correct")).read().pairs == []


def test_hostile_input_ends_that_connection_and_nothing_else():
    with served("tl1") as switch:
        port = switch.ports["tl1"]
        assert "DENY" in ask(port, b"A" * 70_000)
        assert "DENY" in ask(port, b"\xff\xff;")
        assert "M  1 COMPLD" in talk(port, LOGIN)[0]


@pytest.mark.parametrize("names", ["calient", "number"])
def test_the_driver_passes_the_conformance_test(names):
    with served("tl1", options={"tl1": {"port_names": names}}, ports="40x40") as switch:

        def opened():
            return Tl1Switch("127.0.0.1", switch.ports["tl1"], port_names=names)

        checks = [*conformance.run(opened(), opened)]
        unfit = [one.name for one in checks if one.verdict.value != "passed"]
        assert unfit == ["warm reboot", "cold reboot"]  # skipped, because no command reboots it
        assert switch.pairs() == []


def test_half_of_a_bulk_is_reported_as_done():
    with served("tl1") as switch:
        switch.strike(Fault("partial"))
        driver = Tl1Switch("127.0.0.1", switch.ports["tl1"])
        with pytest.raises(SwitchError, match="SROF") as caught:
            driver.change([], [(1, 1), (2, 2), (3, 3), (4, 4)])
        assert [*caught.value.done.added] == [(1, 1), (2, 2)] == switch.pairs()
