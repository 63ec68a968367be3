"""`lightloom switch` on an emulated switch in a separate process."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest
from cli_support import ROOT, lightloom
from switch_support import served

from lightloom.switches.faults import Fault
from lightloom.switches.ports import Port

PAIR = '["1A-2B"]'


def test_the_example_serves_every_face_and_answers_within_a_second_or_so(tmp_path):
    text = (ROOT / "examples" / "switch-32.toml").read_text(encoding="utf-8")
    text = re.sub(r"port = \d+", "port = 0", text)
    (tmp_path / "switch.toml").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "lightloom", "switch", "serve", "switch.toml"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        ports = {}
        for line in process.stdout:
            found = re.fullmatch(r"(\w+) +127\.0\.0\.1:(\d+)\n", line)
            if found is None:
                break
            ports[found[1]] = found[2]
        assert {*ports} == {"scpi", "command", "gnmi", "ssh", "netconf", "tl1"}
        target = f"scpi://127.0.0.1:{ports['scpi']}"
        added = lightloom("switch", "change", target, "--add", "1A-2B", "--yes", cwd=tmp_path)
        assert added.returncode == 0, added.stderr
        for scheme, port in [
            ("gnmi", "gnmi"),
            ("sonic", "ssh"),
            ("netconf", "netconf"),
            ("tl1", "tl1"),
            ("scpi", "scpi"),
        ]:
            target = f"{scheme}://127.0.0.1:{ports[port]}"
            done = lightloom("switch", "read", target, "--json", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            rows = json.loads(done.stdout)["cross_connects"]
            assert [(row["a"], row["b"]) for row in rows] == [(1, 2)]
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_change_to_a_file_says_what_it_does_and_a_second_one_changes_nothing(tmp_path):
    (tmp_path / "wanted.json").write_text('["1A-2B", "2A-1B"]', encoding="utf-8")
    with served("scpi") as switch:
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        lightloom("switch", "change", target, "--add", "1A-2B,7A-7B", "-y", cwd=tmp_path)
        asked = lightloom("switch", "change", target, "--to", "wanted.json", cwd=tmp_path)
        assert asked.returncode == 2
        assert "--yes = (missing)" in asked.stderr
        assert switch.pairs() == [(1, 2), (7, 7)]
        words = ["switch", "change", target, "--to", "wanted.json", "--yes"]
        done = lightloom(*words, cwd=tmp_path)
        assert done.stdout.splitlines()[:3] == [
            "delete 7A-7B",
            "create 2A-1B",
            "1 to delete, 1 to create, 1 to keep",
        ]
        assert switch.pairs() == [(1, 2), (2, 1)]
        assert "nothing changed" in lightloom(*words, cwd=tmp_path).stdout
        shown = lightloom("switch", "show", target, cwd=tmp_path).stdout
        assert re.search(r"1A-2B +- +- +-\d\.\d\d dBm", shown)
        about = dict(re.split(r"  +", line, maxsplit=1) for line in shown.splitlines()[:8])
        assert about["ports"] == "32x32"
        assert (about["states"], about["power"]) == ("not reported", "reported")


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("1A-2", "--add = 1A-2: not a cross-connect"),
        ("4A..1A-20B..23B", "--add = 4A..1A-20B..23B: not as many A as B ports"),
        ("1A-1B,20A..23A-20B..22B", "--add = 20A..23A-20B..22B: not as many A as B ports"),
    ],
)
def test_bad_pairs_are_refused_with_what_is_wrong(pairs, message, tmp_path):
    (tmp_path / "lit.json").write_text(PAIR, encoding="utf-8")
    done = lightloom("switch", "change", "file:lit.json", "--add", pairs, "-y", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert (tmp_path / "lit.json").read_text() == PAIR


def test_what_read_prints_restores_a_switch(tmp_path):
    with served("scpi") as switch:
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        lightloom("switch", "change", target, "--add", "1A-2B,7A-7B", "-y", cwd=tmp_path)
        saved = lightloom("switch", "read", target, "--json", cwd=tmp_path).stdout
        (tmp_path / "saved.json").write_text(saved, encoding="utf-8")
        words = ["--remove", "7A-7B", "--add", "3A-3B", "-y"]
        lightloom("switch", "change", target, *words, cwd=tmp_path)
        assert switch.pairs() == [(1, 2), (3, 3)]
        words = ["switch", "change", target, "--to", "saved.json", "-y"]
        assert lightloom(*words, cwd=tmp_path).returncode == 0
        assert switch.pairs() == [(1, 2), (7, 7)]
        (tmp_path / "saved.json").write_text('{"cross_connects": [{"a": 1}]}', encoding="utf-8")
        done = lightloom(*words, cwd=tmp_path)
        assert done.returncode == 2
        assert "cross_connects[0]: no ports a" in done.stderr


READERS = {"scpi": "scpi", "gnmi": "gnmi", "tl1": "tl1", "netconf": "netconf", "sonic": "ssh"}


@pytest.mark.parametrize("scheme", [*READERS])
@pytest.mark.parametrize("words", ["read", "show", "change --add 1A-2B --yes"])
def test_what_fails_before_a_change_says_that_nothing_was_changed(scheme, words, tmp_path):
    verb, *rest = words.split()
    with served(READERS[scheme], timing={"settle": "5 ms", "cold_boot": "100 s"}) as switch:
        switch.strike(Fault("reboot-cold"))
        target = f"{scheme}://127.0.0.1:{switch.ports[READERS[scheme]]}"
        done = lightloom("switch", verb, target, *rest, cwd=tmp_path)
        assert done.returncode == 1
        assert "(nothing was changed)" in done.stderr


def test_a_file_stands_in_for_a_switch(tmp_path):
    (tmp_path / "lit.json").write_text(PAIR, encoding="utf-8")
    words = ["switch", "change", "file:lit.json", "--add", "3A-3B", "--remove", "1A-2B", "-y"]
    assert lightloom(*words, cwd=tmp_path).returncode == 0
    assert json.loads((tmp_path / "lit.json").read_text()) == ["3A-3B"]
    assert lightloom("switch", "read", "file:lit.json", cwd=tmp_path).stdout == "3A-3B\n"
    # a list states neither size nor time; a plan states its size if it has one
    for size, shown in ((None, None), ("16x8", "16x8")):
        if size is not None:
            plan = {"circuits": [], "port_map": {"switch_size": size}}
            (tmp_path / "lit.json").write_text(json.dumps(plan), encoding="utf-8")
        done = lightloom("switch", "show", "file:lit.json", "--json", cwd=tmp_path)
        about = json.loads(done.stdout)
        assert (about["ports"], about["settling"]) == (shown, None)


def test_a_plan_is_not_overwritten_by_a_list(tmp_path):
    plan = json.dumps({"circuits": [{"cross_connects": [[1, 2]]}], "cost": 1})
    saved = json.dumps({"cross_connects": [{"a": 1, "b": 2}]})
    for text in (plan, saved):
        (tmp_path / "plan.json").write_text(text, encoding="utf-8")
        words = ["switch", "change", "file:plan.json", "--add", "3A-3B", "-y"]
        done = lightloom(*words, cwd=tmp_path)
        assert done.returncode == 1
        assert "no list of names" in done.stderr
        assert (tmp_path / "plan.json").read_text(encoding="utf-8") == text
        (tmp_path / "new.json").write_text("[]", encoding="utf-8")
        words = ["switch", "change", "file:new.json", "--to", "plan.json", "-y"]
        assert lightloom(*words, cwd=tmp_path).returncode == 0
        assert json.loads((tmp_path / "new.json").read_text(encoding="utf-8")) == ["1A-2B"]


def test_conformance_has_a_row_for_each_check_and_an_exit_code(tmp_path):
    with served("scpi", "command", timing={"settle": "5 ms", "cold_boot": "200 ms"}) as switch:
        target = f"scpi://127.0.0.1:{switch.ports['scpi']}"
        faults = f"http://127.0.0.1:{switch.ports['command']}"
        words = ["switch", "test", target, "--faults", faults]
        done = lightloom(*words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "passed   cold reboot                  cross-connects kept" in done.stdout
        done = lightloom("switch", "test", target, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        rows = json.loads(done.stdout)
        assert {row["verdict"] for row in rows} == {"passed", "skipped"}
        assert len(rows) == 15
        # a switch that stops half-way through a bulk command fails the test
        fault = {"kind": "partial"}
        from lightloom.switches.faults import read_fault

        switch.strike(read_fault("fault", fault))
        done = lightloom("switch", "test", target, cwd=tmp_path)
        assert done.returncode == 1
        assert "failed   create" in done.stdout
        assert "1 of 15 checks" in done.stderr


def test_show_names_ports_that_have_failed(tmp_path):
    with served("scpi") as switch:
        switch.strike(Fault("failed", port=Port("B", 3)))
        words = ["switch", "show", f"scpi://127.0.0.1:{switch.ports['scpi']}"]
        assert "\nfailed ports   3B\n" in lightloom(*words, cwd=tmp_path).stdout
        shown = json.loads(lightloom(*words, "--json", cwd=tmp_path).stdout)
        assert shown["failed_ports"] == ["3B"]


def test_switches_with_the_same_interface_are_numbered_in_one_table(tmp_path):
    with served("scpi", ports="8x8") as one, served("scpi", ports="8x8") as other:
        targets = [f"scpi://127.0.0.1:{switch.ports['scpi']}" for switch in (one, other)]
        other.strike(Fault("stuck", port=Port("A", 3)))
        done = lightloom("switch", "test", *targets, "--wait", "1", cwd=tmp_path)
        lines = done.stdout.splitlines()
        assert [line.split() for line in lines if line[:1].isdigit()] == [
            ["1", targets[0]],
            ["2", targets[1]],
        ]
        head = next(line for line in lines if line.startswith("check "))
        assert head.split() == ["check", "1", "2"]
        loss = next(line for line in reversed(lines) if line.startswith("loss per path "))
        assert loss.split()[3:] == ["passed", "FAILED"]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("scpi://admin:secret@127.0.0.1", "use --credentials FILE"),
        ("http://127.0.0.1", "must be one of scpi://HOST"),
        ("scpi://", "names no host"),
        ("scpi://127.0.0.1:99999", "from 1 to 65535"),
        ("scpi://127.0.0.1:0", "from 1 to 65535"),
        ("scpi://[::1", "stands in brackets"),
        ("scpi://127.0.0.1/shelf", "nothing is at /shelf"),
        ("gnmi://127.0.0.1#1", "nothing is at #1"),
        ("sonic://127.0.0.1?mode=bold", "correct mode"),
    ],
)
def test_bad_addresses_are_refused_and_passwords_not_repeated(target, message, tmp_path):
    done = lightloom("switch", "read", target, cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr
    assert "secret" not in done.stderr


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        ("ports = '0x4'", "ports = 0x4: 1 to 1024"),
        ("ports = '2048x4'", "ports = 2048x4"),
        ("colour = 1", "colour = 1: no such key"),
        ("[faces.scpi]\nadd_in_use = 'maybe'", "faces.scpi.add_in_use = maybe"),
        ("[faces.telnet]\nport = 23", "faces.telnet"),
        ("[timing]\nsettle = 'soon'", "timing.settle"),
        ("[timing]\ndevice = 'magic'", "timing.device = magic"),
        ("listen = '0.0.0.0'\n[faces.tl1]", "there is no password"),
        ("listen = '10.0.0.1'\ncredentials = 'c'\n[faces.gnmi]", "could read passwords"),
        ("listen = '10.0.0.1'\ncredentials = 'c'\n[faces.scpi]", "no login: scpi;"),
        (
            "listen = '10.0.0.1'\ncredentials = 'c'\n[faces.scpi]\n[faces.command]",
            "no login: scpi, command;",
        ),
        ("[faces.gnmi]\ntls_key = 'a'", "faces.gnmi.tls_certificate = (missing): a certificate"),
        ("[faces.gnmi]\ntls_key = true", "faces.gnmi.tls_key = true: must be text"),
        ("[faces.spci]\nport = 1", "faces.spci = (a table): no such key"),
        ('name = "a\\nb"', 'name = "a\\nb": letters'),
        ("[[fault]]\nat = '1 s'", "fault[0].kind = (missing): must be one of"),
        ("[[fault]]\nkind = 'melt'", "fault[0].kind = melt"),
        ("[[fault]]\nkind = 'stuck'\nport = '33A'", "fault[0].port = 33A: does not exist"),
        ("[[fault]]\nkind = 'stale'\nadd = ['1A-33B']", "fault[0].add = 33B"),
        ("fault = [1]", "fault = [1]: must be a list of tables"),
        ("[optics]\nloss_min_db = 3", "loss_min_db"),
        ("[optics]\naccuracy_db = -1", "optics.accuracy_db = -1: must be a number from 0"),
        ("", "switch.toml: faces = (none)"),
        ("x", "switch.toml: Expected '=' after a key"),
        ("listen = localhost", 'put the text in quotes: listen = "localhost"'),
    ],
)
def test_a_bad_switch_file_is_refused_by_key(toml, message, tmp_path):
    (tmp_path / "switch.toml").write_text(toml, encoding="utf-8")
    (tmp_path / "c").write_text("admin\nsecret\n", encoding="utf-8")
    done = lightloom("switch", "serve", "switch.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_port_in_use_is_named(tmp_path):
    with served("scpi") as switch:
        text = f"[faces.scpi]\nport = {switch.ports['scpi']}\n"
        (tmp_path / "switch.toml").write_text(text, encoding="utf-8")
        done = lightloom("switch", "serve", "switch.toml", cwd=tmp_path)
        assert done.returncode == 2
        assert "is in use" in done.stderr


def test_a_device_model_sets_the_settling_time():
    from lightloom.switches.config import setup_of

    design = setup_of({"timing": {"device": "mems-hydra"}}).design
    assert design.settle_ps == 100 * 10**9  # HydRA: 100 ms
    ring = setup_of({"timing": {"device": "wss-ring", "settle": "1 ms"}}).design
    assert (ring.settle_ps, ring.deviation_ps) == (10**9, 2_360_000)  # Mordia: sigma 2.36 us


def test_the_command_face_tells_the_state_and_strikes(tmp_path):
    import urllib.error
    import urllib.request

    with served("scpi", "command") as switch:
        base = f"http://127.0.0.1:{switch.ports['command']}"

        def get(path, body=None):
            data = None if body is None else json.dumps(body).encode()
            with urllib.request.urlopen(base + path, data, timeout=20) as answer:
                return answer.read()

        get("/faults", {"kind": "intruder", "add": ["3A-4B"]})
        time.sleep(0.05)
        state = json.loads(get("/state"))
        assert state["connections"][0]["status"] == "CONNECTED"
        loss = json.loads(get("/loss/3A-4B"))["loss_dB"]
        assert abs(state["ports"]["4B"]["output_dbm"] + loss) <= 0.5
        for path, reason in (
            ("/loss/33A-1B", "33A"),
            ("/loss/1A", "1A: not a path"),
            (f"/state?{'x' * 100_000}", "too long"),
        ):
            with pytest.raises(urllib.error.HTTPError) as caught:
                get(path)
            assert caught.value.code == 400
            assert reason in json.loads(caught.value.read())["error"]
        for body, reason in [
            ({"kind": "melt"}, "fault.kind"),
            ({"kind": "stuck", "port": "33A"}, "fault.port"),
            ({"kind": "slow", "at": "5 s"}, "fault.at"),
            ([], "not a JSON object"),
        ]:
            with pytest.raises(urllib.error.HTTPError) as caught:
                get("/faults", body)
            assert caught.value.code == 400
            assert reason in caught.value.read().decode()
