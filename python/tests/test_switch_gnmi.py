"""The gNMI face with pygnmi in a separate process, and the driver with the conformance
test."""

import json
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from switch_support import WAIT_S, ask, served

from lightloom.switches import conformance
from lightloom.switches.access import Credentials
from lightloom.switches.drivers._gnmi_client import path_of
from lightloom.switches.drivers.gnmi import _MODELS, CA, GnmiSwitch
from lightloom.switches.faces import gnmi
from lightloom.switches.faults import Fault
from lightloom.switches.machine import Machine
from lightloom.switches.ports import Port, Size
from lightloom.switches.protocol import Outcome, Reading, SwitchError
from lightloom.switches.states import Status
from lightloom.switches.targets import open_target

CLIENT = Path(__file__).with_name("switch_pygnmi.py")
CONNECTION = "connections/port-connection[name={}]"


def pygnmi(port, *calls, password="any"):
    """Returns the results of pygnmi calls."""
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    command = [sys.executable, str(CLIENT), str(port), password]
    done = subprocess.run(
        command, input=lines, capture_output=True, text=True, timeout=60, check=False
    )
    answers = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
    assert len(answers) == len(calls), done.stderr[-2000:]
    return [json.loads(line.removeprefix("ANSWER ")) for line in answers]


def value(answer):
    return answer["ok"]["notification"][0]["update"][0]["val"]


def entry(name, a, b):
    config = {"name": name, "input-port-name": a, "output-port-name": b}
    return {"name": name, "config": config}


def test_pygnmi_creates_reads_and_deletes_connections_of_the_ocp_model():
    with served("gnmi", ports="16x16") as switch:
        both = {"port-connection": [entry("left", "1A", "2B"), entry("right", "2A", "1B")]}
        answers = pygnmi(
            switch.ports["gnmi"],
            ("capabilities", {}),
            ("set", {"update": [("connections", both)], "encoding": "json_ietf"}),
            ("get", {"path": ["connections"], "encoding": "json_ietf"}),
            ("set", {"delete": [CONNECTION.format("left")]}),
            ("get", {"path": ["optical-switch/config"], "encoding": "json_ietf"}),
            ("get", {"path": ["components/component[name=1B]"], "encoding": "json_ietf"}),
        )
        models = {one["name"] for one in answers[0]["ok"]["supported_models"]}
        assert "ocp-ocs-optical-switch-connections" in models
        listed = {one["name"]: one["state"] for one in value(answers[2])["port-connection"]}
        assert {*listed} == {"left", "right"}
        assert listed["left"]["output-port-name"] == "2B"
        assert listed["left"]["status"] in ("PENDING_CONNECTION", "CONNECTED")
        assert value(answers[4]) == {"bidirectional": False, "cold-boot-recovery": "RESTORE"}
        assert value(answers[5])["ocp-ocs-port"]["state"]["connection"]["peer"] == "2A"
        assert switch.pairs() == [(2, 1)]


def test_pygnmi_writes_and_reads_the_databases_of_sonic():
    with served("gnmi", ports="32x32") as switch:
        row = {"a_side": "1A", "b_side": "29B"}
        base = "sonic-db:CONFIG_DB/localhost/OCS_CROSS_CONNECT"
        path, state = f"{base}/1A-29B", "sonic-db:STATE_DB/localhost/OCS_CROSS_CONNECT_TABLE"
        port = "sonic-db:CONFIG_DB/localhost/OCS_PORT/1A"
        answers = pygnmi(
            switch.ports["gnmi"],
            ("set", {"update": [(path, row)], "encoding": "json_ietf"}),
            ("get", {"path": [path], "encoding": "json_ietf"}),
            ("get", {"path": [state], "encoding": "json_ietf"}),
            ("set", {"update": [(port, {"config_status": "force_blocked", "label": "x"})]}),
            ("get", {"path": [port], "encoding": "json_ietf"}),
            ("set", {"delete": [path]}),
            ("get", {"path": [path], "encoding": "json_ietf"}),
        )
        assert value(answers[1]) == row
        assert value(answers[2])["1A-29B"]["a_side_status"] in ("tuning", "tuned")
        assert value(answers[4]) == {"label": "x", "config_status": "force_blocked"}
        assert "error" in answers[6]
        assert switch.pairs() == []


@pytest.mark.parametrize("policy", ["refuse", "accept"])
def test_an_invalid_part_refuses_the_set_or_is_stored_as_invalid(policy):
    with served("gnmi", options={"gnmi": {"invalid": policy}}, ports="8x8") as switch:
        both = {"port-connection": [entry("good", "2A", "2B"), entry("bad", "1A", "3B")]}
        answers = pygnmi(
            switch.ports["gnmi"],
            ("set", {"update": [("connections", {"port-connection": [entry("old", "1A", "1B")]})]}),
            ("set", {"update": [("connections", both)]}),
            ("get", {"path": ["connections"], "encoding": "json_ietf"}),
        )
        listed = {one["name"]: one["state"] for one in value(answers[2])["port-connection"]}
        if policy == "refuse":
            assert "existing cross-connect old" in answers[1]["error"]
            assert {*listed} == {"old"}
        else:
            assert {*listed} == {"old", "good", "bad"}
            assert listed["bad"]["status"] == "INVALID"
            assert "existing cross-connect old" in listed["bad"]["status-reason"]


def values(answer):
    """Returns path → value of each update."""
    updates = answer["ok"]["notification"][0].get("update", [])
    return {one["path"]: one["val"] for one in updates}


def test_wildcards_match_every_entry():
    with served("gnmi", ports="4x4", timing={"settle": "0 s"}) as switch:
        both = {"port-connection": [entry("x", "1A", "2B"), entry("y", "2A", "1B")]}
        poll = "connections/port-connection[name=*]/state/status"
        answers = pygnmi(
            switch.ports["gnmi"],
            ("get", {"path": [poll], "encoding": "json_ietf"}),
            ("set", {"update": [("connections", both)]}),
            ("get", {"path": [poll], "encoding": "json_ietf"}),
            ("get", {"path": [poll.replace("[name=*]", "")], "encoding": "json_ietf"}),
            ("get", {"path": ["components/component[name=*]/ocp-ocs-port/state/index"]}),
            ("get", {"path": ["sonic-db:STATE_DB/localhost/OCS_CROSS_CONNECT_TABLE/*/a_side"]}),
            ("get", {"path": ["connections/port-connection[name=*]/nothing"]}),
            ("get", {"path": ["connections/nothing"]}),
        )
        assert values(answers[0]) == {}
        state = "connections/port-connection[name={}]/state/status"
        expected = {state.format(name): "CONNECTED" for name in "xy"}
        assert values(answers[2]) == values(answers[3]) == expected
        assert [*values(answers[4]).values()] == [1, 2, 3, 4, 1, 2, 3, 4]
        assert [*values(answers[5]).values()] == ["1A", "2A"]
        assert values(answers[6]) == {}
        assert "no such path" in answers[7]["error"]


def test_a_get_of_configuration_tells_stale_entries_from_configured_ones():
    with served("gnmi", ports="4x4") as switch:
        switch.strike(Fault("stale", add=((3, 3),)))
        change = (
            "set",
            {"update": [("connections", {"port-connection": [entry("x", "1A", "2B")]})]},
        )
        asked = {"path": ["connections"], "encoding": "json_ietf"}
        answers = pygnmi(
            switch.ports["gnmi"],
            change,
            ("get", {**asked, "datatype": "config"}),
            ("get", {**asked, "datatype": "state"}),
            ("get", asked),
        )
        rows = [value(answer)["port-connection"] for answer in answers[1:]]
        assert [[{*row} for row in found] for found in rows] == [
            [{"name", "config"}],
            [{"name", "state"}] * 2,
            [{"name", "config", "state"}, {"name", "state"}],
        ]


def test_names_of_one_model_do_not_touch_connections_of_another(tmp_path):
    """`9A-9B` is a client's name for other ports; `foo` is 7A-8B."""
    with served("gnmi", "scpi", "tl1", "ssh", "netconf", ports="16x16") as switch:
        both = {"port-connection": [entry("9A-9B", "10A", "11B"), entry("foo", "7A", "8B")]}
        db = "sonic-db:CONFIG_DB/localhost/OCS_CROSS_CONNECT/{}"
        seen, foo = {"a_side": "7A", "b_side": "8B"}, db.format("7A-8B")
        answers = pygnmi(
            switch.ports["gnmi"],
            ("set", {"update": [("connections", both)]}),
            ("get", {"path": [foo]}),
            ("set", {"update": [(foo, seen)]}),
        )
        assert value(answers[1]) == seen
        assert "ok" in answers[2]  # nothing changes
        before = switch.do(lambda: switch.host.machine.times(switch.host.now, "foo"))
        lit, names = [(7, 8), (10, 11)], ("scpi", "tl1", "sonic", "netconf", "gnmi")
        for scheme in names:
            face = "ssh" if scheme == "sonic" else scheme
            driver = open_target(f"{scheme}://admin@127.0.0.1:{switch.ports[face]}")
            assert driver.change([], [(9, 9), (7, 8)]).added == [(9, 9)]
            assert switch.pairs() == sorted([*lit, (9, 9)])
            assert driver.change([(9, 9)], []).removed == [(9, 9)]
            assert switch.pairs() == lit
            driver.close()
        # a missing connection cannot be deleted by the name of another one
        said = ask(switch.ports["scpi"], ":oxc:swit:conn:sub (@9),(@25);:syst:err?\n")
        assert said.startswith("-221,")
        said = ask(switch.ports["scpi"], ":oxc:swit:conn:add (@7),(@24);:syst:err?\n")
        assert said.startswith("0,")
        assert switch.pairs() == lit
        assert switch.do(lambda: switch.host.machine.times(switch.host.now, "foo")) == before


@pytest.mark.parametrize("both_ways", [True, False])
def test_the_driver_reports_whether_circuits_are_bidirectional(both_ways):
    with served("gnmi", bidirectional=both_ways) as switch:
        for model, told in (("ocp", both_ways), ("sonic-db", None)):
            driver = GnmiSwitch("127.0.0.1", switch.ports["gnmi"], model=model)
            assert driver.describe().bidirectional is told
            driver.close()


def test_what_is_being_deleted_has_no_configuration_and_shares_no_key():
    with served("gnmi", ports="8x8", timing={"settle": "5 s", "release": "60 s"}) as switch:
        create = (
            "set",
            {"update": [("connections", {"port-connection": [entry("x", "1A", "2B")]})]},
        )
        delete = ("set", {"delete": [CONNECTION.format("x")]})
        get = ("get", {"path": ["connections"], "encoding": "json_ietf"})
        answers = pygnmi(switch.ports["gnmi"], create, delete, get, create, get, delete, get)
        rows = [value(answers[at])["port-connection"] for at in (2, 4, 6)]
        assert [[one["state"]["status"] for one in found] for found in rows] == [
            ["PENDING_DELETION"],
            ["PENDING_CONNECTION"],
            ["PENDING_DELETION"],
        ]
        assert ["config" in found[0] for found in rows] == [False, True, False]


def test_a_port_on_the_wrong_side_is_reported_as_it_was_written():
    with served("gnmi", options={"gnmi": {"invalid": "accept"}}, ports="8x8") as switch:
        answers = pygnmi(
            switch.ports["gnmi"],
            ("set", {"update": [("connections", {"port-connection": [entry("x", "1B", "2A")]})]}),
            ("get", {"path": ["connections/port-connection[name=x]/state"]}),
        )
        found = value(answers[1])
        assert (found["input-port-name"], found["output-port-name"]) == ("1B", "2A")
        assert found["status"] == "INVALID"


def test_a_replace_keeps_what_is_in_both_lists():
    with served("gnmi", ports="8x8") as switch:
        first = {"port-connection": [entry("a", "1A", "1B"), entry("b", "2A", "2B")]}
        second = {"port-connection": [entry("a", "1A", "1B"), entry("c", "3A", "2B")]}
        pygnmi(switch.ports["gnmi"], ("set", {"replace": [("connections", first)]}))
        before = switch.do(lambda: switch.host.machine.times(switch.host.now, "a"))
        pygnmi(switch.ports["gnmi"], ("set", {"replace": [("connections", second)]}))
        assert switch.pairs() == [(1, 1), (3, 2)]
        assert switch.do(lambda: switch.host.machine.times(switch.host.now, "a")) == before


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("connections", {"port-connection": [entry("x", "9A", "1B")]}),
        ("connections", {"port-connection": [entry("x", "1B", "1A")]}),
        ("connections", {"port-connection": [entry("x", "1A", "29")]}),
        ("connections", {"port-connection": {"name": "x"}}),
        ("connections/port-connection[name=x]/state", {"status": "CONNECTED"}),
        ("interfaces", {"a": 1}),
        ("connections", {"port-connection": [entry('a\nb";', "1A", "1B")]}),
        ("connections", {"port-connection": [entry("x" * 65, "1A", "1B")]}),
        ("connections/port-connection[name=]", entry("", "1A", "1B")["config"]),
        ("components/component[name=1A]/ocp-ocs-port/config", {"alias": "a\nb"}),
        ("sonic-db:CONFIG_DB/localhost/OCS_PORT/1A", {"label": "x" * 65}),
        ("optical-switch/config", {"cold-boot-recovery": "PERHAPS"}),
        ("sonic-db:STATE_DB/localhost/OCS_PORT_TABLE/1A", {"status": "tuned"}),
        ("sonic-db:CONFIG_DB/localhost/OCS_CROSS_CONNECT/1A-2B", {"a_side": "1A", "b_side": "3B"}),
    ],
)
def test_what_the_model_does_not_allow_is_refused(path, sent):
    with served("gnmi", ports="8x8") as switch:
        answer = pygnmi(switch.ports["gnmi"], ("set", {"update": [(path, sent)]}))[0]
        assert "error" in answer
        assert switch.pairs() == []


def test_a_wrong_password_is_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("admin\ncorrect\n")
    with served("gnmi", credentials=str(secret)) as switch:
        port = switch.ports["gnmi"]
        with pytest.raises(AssertionError, match="unknown user or password"):
            pygnmi(port, ("capabilities", {}), password="no")
        assert "ok" in pygnmi(port, ("capabilities", {}), password="correct")[0]
        with pytest.raises(SwitchError, match="refused the login"):
            GnmiSwitch("127.0.0.1", port, Credentials("admin", "no"))


def test_no_call_is_answered_without_a_login(tmp_path):
    import grpc
    from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

    secret = tmp_path / "secret"
    secret.write_text("admin\ncorrect\n")
    with (
        served("gnmi", credentials=str(secret)) as switch,
        grpc.insecure_channel(f"127.0.0.1:{switch.ports['gnmi']}") as channel,
    ):
        stub = gnmi_pb2_grpc.gNMIStub(channel)
        once = gnmi_pb2.SubscriptionList(mode=gnmi_pb2.SubscriptionList.ONCE)
        everything = gnmi_pb2.SetRequest(delete=[path_of("connections")])
        switch.strike(Fault("intruder", add=((1, 1),)))
        for call in (
            lambda: stub.Capabilities(gnmi_pb2.CapabilityRequest()),
            lambda: stub.Get(gnmi_pb2.GetRequest(encoding=gnmi_pb2.JSON_IETF)),
            lambda: stub.Set(everything),
            lambda: next(stub.Subscribe(iter([gnmi_pb2.SubscribeRequest(subscribe=once)]))),
        ):
            with pytest.raises(grpc.RpcError) as caught:
                call()
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert switch.pairs() == [(1, 1)]


@pytest.mark.parametrize("model", ["ocp", "sonic-db"])
@pytest.mark.parametrize("policy", ["refuse", "accept"])
def test_the_driver_passes_the_conformance_test(model, policy):
    with served("gnmi", options={"gnmi": {"invalid": policy}}, ports="32x32") as switch:

        def opened():
            return GnmiSwitch("127.0.0.1", switch.ports["gnmi"], model=model)

        checks = [*conformance.run(opened(), opened)]
        bad = [one for one in checks if one.verdict is conformance.Verdict.FAILED]
        assert not bad
        skipped = sum(one.verdict is conformance.Verdict.SKIPPED for one in checks)
        assert skipped == (2 if model == "ocp" else 3)  # the reboots; without light one more check
        assert switch.pairs() == []  # INVALID entries were deleted as well


@pytest.mark.parametrize("model", ["ocp", "sonic-db"])
def test_the_driver_deletes_what_the_switch_stored_as_invalid(model):
    accept = {"gnmi": {"invalid": "accept"}}
    with served("gnmi", options=accept, ports="8x8") as switch:
        driver = GnmiSwitch("127.0.0.1", switch.ports["gnmi"], model=model)
        driver.change([], [(1, 1)])
        with pytest.raises(SwitchError, match="1A-2B is invalid") as caught:
            driver.change([], [(1, 2), (3, 3)])
        assert [*caught.value.done.added] == [(3, 3)]
        assert switch.pairs() == [(1, 1), (3, 3)]  # including INVALID entries
        driver.close()


def test_faults_reach_the_driver():
    timing = {"settle": "5 ms", "give_up_settles": 2, "cold_boot": "2 s"}
    with served("gnmi", timing=timing, recovery="remove") as switch:
        driver = GnmiSwitch("127.0.0.1", switch.ports["gnmi"])
        switch.strike(Fault("stale", add=((1, 1),)))
        assert [one.configured for one in driver.read().cross_connects] == [False]
        assert driver.change([], [(1, 2)]).settled
        assert switch.pairs() == [(1, 2)]
        for kind in ("cut-before", "cut-after"):
            switch.strike(Fault(kind))
            with pytest.raises(SwitchError, match="unavailable") as caught:
                driver.change([], [(3, 3)])
            assert caught.value.done is None
            assert ((3, 3) in switch.pairs()) is (kind == "cut-after")
        switch.strike(Fault("partial"))
        with pytest.raises(SwitchError, match="internal"):
            driver.change([], [(4, 4), (5, 5)])
        assert switch.pairs() == [(1, 2), (3, 3), (4, 4)]
        switch.strike(Fault("stuck", port=Port("B", 6)))
        with pytest.raises(SwitchError, match="6A-6B is failed: "):
            driver.change([], [(6, 6)])
        switch.strike(Fault("reboot-cold"))
        with pytest.raises(SwitchError, match="booting"):
            driver.read()
        time.sleep(2.05)
        assert driver.read().pairs == []
        driver.close()


def test_the_remedy_is_to_check_the_address_only_if_there_is_no_connection():
    def remedy_of(act):
        with pytest.raises(SwitchError) as caught:
            act()
        return str(caught.value).rpartition("; ")[2], caught.value.done

    with served("gnmi", "scpi") as switch:
        driver = GnmiSwitch("127.0.0.1", switch.ports["gnmi"])
        for kind, remedy in [("partial", "read the switch"), ("cut-before", "wait, and read")]:
            switch.strike(Fault(kind))
            found, done = remedy_of(lambda: driver.change([], [(1, 1), (2, 2), (3, 3)]))
            assert found.startswith(remedy)
            assert done is None
        switch.strike(Fault("reboot-cold"))
        assert remedy_of(driver.read)[0].startswith("wait, and read")
        driver.close()
        found, done = remedy_of(lambda: open_target("gnmi://127.0.0.1:1"))
        assert (found, done) == ("check its address", Outcome())
        target = f"gnmi://127.0.0.1:{switch.ports['gnmi']}?tls=on"
        found, done = remedy_of(lambda: open_target(target))
        assert found.endswith(f"certificate ({CA})")
        assert "address" in found
        assert done == Outcome()


def test_a_subscription_reports_a_change():
    import grpc
    from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

    with served("gnmi") as switch:
        path = gnmi_pb2.Path(elem=[gnmi_pb2.PathElem(name="connections")])
        one = gnmi_pb2.Subscription(path=path, mode=gnmi_pb2.ON_CHANGE)
        wanted = gnmi_pb2.SubscriptionList(subscription=[one], encoding=gnmi_pb2.JSON_IETF)
        with grpc.insecure_channel(f"127.0.0.1:{switch.ports['gnmi']}") as channel:
            stub = gnmi_pb2_grpc.gNMIStub(channel)
            request = gnmi_pb2.SubscribeRequest(subscribe=wanted)
            stream = stub.Subscribe(iter([request]), timeout=WAIT_S)
            assert next(stream).HasField("update")
            assert next(stream).sync_response
            switch.strike(Fault("intruder", add=((3, 3),)))
            note = next(stream).update
            listed = json.loads(note.update[0].val.json_ietf_val)["port-connection"]
            assert [entry["name"] for entry in listed] == ["3A-3B"]
            stream.cancel()


@pytest.mark.parametrize("mode", ["ON_CHANGE", "SAMPLE"])
def test_a_subscription_to_updates_only_begins_with_the_first_change(mode):
    import grpc
    from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

    with served("gnmi") as switch:
        path = gnmi_pb2.Path(elem=[gnmi_pb2.PathElem(name="connections")])
        kind = getattr(gnmi_pb2, mode)
        one = gnmi_pb2.Subscription(path=path, mode=kind, suppress_redundant=True)
        wanted = gnmi_pb2.SubscriptionList(
            subscription=[one], encoding=gnmi_pb2.JSON_IETF, updates_only=True
        )
        with grpc.insecure_channel(f"127.0.0.1:{switch.ports['gnmi']}") as channel:
            stub = gnmi_pb2_grpc.gNMIStub(channel)
            request = gnmi_pb2.SubscribeRequest(subscribe=wanted)
            stream = stub.Subscribe(iter([request]), timeout=WAIT_S)
            assert next(stream).sync_response
            time.sleep(0.1)
            switch.strike(Fault("intruder", add=((3, 3),)))
            listed = json.loads(next(stream).update.update[0].val.json_ietf_val)["port-connection"]
            assert [entry["name"] for entry in listed] == ["3A-3B"]
            stream.cancel()


@contextmanager
def subscribed(port, *subscriptions, mode="STREAM", polls=()):
    """Returns the messages of a subscription."""
    import grpc
    from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

    listed = []
    for steps, keys in subscriptions:
        elements = [
            gnmi_pb2.PathElem(name=name, key={"name": key} if key else {}) for name, key in steps
        ]
        own = {
            name: getattr(gnmi_pb2, one) if isinstance(one, str) else one
            for name, one in keys.items()
        }
        listed.append(gnmi_pb2.Subscription(path=gnmi_pb2.Path(elem=elements), **own))
    kind = getattr(gnmi_pb2.SubscriptionList, mode)
    wanted = gnmi_pb2.SubscriptionList(subscription=listed, encoding=gnmi_pb2.JSON_IETF, mode=kind)

    def requests():
        yield gnmi_pb2.SubscribeRequest(subscribe=wanted)
        for poll in polls:
            poll.wait(WAIT_S)
            yield gnmi_pb2.SubscribeRequest(poll=gnmi_pb2.Poll())
        threading.Event().wait(WAIT_S)

    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stream = gnmi_pb2_grpc.gNMIStub(channel).Subscribe(requests(), timeout=WAIT_S)
        yield stream
        stream.cancel()


def news(message):
    """Returns path → value of the updates of a message, and the paths of its deletions."""

    def text(path):
        return "/".join(step.key.get("name", step.name) for step in path.elem)

    update = message.update
    return (
        {text(one.path): json.loads(one.val.json_ietf_val) for one in update.update},
        [text(path) for path in update.delete],
    )


@pytest.mark.parametrize("name", ["*", "3A-3B"])
def test_a_subscription_waits_for_its_path_and_reports_its_deletion(name):
    steps = [("connections", ""), ("port-connection", name), ("state", ""), ("status", "")]
    path = "connections/3A-3B/state/status"
    with (
        served("gnmi", timing={"settle": "0 s"}) as switch,
        subscribed(switch.ports["gnmi"], (steps, {"mode": "ON_CHANGE"})) as stream,
    ):
        assert next(stream).sync_response  # there is none yet
        switch.strike(Fault("intruder", add=((3, 3),)))
        assert news(next(stream)) == ({path: "CONNECTED"}, [])
        # unchanged values are not sent again
        switch.strike(Fault("intruder", add=((4, 4),), remove=((3, 3),)))
        added = {"connections/4A-4B/state/status": "CONNECTED"} if name == "*" else {}
        assert news(next(stream)) == (added, [path])


def test_each_subscription_has_its_interval():
    steps = [("connections", ""), ("last-change-time", "")]
    other = [("components", ""), ("component", "1A"), ("ocp-ocs-port", ""), ("config", "")]
    fast = {"mode": "SAMPLE", "sample_interval": 20_000_000}
    with (
        served("gnmi") as switch,
        subscribed(
            switch.ports["gnmi"], (steps, fast), (other, {**fast, "sample_interval": 10**10})
        ) as stream,
    ):
        first = [news(next(stream))[0] for _ in range(2)]
        assert next(stream).sync_response
        assert {len(one) for one in first} == {1}
        later = [news(next(stream))[0] for _ in range(10)]
        assert {path for one in later for path in one} == {"connections/last-change-time"}


def test_subscriptions_leave_time_to_other_clients(monkeypatch):
    matches, taken = gnmi.Service._matches, []

    def slow(service, *words, **keys):
        taken.append(time.monotonic())
        time.sleep(0.02)
        return matches(service, *words, **keys)

    monkeypatch.setattr(gnmi.Service, "_matches", slow)
    one = ([("connections", "")], {"mode": "ON_CHANGE"})
    with served("gnmi") as switch, subscribed(switch.ports["gnmi"], *[one] * 10) as stream:
        for _ in range(11):
            first = next(stream)
        assert first.sync_response
        time.sleep(1.0)
        steps = [later - before for before, later in pairwise([*taken])]
        assert min(steps) >= 0.08  # 20 ms, and three times as long for other clients
        switch.strike(Fault("intruder", add=((3, 3),)))
        assert next(stream).HasField("update")


def test_a_driver_connects_though_another_has_just_failed_to():
    with served("gnmi") as switch:
        port = switch.ports["gnmi"]
    # The exception refers to the failed driver.
    with pytest.raises(SwitchError, match="no connection") as refused:
        GnmiSwitch("127.0.0.1", port)
    with served("gnmi", options={"gnmi": {"port": port}}):
        GnmiSwitch("127.0.0.1", port).read()
    assert refused.value.done == Outcome()


def test_a_subscription_to_more_paths_than_the_largest_switch_has_ports_is_refused():
    import grpc

    one = ([("connections", "")], {"mode": "ON_CHANGE"})
    many = [one] * (gnmi.SUBSCRIPTIONS + 1)
    with served("gnmi") as switch, subscribed(switch.ports["gnmi"], *many) as stream:
        with pytest.raises(grpc.RpcError) as caught:
            next(stream)
        assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("mode", ["STREAM", "POLL"])
def test_a_reboot_ends_a_subscription(mode):
    import grpc

    steps = [("connections", "")]
    hour = {"mode": "SAMPLE", "sample_interval": 3600 * 10**9}
    timing = {"settle": "5 ms", "warm_boot": "10 ms"}
    poll = threading.Event()
    with (
        served("gnmi", timing=timing) as switch,
        subscribed(switch.ports["gnmi"], (steps, hour), mode=mode, polls=[poll]) as stream,
    ):
        assert next(stream).HasField("update")
        assert next(stream).sync_response
        if mode == "POLL":
            poll.set()
            assert next(stream).HasField("update")
            assert next(stream).sync_response
        started = time.monotonic()
        switch.strike(Fault("reboot-warm"))
        with pytest.raises(grpc.RpcError) as caught:
            next(stream)
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        assert time.monotonic() - started < WAIT_S / 2


@pytest.mark.parametrize(("kind", "acted"), [("cut-before", False), ("cut-after", True)])
def test_a_cut_after_a_set_comes_after_all_of_it(kind, acted):
    with served("gnmi", ports="8x8") as switch:
        leaf = "components/component[name=1A]/ocp-ocs-port/config/enabled"
        switch.strike(Fault(kind))
        both = {"port-connection": [entry("x", "2A", "2B")]}
        sent = {"update": [("connections", both), (leaf, False)]}
        assert "error" in pygnmi(switch.ports["gnmi"], ("set", sent))[0]
        seen = switch.do(lambda: switch.host.machine.port(switch.host.now, Port("A", 1)))
        assert (seen.admin.value == "force_blocked", bool(switch.pairs())) == (acted, acted)


def test_a_deletion_with_a_wildcard_deletes_every_connection():
    db = "sonic-db:CONFIG_DB/localhost/OCS_CROSS_CONNECT/*"
    with served("gnmi", ports="8x8") as switch:
        both = {"port-connection": [entry("x", "1A", "1B"), entry("y", "2A", "2B")]}
        for path in (CONNECTION.format("*"), db):
            create = ("set", {"update": [("connections", both)]})
            answers = pygnmi(switch.ports["gnmi"], create, ("set", {"delete": [path]}))
            assert all("ok" in answer for answer in answers)
            assert switch.pairs() == []


@pytest.mark.parametrize(
    "path",
    [
        "connections/port-connection[foo=x]",
        "connections/port-connection[name=x][foo=y]",
        "connections[name=x]",
        "sonic-db:CONFIG_DB/localhost/OCS_CROSS_CONNECT[name=1A-1B]",
    ],
)
@pytest.mark.parametrize("verb", ["delete", "replace"])
def test_a_key_that_the_model_does_not_have_is_refused(verb, path):
    with served("gnmi", ports="8x8") as switch:
        both = {"port-connection": [entry("x", "1A", "1B"), entry("y", "2A", "2B")]}
        sent = [path] if verb == "delete" else [(path, {"port-connection": []})]
        answers = pygnmi(
            switch.ports["gnmi"],
            ("set", {"update": [("connections", both)]}),
            ("set", {verb: sent}),
        )
        assert "has no key" in answers[1]["error"]
        assert switch.pairs() == [(1, 1), (2, 2)]


def test_a_replacement_of_a_connection_has_all_its_leaves():
    with served("gnmi", ports="8x8") as switch:
        part = {"name": "x", "output-port-name": "3B"}
        path = CONNECTION.format("x")
        answers = pygnmi(
            switch.ports["gnmi"],
            ("set", {"update": [("connections", {"port-connection": [entry("x", "1A", "1B")]})]}),
            ("set", {"replace": [(path, part)]}),
            ("set", {"replace": [(f"{path}/config", part)]}),
        )
        assert [[*answer] for answer in answers] == [["ok"], ["error"], ["error"]]
        assert switch.pairs() == [(1, 1)]
        assert "ok" in pygnmi(switch.ports["gnmi"], ("set", {"update": [(path, part)]}))[0]
        assert switch.pairs() == [(1, 3)]


def test_a_request_that_is_too_long_is_refused_and_nothing_else():
    with served("gnmi", ports="8x8") as switch:
        long = {"port-connection": [entry("x" * (5 << 20), "1A", "1B")]}
        answers = pygnmi(
            switch.ports["gnmi"],
            ("set", {"update": [("connections", long)]}),
            ("set", {"update": [("connections", {"port-connection": [entry("x", "1A", "1B")]})]}),
        )
        assert "larger than max" in answers[0]["error"]
        assert "ok" in answers[1]


def test_a_get_of_many_paths_ends_at_the_largest_answer(monkeypatch):
    """A request of 4 MB can contain a million paths, each of which may be the whole tree."""
    read = []
    matches = gnmi.Service._matches

    def counted(service, *words, **keys):
        read.append(words)
        return matches(service, *words, **keys)

    monkeypatch.setattr(gnmi, "LARGEST", 1 << 20)
    monkeypatch.setattr(gnmi.Service, "_matches", counted)
    with served("gnmi") as switch:
        many, one = pygnmi(
            switch.ports["gnmi"],
            ("get", {"path": ["components"] * 1000}),
            ("get", {"path": ["components"]}),
        )
    assert "send several requests" in many["error"]
    assert 16 < len(read) < 1000
    assert "ok" in one


@pytest.mark.parametrize("model", ["ocp", "sonic-db"])
def test_a_set_reads_the_connections_once_however_many_it_moves(model, monkeypatch):
    """Regression: one reading for each connection is quadratic: 1,022 moved connections took 20
    s."""
    listed, calls = Machine.connections, []

    def counted(machine, now):
        calls.append(now)
        return listed(machine, now)

    with served("gnmi", ports="128x128") as switch:
        driver = GnmiSwitch("127.0.0.1", switch.ports["gnmi"], model=model)
        before = [(at, at) for at in range(1, 129)]
        after = [(at, at % 128 + 1) for at in range(1, 129)]
        driver.change([], before)
        with monkeypatch.context() as patch:
            patch.setattr(Machine, "connections", counted)
            patch.setattr(driver, "_connections", lambda: read_without(driver, calls))
            driver.change(before, after)
        assert switch.pairs() == sorted(after)
        assert len(calls) <= 2
        driver.close()


def read_without(driver, calls):
    """Makes a reading that the counter ignores."""
    many = len(calls)
    try:
        return Reading(driver._model.connections(driver._client.get))
    finally:
        del calls[many:]


def test_a_recovery_that_is_written_is_that_of_the_next_cold_reboot():
    timing = {"settle": "5 ms", "cold_boot": "1 ms"}
    for recovery, left in (("REMOVE", []), ("MAINTAIN", [(1, 1)]), ("RESTORE", [(1, 1)])):
        start = "restore" if recovery == "REMOVE" else "remove"
        with served("gnmi", ports="8x8", timing=timing, recovery=start) as switch:
            one = {"port-connection": [entry("x", "1A", "1B")]}
            path = "optical-switch/config/cold-boot-recovery"
            answers = pygnmi(
                switch.ports["gnmi"],
                ("set", {"update": [("connections", one), (path, json.dumps(recovery))]}),
                ("get", {"path": [path]}),
            )
            assert value(answers[1]) == recovery
            switch.strike(Fault("reboot-cold"))
            assert switch.pairs() == left


def test_a_port_that_is_not_enabled_is_dark():
    with served("gnmi", ports="8x8", timing={"settle": "0 s"}) as switch:
        port = "components/component[name=1A]/ocp-ocs-port/config/enabled"
        state = CONNECTION.format("x") + "/state/status"
        one = {"port-connection": [entry("x", "1A", "1B")]}
        calls = [("set", {"update": [("connections", one)]}), ("get", {"path": [state]})]
        for enabled in (False, True):
            calls += [("set", {"update": [(port, enabled)]}), ("get", {"path": [port, state]})]
        answers = pygnmi(switch.ports["gnmi"], *calls)
        seen = [
            [note["update"][0]["val"] for note in answer["ok"]["notification"]]
            for answer in answers[1::2]
        ]
        assert seen == [["CONNECTED"], [False, "FAILED"], [True, "CONNECTED"]]


@pytest.mark.parametrize(
    ("word", "a", "b", "status"),
    [
        ("enabled", "connected", "connected", Status.CONNECTED),
        ("enabled", "tuning", "tuning", Status.PENDING_CONNECTION),
        ("disabled", "failed", "tuning", Status.FAILED),
        ("invalid", "connected", "connected", Status.INVALID),
    ],
)
def test_the_driver_reads_the_databases_of_the_public_virtual_switch(word, a, b, status):
    """Its entries have their own state, and tables of states may lack ports."""
    tables = {
        ("CONFIG_DB", "OCS_PORT"): {"1A": {"label": "x"}, "16A": {}, "16B": {}},
        ("CONFIG_DB", "OCS_CROSS_CONNECT"): {
            "1A-16B": {"a_side": "1A", "b_side": "16B"},
            "3A-3B": {"a_side": "3A", "b_side": "3B"},
        },
        ("STATE_DB", "OCS_PORT_TABLE"): {"1A": {"oper_status": a}, "16B": {"oper_status": b}},
        ("STATE_DB", "OCS_CROSS_CONNECT_TABLE"): {
            "1A-16B": {"status": word, "physical_path": "1A, panel IN 1, panel OUT 16"},
            "2A-2B": {"status": "enabled", "physical_path": ""},
        },
    }

    class Client:
        target = "gnmi://test:1"

        def get(self, path, default):
            steps = [step.name for step in path.elem]
            return tables.get((steps[0], steps[2]), default)

    driver = GnmiSwitch.__new__(GnmiSwitch)
    driver._client, driver._target, driver._size = Client(), "gnmi://test:1", None
    driver._model = _MODELS["sonic-db"]("gnmi://test:1")
    found = driver.read()
    assert driver.describe().size == Size(16, 16)
    assert found.find((1, 16)).status is status
    assert (found.find((3, 3)).status, found.find((3, 3)).configured) == (Status.INVALID, True)
    assert not found.find((2, 2)).configured
