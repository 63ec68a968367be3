"""Drivers and answers of a switch that are late, malformed or unknown: each causes an error, not a
crash and not an assumption."""

import json
import socket
import threading
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lightloom.switches.drivers.gnmi import _Ocp, _SonicDb
from lightloom.switches.drivers.netconf import NetconfSwitch
from lightloom.switches.drivers.scpi import ScpiSwitch
from lightloom.switches.drivers.sonic import SonicSwitch
from lightloom.switches.drivers.tl1 import Tl1Switch
from lightloom.switches.netconf_text import parsed
from lightloom.switches.ports import Size
from lightloom.switches.protocol import SwitchError
from lightloom.switches.states import Status

TEXTS = st.text(st.sampled_from('(@1,2),:;"=ABEFDx-.\n SRCPORTDTCONYP>0'), max_size=60)


def scpi(answers):
    """An SCPI driver whose queries have these answers."""
    found = ScpiSwitch.__new__(ScpiSwitch)
    found._target, found._size, found._has_monitors = "scpi://test:1", None, None
    found._query = lambda command, wait_s=None: next(answers)
    found._send = lambda command: None
    return found


def tl1(answers):
    found = Tl1Switch.__new__(Tl1Switch)
    found._target, found._size, found._names = "tl1://test:1", None, "number"
    found._command = lambda verb, aid="", rest="": next(answers)
    return found


def sonic(answers):
    found = SonicSwitch.__new__(SonicSwitch)
    found._target, found._size, found._generation = "sonic://test:1", None, "first"
    found._shows = "a", "b", "c", "d"
    found._mode, found._save = "safe", False
    found._run = lambda command: (0, next(answers))
    return found


def netconf(answers):
    found = NetconfSwitch.__new__(NetconfSwitch)
    found._target, found._size, found._datastore = "netconf://test:1", None, "running"
    found._rpc = lambda operation: parsed(next(answers))
    return found


LEAVES = st.dictionaries(
    st.sampled_from(["ingress", "egress", "port-id", "status", "power", "model-name"]),
    st.sampled_from(["1", "9", "17", "", "x", "-1", "1e999", "nan", "ENABLED", "M-4x4-a"]),
    max_size=3,
)
XML = st.lists(st.tuples(st.sampled_from(["pair", "port", "x"]), LEAVES), max_size=3).map(
    lambda rows: (
        "<data>"
        + "".join(
            f"<{row}>{''.join(f'<{k}>{v}</{k}>' for k, v in leaves.items())}</{row}>"
            for row, leaves in rows
        )
        + "</data>"
    )
)


@pytest.mark.parametrize(
    ("driver", "texts"), [(scpi, TEXTS), (tl1, TEXTS), (sonic, TEXTS), (netconf, XML)]
)
@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_answer_is_a_reading_or_an_error(driver, texts, data):
    def endless():
        while True:
            yield data.draw(texts)

    for act in ("read", "power", "describe", "factory_losses"):
        try:
            getattr(driver(endless()), act, lambda: None)()
        except SwitchError as problem:
            assert "://test:1: " in str(problem)


JSON = st.recursive(
    st.sampled_from([None, True, 1, "1A", "2B", "tuned", "CONNECTED", "x", "1A-2B", "-1.5"]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "port-connection",
                    "component",
                    "name",
                    "state",
                    "config",
                    "status",
                    "a_side_status",
                    "1A-2B",
                    "1A",
                    "input-port-name",
                    "output-port-name",
                    "ocp-ocs-port",
                    "output-optical-power",
                ]
            ),
            below,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("model", [_Ocp("t"), _SonicDb("t")])
@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_any_json_is_a_reading_or_an_error(model, data):
    def get(path, default):
        return data.draw(JSON)

    for act in (
        model.connections,
        model.ports,
        model.is_bidirectional,
        model.all_ports,
        model.losses,
    ):
        with suppress(SwitchError):
            act(get)


def reading(**state):
    names = {"name": "c", "input-port-name": "1A", "output-port-name": "2B"}
    row = {"name": "c", "config": names, "state": names | {"status": "CONNECTED"} | state}
    return lambda path, default: {"port-connection": [row]}


def test_ports_and_states_that_are_not_known_are_no_empty_switch():
    (one,) = _Ocp("t").connections(reading())
    assert (one.pair, one.status) == ((1, 2), Status.CONNECTED)
    for state, named in [({"status": "MAYBE"}, "MAYBE"), ({"input-port-name": "port-1"}, "port-1")]:
        with pytest.raises(SwitchError, match=named):
            _Ocp("t").connections(reading(**state))
    # an INVALID connection holds no port, so it may name any port
    assert _Ocp("t").connections(reading(**{"input-port-name": "9Z", "status": "INVALID"})) == []


def test_module_prefixes_of_json_ietf_are_understood():
    from lightloom.switches.drivers._gnmi_client import without_modules

    text = '{"ocp-ocs:port-connection": [{"name": "a:b", "x:state": {"y:status": "m:CONNECTED"}}]}'
    assert without_modules(json.loads(text)) == {
        "port-connection": [{"name": "a:b", "state": {"status": "m:CONNECTED"}}]
    }


def test_a_late_answer_is_not_taken_for_another_one(monkeypatch):
    """The switch answers each query late, on the connection of the query."""
    from lightloom.switches.drivers import scpi as module

    monkeypatch.setattr(module, "ANSWER_S", 0.2)
    answers, late = {b"*idn?": b"me\n", b":oxc:swit:size?": b"4,4\n"}, threading.Event()

    def serve():
        while True:
            try:
                line, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(line,), daemon=True).start()

    def talk(line):
        for command in line.makefile("rb"):
            if not late.is_set():
                late.set()
                late_line.append(line)
                continue
            line.sendall(answers[command.strip()])

    late_line = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        driver = ScpiSwitch("127.0.0.1", listener.getsockname()[1])
        with pytest.raises(SwitchError, match="no answer"):
            driver._query("*idn?")
        with suppress(OSError):
            late_line[0].sendall(b"me\n")
        assert driver._ports() == Size(4, 4)
        driver.close()
