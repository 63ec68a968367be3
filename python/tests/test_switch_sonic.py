"""SONiC's command line with asyncssh and with a new implementation of sonic-mgmt's algorithm; the
driver with the conformance test."""

import asyncio
import re
import time

import asyncssh
import pytest
from switch_support import WAIT_S, served

from lightloom.switches import conformance
from lightloom.switches.access import Credentials
from lightloom.switches.changes import Conflict, requested
from lightloom.switches.drivers.sonic import _SHOWS, SonicSwitch
from lightloom.switches.faults import Fault
from lightloom.switches.ports import Port, Size
from lightloom.switches.protocol import SwitchError
from lightloom.switches.states import Status


def run(port, *commands, password="any"):
    """Returns the answers to commands, each on its own channel."""

    async def all_of_them():
        async with asyncssh.connect(
            "127.0.0.1", port, username="admin", password=password, known_hosts=None, config=None
        ) as line:
            found = [await line.run(command, check=False) for command in commands]
            return [(one.exit_status, one.stdout + one.stderr) for one in found]

    return asyncio.run(asyncio.wait_for(all_of_them(), WAIT_S))


def test_tables_are_those_of_the_hld():
    with served("ssh") as switch:
        answers = run(
            switch.ports["ssh"],
            "sudo config ocs cross-connect add 1A-1B,2A-5B,12A-32B",
            "show ocs cross-connect config",
        )
        assert "cross-connect succeeded" in answers[0][1]
        # the example of the HLD, character by character, except for blanks at line ends
        assert answers[1][1] == (
            "id       a_side    b_side\n"
            "-------  --------  --------\n"
            "1A-1B    1A        1B\n"
            "2A-5B    2A        5B\n"
            "12A-32B  12A       32B\n"
        )
        time.sleep(0.05)
        status = run(switch.ports["ssh"], "show ocs cross-connect status")[0][1]
        assert [line.split() for line in status.splitlines()[2:]] == [
            ["1A-1B", "1A", "1B", "tuned", "tuned"],
            ["2A-5B", "2A", "5B", "tuned", "tuned"],
            ["12A-32B", "12A", "32B", "tuned", "tuned"],
        ]


@pytest.mark.parametrize("bad", ["1b-1a", "65A-66B", "1-1", "1A", "1A..3A-1B..2B", "0A-1B"])
def test_bad_pairs_are_refused_and_change_nothing(bad):
    with served("ssh", ports="64x64") as switch:
        code, answer = run(switch.ports["ssh"], f"config ocs cross-connect add {bad} update")[0]
        assert code != 0
        assert "Invalid" in answer or "rror" in answer
        assert "succeeded" not in answer
        assert switch.pairs() == []


def test_the_factory_table_is_the_same_on_both_faces_of_sonic():
    from lightloom.switches.drivers._gnmi_client import GnmiClient, path_of

    with served("ssh", "gnmi", ports="4x4") as switch:
        said = run(switch.ports["ssh"], "show ocs factory-insertion-loss")[0][1]
        client = GnmiClient("127.0.0.1", switch.ports["gnmi"])
        steps = ("STATE_DB", "localhost", "OCS_FACTORY_INSERTION_LOSS")
        rows = client.get(path_of(*steps, origin="sonic-db"), None)
        client.close()
        loss = switch.host.design.optics.loss_db
        assert len(rows) == 16
        assert rows["2A-3B|229.100|25.00"] == {
            "loss_dB": f"{loss((2, 3)):.2f}",
            "accuracy_dB": "0.10",
        }
        told = {line.split()[0]: float(line.split()[3]) for line in said.splitlines()[2:]}
        assert told == {f"{a}A-{b}B": loss((a, b)) for a in range(1, 5) for b in range(1, 5)}


def test_words_after_a_table_are_no_filter():
    with served("ssh") as switch:
        (code, said) = run(switch.ports["ssh"], "show ocs cross-connect status 1A-3B")[0]
        assert (code, said[:6]) == (2, "Usage:")


def test_modes_update_safe_and_overwrite():
    with served("ssh") as switch:
        add = "config ocs cross-connect add"
        answers = run(
            switch.ports["ssh"],
            f"{add} 1A-2B safe",
            f"{add} 1A-2B safe",
            f"{add} 1A-3B safe",
            f"{add} 5A-5B",
            f"{add} 1A-4B update",
        )
        assert [code for code, _ in answers] == [0, 0, 1, 0, 0]
        assert "existing cross-connect 1A-2B" in answers[2][1]
        assert switch.pairs() == [(1, 4), (5, 5)]
        run(switch.ports["ssh"], f"{add} 7A..9A-7B..9B overwrite")
        assert switch.pairs() == [(7, 7), (8, 8), (9, 9)]
        code, answer = run(switch.ports["ssh"], "config ocs cross-connect delete 1A-4B")[0]
        assert code == 1
        assert "succeeded" not in answer


GENERATED = {"ssh": {"generation": "generated"}}


def test_the_generated_command_line_adds_once_and_updates_what_exists():
    sides = "--a-side 1A --b-side 29B"
    with served("ssh", options=GENERATED) as switch:

        def said(command):
            found = run(switch.ports["ssh"], f"config ocs-cross-connect {command}")[0]
            return found, switch.pairs()

        def error(text):
            return 1, f"Error: {text}\nAborted!\n"

        assert said(f"update 1A-29B {sides}") == (error("1A-29B does not exist"), [])
        assert said("delete 1A-29B") == (error("1A-29B does not exist"), [])
        assert said(f"add 1A-29B {sides}") == ((0, ""), [(1, 29)])
        assert said(f"add 1A-29B {sides}") == (error("1A-29B already exists"), [(1, 29)])
        assert said("update 1A-29B --b-side=29B") == ((0, ""), [(1, 29)])
        assert said("update 1A-29B") == (error("No field/values to update 1A-29B"), [(1, 29)])
        for bad in (
            "update 1A-29B --b-side 30B",
            "add 2A-3B --a-side 2A",
            "add 2A-3B --a-side 2A --b-side 4B",
            "add 2A-29B --b-side 29B --a-side 2A",
            "add 2A-99B --b-side 99B --a-side 2A",
            "add x --a-side 2A --b-side 3B",
        ):
            (code, text), pairs = said(bad)
            assert (code, pairs) == (1, [(1, 29)]), bad
            assert text.startswith("Error: Failed to validate configuration: "), bad
        for bad in ("add", "add 2A-3B --a-side", "delete 1A-29B 2A-3B", "add 2A-3B --mode safe"):
            assert said(bad)[0][0] == 2, bad
        assert said("delete 1A-29B") == ((0, ""), [])


def test_tables_of_the_generated_command_line_are_those_of_the_public_virtual_switch():
    with served("ssh", options=GENERATED, ports="2x2") as switch:
        answers = run(
            switch.ports["ssh"],
            "config ocs-cross-connect add 1A-2B --a-side 1A --b-side 2B",
            "sudo config ocs-port update 2A --config-status force_blocked --label east",
            "show ocs cross-connect config",
        )
        assert answers[:2] == [(0, ""), (0, "")]
        assert answers[2][0] == 2  # the first generation
        time.sleep(0.05)
        tables = ("cross-connect", "cross-connect-table", "port", "port-table")
        shown = run(switch.ports["ssh"], *(f"show ocs-{table}" for table in tables))
        assert [text for _, text in shown] == [
            "CROSS CONNECT ID    A SIDE    B SIDE\n"
            "------------------  --------  --------\n"
            "1A-2B               1A        2B\n",
            "CROSS CONNECT ID    STATUS    PHYSICAL PATH\n"
            "------------------  --------  ---------------\n"
            "1A-2B               enabled   1A, 2B\n",
            "SIMPLEX PORT ID    LABEL    CONFIG STATUS\n"
            "-----------------  -------  ---------------\n"
            "1A                          normal\n"
            "1B                          normal\n"
            "2A                 east     force_blocked\n"
            "2B                          normal\n",
            "SIMPLEX PORT ID    CONNECTOR TYPE      CONNECTOR PIN  TARGET SIMPLEX PORT ID    "
            "OPER STATUS\n"
            "-----------------  ----------------  ---------------  ------------------------  "
            "-------------\n"
            "1A                 Duplex LC                       0  2B                        "
            "connected\n"
            "1B                 Duplex LC                       0                            "
            "blocked\n"
            "2A                 Duplex LC                       0                            "
            "blocked\n"
            "2B                 Duplex LC                       0  1A                        "
            "connected\n",
        ]


@pytest.mark.parametrize(
    ("change", "code", "state"),
    [
        ("update 1B --config-status powered_off", 0, "powered_off"),
        ("1B --config-status force-blocked", 0, "blocked"),  # as in the developer guide
        ("update 1B --config-status dim", 1, "blocked"),
        ("update 99B --config-status normal", 1, "blocked"),
        ("update 1B", 1, "blocked"),
        ("update 1B --colour red", 2, "blocked"),
    ],
)
def test_ports_of_the_generated_command_line(change, code, state):
    with served("ssh", options=GENERATED) as switch:
        assert run(switch.ports["ssh"], f"config ocs-port {change}")[0][0] == code
        table = run(switch.ports["ssh"], "show ocs-port-table")[0][1]
        row = next(line for line in table.splitlines() if line.startswith("1B "))
        assert row.split()[-1] == state


@pytest.mark.parametrize(
    ("word", "a", "b", "status"),
    [
        ("enabled", "connected", "connected", Status.CONNECTED),
        ("enabled", "tuning", "connected", Status.PENDING_CONNECTION),
        ("enabled", "connected", "failed", Status.FAILED),
        ("disabled", "tuning", "tuning", Status.PENDING_CONNECTION),
        ("disabled", "connected", "connected", Status.PENDING_CONNECTION),
        ("disabled", "failed", "tuning", Status.FAILED),
        ("disabled", "blocked", "blocked", Status.FAILED),
        ("invalid", "connected", "connected", Status.INVALID),
    ],
)
def test_the_driver_reads_the_tables_of_the_public_virtual_switch(word, a, b, status):
    shown = {
        "show ocs-cross-connect": "CROSS CONNECT ID    A SIDE    B SIDE\n"
        "------------------  --------  --------\n"
        "1A-16B              1A        16B\n",
        "show ocs-cross-connect-table": "CROSS CONNECT ID    STATUS    PHYSICAL PATH\n"
        "------------------  --------  ---------------------------\n"
        f"1A-16B              {word:8}  1A, panel IN 1, panel OUT 16\n"
        "2A-15B              disabled  2A, panel IN 2, panel OUT 15\n",
        "show ocs-port": "SIMPLEX PORT ID    LABEL           CONFIG STATUS\n"
        "-----------------  --------------  ---------------\n"
        "1A                 ingress_port1   normal\n"
        "16B                egress_port16   normal\n",
        "show ocs-port-table": "SIMPLEX PORT ID      CONNECTOR PIN    OPER STATUS\n"
        "-----------------  ---------------  -------------\n"
        f"1A                               0  {a}\n"
        f"16B                              0  {b}\n",
        "show version": "HwSKU: OCS-V\n",
    }
    driver = SonicSwitch.__new__(SonicSwitch)
    driver._target, driver._size = "sonic://test:1", None
    driver._run = lambda command: (0, shown[command]) if command in shown else (2, "")
    driver._generation = driver._find_generation()
    driver._shows = _SHOWS[driver._generation]
    found = driver.read()
    assert found.find((1, 16)).status is status
    assert found.find((1, 16)).configured
    assert not found.find((2, 15)).configured
    assert driver.describe().size == Size(1, 16)


def test_the_driver_does_not_add_an_invalid_entry_again():
    with served("ssh", "gnmi", options={**GENERATED, "gnmi": {"invalid": "accept"}}) as switch:
        held, wanted = requested((1, 1)), requested((1, 2))
        machine, host = switch.host.machine, switch.host
        accept = Conflict.INVALID
        switch.do(lambda: machine.change(host.now, (), [held], conflict=accept))
        switch.do(lambda: machine.change(host.now, (), [wanted], conflict=accept))
        driver = SonicSwitch("127.0.0.1", switch.ports["ssh"])
        assert driver.read().find((1, 2)).status is Status.INVALID
        done = driver.change([(1, 1)], [(1, 2)])
        assert (done.removed, done.added, done.settled) == ([(1, 1)], [(1, 2)], True)
        driver.close()
        assert switch.pairs() == [(1, 2)]


@pytest.mark.parametrize(("mode", "refused"), [("safe", True), ("update", False)])
def test_what_appeared_since_the_reading_is_displaced_only_by_update(mode, refused):
    with served("ssh", options={"ssh": {"generation": "first"}}) as switch:
        driver = SonicSwitch("127.0.0.1", switch.ports["ssh"], mode=mode)
        driver.describe()
        before = driver.read()
        switch.strike(Fault("intruder", add=((1, 7),)))
        read, readings = driver.read, [before]
        driver.read = lambda: readings.pop() if readings else read()
        if refused:
            with pytest.raises(SwitchError, match="existing cross-connect 1A-7B") as caught:
                driver.change([], [(1, 2)])
            assert [*caught.value.done.removed] == []
        else:
            driver.change([], [(1, 2)])
        assert switch.pairs() == [(1, 7) if refused else (1, 2)]
        driver.close()


def test_what_was_saved_comes_back_after_a_cold_reboot():
    timing = {"settle": "5 ms", "cold_boot": "1 ms"}
    with served("ssh", recovery="restore-saved", timing=timing) as switch:
        for save, pair in ((True, (1, 2)), (False, (3, 4))):
            driver = SonicSwitch("127.0.0.1", switch.ports["ssh"], save=save)
            driver.change([], [pair])
            driver.close()
        assert switch.pairs() == [(1, 2), (3, 4)]
        switch.strike(Fault("reboot-cold"))
        assert switch.pairs() == [(1, 2)]


def test_a_wrong_password_is_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("admin\ncorrect\n")
    with served("ssh", credentials=str(secret)) as switch:
        with pytest.raises(asyncssh.PermissionDenied):
            run(switch.ports["ssh"], "show version", password="wrong")
        with pytest.raises(SwitchError, match="refused the login"):
            SonicSwitch("127.0.0.1", switch.ports["ssh"], Credentials("admin", "wrong"))
        assert run(switch.ports["ssh"], "show version", password="correct")[0][0] == 0


def reconcile(send, duplex):
    """A new implementation of the algorithm of sonic-mgmt's module; returns the cleared, removed
    and added cross-connects."""
    wanted = [pair for a, b in duplex for pair in (f"{a}A-{b}B", f"{b}A-{a}B")]
    numbers = {re.sub(r"[AB]", "", end) for name in wanted for end in name.split("-")}

    def names(command):
        return re.findall(r"^(\d+A-\d+B) ", send(command), re.MULTILINE)

    def blocks(name):
        return bool(numbers & {re.sub(r"[AB]", "", end) for end in name.split("-")})

    config = names("show ocs cross-connect config")
    status = names("show ocs cross-connect status")
    stale = [name for name in status if name not in config and blocks(name)]
    gone = [name for name in config if name not in wanted and blocks(name)]
    new = [name for name in wanted if name not in config]
    for name in stale:
        assert "succeeded" in send(f"config ocs cross-connect add {name} update")
        assert "succeeded" in send(f"config ocs cross-connect delete {name}")
    for name in gone:
        assert "succeeded" in send(f"config ocs cross-connect delete {name}")
    for name in new:
        assert "succeeded" in send(f"config ocs cross-connect add {name} update")
    for _ in range(12):
        lines = send("show ocs cross-connect status").splitlines()
        tuned = {line.split()[0] for line in lines if line.split()[-2:] == ["tuned"] * 2}
        if {*wanted} <= tuned:
            break
        time.sleep(0.05)
    assert {*wanted} <= tuned
    send("config save -y")
    return stale, gone, new


def test_the_algorithm_of_sonic_mgmt_reconciles_and_is_idempotent():
    with served("ssh", ports="64x64") as switch:

        def send(command):
            return run(switch.ports["ssh"], command)[0][1]

        run(switch.ports["ssh"], "config ocs cross-connect add 1A-29B,29A-1B,5A-6B")
        switch.strike(Fault("stale", add=((41, 2),)))
        # 1 moves from 29 to 41: by number, 1A-29B, 29A-1B conflict and 41A-2B is stale
        assert reconcile(send, [(1, 41)]) == (
            ["41A-2B"],
            ["1A-29B", "29A-1B"],
            ["1A-41B", "41A-1B"],
        )
        assert switch.pairs() == [(1, 41), (5, 6), (41, 1)]
        assert reconcile(send, [(1, 41)]) == ([], [], [])


@pytest.mark.parametrize("generation", ["first", "generated"])
def test_the_driver_passes_the_conformance_test(generation):
    with served("ssh", options={"ssh": {"generation": generation}}, ports="16x16") as switch:
        driver = SonicSwitch("127.0.0.1", switch.ports["ssh"])
        assert generation in driver.describe().dialect
        checks = [*conformance.run(driver)]
        driver.close()
        bad = [one for one in checks if one.verdict is conformance.Verdict.FAILED]
        assert not bad
        skipped = [one.name for one in checks if one.verdict is conformance.Verdict.SKIPPED]
        unlit = ["reconfiguration under light", "warm reboot", "cold reboot"]
        # the generated command line has no factory table
        assert skipped == [*(["loss per path"] if generation == "generated" else []), *unlit]
        assert switch.pairs() == []


def test_the_driver_clears_stale_entries_and_tells_failures():
    timing = {"settle": "5 ms", "give_up_settles": 2}
    with served("ssh", timing=timing) as switch:
        driver = SonicSwitch("127.0.0.1", switch.ports["ssh"])
        switch.strike(Fault("stale", add=((1, 1),)))
        done = driver.change([], [(1, 2)])
        assert (done.removed, done.added, done.settled) == ([(1, 1)], [(1, 2)], True)
        switch.strike(Fault("stuck", port=Port("A", 3)))
        with pytest.raises(SwitchError, match="3A-3B is failed") as caught:
            driver.change([], [(3, 3)])
        assert [*caught.value.done.added] == [(3, 3)]
        switch.strike(Fault("cut-after"))
        with pytest.raises(SwitchError):
            driver.change([], [(4, 4)])
        driver.close()
        assert (4, 4) in switch.pairs()
