"""The NETCONF face with ncclient and with raw bytes, and the driver with the conformance
test."""

import asyncio
import time
from contextlib import suppress

import asyncssh
import pytest
from ncclient import manager
from ncclient.operations import RPCError
from ncclient.xml_ import to_ele
from switch_support import WAIT_S, served

from lightloom.switches import conformance
from lightloom.switches.access import Credentials
from lightloom.switches.drivers.netconf import NetconfSwitch
from lightloom.switches.faces import _netconf_ports
from lightloom.switches.faults import Fault
from lightloom.switches.netconf_text import BadMessageError, Framer, framed, parsed
from lightloom.switches.ports import Port
from lightloom.switches.protocol import SwitchError
from lightloom.switches.targets import open_target

OPTICAL = "http://www.polatis.com/yang/optical-switch"


def client(port):
    return manager.connect(
        host="127.0.0.1",
        port=port,
        username="admin",
        password="any",
        hostkey_verify=False,
        look_for_keys=False,
        allow_agent=False,
        timeout=WAIT_S,
    )


def config(*rows):
    """Returns an edit: pairs of ingress and egress, or an operation and an ingress."""
    body = "".join(
        f'<pair nc:operation="{a}"><ingress>{b}</ingress></pair>'
        if isinstance(a, str)
        else f"<pair><ingress>{a}</ingress><egress>{b}</egress></pair>"
        for a, b in rows
    )
    base = "urn:ietf:params:xml:ns:netconf:base:1.0"
    return (
        f'<config xmlns="{base}" xmlns:nc="{base}">'
        f'<cross-connects xmlns="{OPTICAL}">{body}</cross-connects></config>'
    )


def test_ncclient_edits_running_and_reads_with_filters():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        assert any(OPTICAL in str(one) for one in line.server_capabilities)
        line.edit_config(target="running", config=config((1, 17), (2, 18)))
        assert switch.pairs() == [(1, 1), (2, 2)]
        pattern = f'<cross-connects xmlns="{OPTICAL}"><pair/></cross-connects>'
        reply = line.get_config("running", filter=("subtree", pattern)).data_xml
        assert reply.count("ingress>") == 4
        assert "<egress>18</egress>" in reply.replace("ns0:", "")
        one = f'<port-config xmlns="{OPTICAL}"><port><port-id>17</port-id></port></port-config>'
        reply = line.get(filter=("subtree", one)).data_xml.replace("ns0:", "")
        assert reply.count("<port>") == 1
        assert "<peer-port>1</peer-port>" in reply
        # the key is the ingress: a merge with another egress moves the cross-connect
        line.edit_config(target="running", config=config(("remove", 2), (1, 20)))
        assert switch.pairs() == [(1, 4)]


def test_containers_that_are_not_asked_for_are_not_built(monkeypatch):
    """At 1,024 x 1,024 ports, all containers take 0.1 s, for which every face waits."""
    built = []
    for name in ("config", "monitor_config", "powers", "attenuators"):
        own = getattr(_netconf_ports.Ports, name)
        monkeypatch.setattr(
            _netconf_ports.Ports,
            name,
            lambda ports, own=own, name=name: built.append(name) or own(ports),
        )
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        for container in ("cross-connects", "opm-power"):
            line.get(filter=("subtree", f"<{container} xmlns='{OPTICAL}'/>"))
        assert built == ["powers"]
        line.get()
        assert built[1:] == ["config", "monitor_config", "powers", "attenuators"]


def test_ncclient_commits_and_discards_the_candidate():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        with line.locked("candidate"):
            line.edit_config(target="candidate", config=config((1, 17)))
            assert switch.pairs() == []
            line.discard_changes()
            line.edit_config(target="candidate", config=config((3, 19)))
            line.validate(source="candidate")
            line.commit()
        assert switch.pairs() == [(3, 3)]
        with client(switch.ports["netconf"]) as other:
            line.lock("running")
            with pytest.raises(RPCError, match="has locked"):
                other.edit_config(target="running", config=config((4, 20)))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([(1, 17), (2, 17)], "egress of 2A-1B is in 1A-1B"),
        ([(17, 18)], "ingress 17 is not on 16x16"),
        ([(1, 33)], "egress 33 is not on 16x16"),
        ([("delete", 5)], "ingress 5 has no"),
        ([("create", 2)], "has no egress"),
        ([("explode", 2)], "operation explode"),
    ],
)
def test_a_refused_edit_changes_nothing(rows, reason):
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        line.edit_config(target="running", config=config((9, 25)))
        with pytest.raises(RPCError, match=reason):
            line.edit_config(target="running", config=config(*rows))
        assert switch.pairs() == [(9, 9)]


def test_other_namespaces_and_filters_are_refused():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        line.edit_config(target="running", config=config((9, 25)))
        foreign = config((1, 17)).replace(OPTICAL, "urn:x")
        with pytest.raises(RPCError, match="urn:x") as caught:
            line.edit_config(target="running", config=foreign)
        assert caught.value.tag == "unknown-namespace"
        with pytest.raises(RPCError) as caught:
            line.get_config("running", filter=("xpath", "/cross-connects"))
        assert caught.value.tag == "bad-attribute"
        missing = config((1, 17)).replace("<pair>", '<pair nc:operation="none">')
        with pytest.raises(RPCError) as caught:
            line.edit_config(target="running", config=missing)
        assert caught.value.tag == "data-missing"
        assert switch.pairs() == [(9, 9)]


def test_an_operation_without_its_namespace_is_the_operation():
    """ONOS' driver of Polatis switches deletes a circuit in this way."""
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        line.edit_config(target="running", config=config((1, 17), (2, 18)))
        plain = config((1, 17)).replace("<pair>", '<pair operation="delete">')
        line.edit_config(target="running", config=plain)
        assert switch.pairs() == [(2, 2)]
        with pytest.raises(RPCError) as caught:  # it does not exist: not created
            line.edit_config(target="running", config=plain)
        assert caught.value.tag == "data-missing"
        for name in ("foo", "xmlns:z='urn:z' z:operation"):
            wrong = config((1, 17)).replace("<pair>", f"<pair {name}='delete'>")
            with pytest.raises(RPCError) as caught:
                line.edit_config(target="running", config=wrong)
            assert caught.value.tag == "unknown-attribute"
        whole = config((3, 19)).replace("<cross-connects ", '<cross-connects operation="replace" ')
        line.edit_config(target="running", config=whole)
        assert switch.pairs() == [(3, 3)]


def test_a_leaf_that_occurs_twice_is_refused():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        line.edit_config(target="running", config=config((1, 17), (2, 18)))
        two = config(("delete", 1)).replace("<ingress>1<", "<ingress>2</ingress><ingress>1<")
        label = of_ports("port-config", {"port-id": "1"}).replace(
            "<port-id>", "<port-id>2</port-id><port-id>"
        )
        for edit in (two, label):
            with pytest.raises(RPCError) as caught:
                line.edit_config(target="running", config=edit)
            assert caught.value.tag == "bad-element"
        assert switch.pairs() == [(1, 1), (2, 2)]


def of_ports(container, *rows):
    """Returns an edit of ports, with the leaves of each port."""
    body = "".join(
        f"<port>{''.join(f'<{leaf}>{text}</{leaf}>' for leaf, text in row.items())}</port>"
        for row in rows
    )
    base = "urn:ietf:params:xml:ns:netconf:base:1.0"
    return f'<config xmlns="{base}"><{container} xmlns="{OPTICAL}">{body}</{container}></config>'


def leaves_of(line, container, port):
    """Returns the leaves of a port."""
    one = f"<{container} xmlns='{OPTICAL}'><port><port-id>{port}</port-id></port></{container}>"
    entry = line.get(filter=("subtree", one)).data_ele.find(f".//{{{OPTICAL}}}port")
    return {leaf.tag.partition("}")[2]: leaf.text or "" for leaf in entry}


def test_ports_have_labels_and_monitors_that_are_set():
    with (
        served("netconf", "gnmi", ports="16x16") as switch,
        client(switch.ports["netconf"]) as line,
    ):
        port = {"port-id": "17", "label": "east", "peer-port": ""}
        line.edit_config(target="running", config=of_ports("port-config", port))
        assert leaves_of(line, "port-config", 17)["label"] == "east"
        assert leaves_of(line, "port-config", 17)["status"] == "ENABLED"
        before = float(leaves_of(line, "opm-power", 1)["power"])
        factory = leaves_of(line, "opm-config", 1)
        assert factory == {"port-id": "1", "wavelength": "1308.57", "offset": "0.00"}
        edit = of_ports("opm-config", {"port-id": "1", "offset": "-1.25"})
        line.edit_config(target="candidate", config=edit)
        assert leaves_of(line, "opm-config", 1) == factory
        line.commit()
        edit = of_ports("opm-config", {"port-id": "1", "wavelength": "1550.00"})
        line.edit_config(target="running", config=edit)
        assert leaves_of(line, "opm-config", 1) == {
            "port-id": "1",
            "wavelength": "1550.00",
            "offset": "-1.25",
        }
        assert float(leaves_of(line, "opm-power", 1)["power"]) == before - 1.25
        driver = open_target(f"gnmi://127.0.0.1:{switch.ports['gnmi']}")  # the same monitor
        assert driver.power()[Port("A", 1)] == before - 1.25
        driver.close()


@pytest.mark.parametrize(("kind", "label"), [("cut-before", ""), ("cut-after", "east")])
def test_a_cut_after_an_edit_comes_after_all_of_it(kind, label):
    edit = of_ports("port-config", {"port-id": "17", "label": "east"})
    text = (
        '<rpc xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" message-id="1"><edit-config>'
        f"<target><running/></target>{edit}</edit-config></rpc>"
    )
    with served("netconf", ports="16x16") as switch:
        switch.strike(Fault(kind))
        with suppress(asyncssh.Error, ConnectionError):
            raw(switch.ports["netconf"], HELLO + framed(text, chunked=True))
        assert switch.host.machine.labels.get(Port("B", 1), "") == label


@pytest.mark.parametrize(
    ("container", "row", "tag"),
    [
        ("port-config", {"port-id": "33", "label": "x"}, "invalid-value"),
        ("port-config", {"port-id": "1", "label": 'a"b'}, "invalid-value"),
        ("port-config", {"port-id": "1", "label": "x", "status": "dim"}, "invalid-value"),
        ("port-config", {"port-id": "1", "label": "x", "peer-port": "2"}, "invalid-value"),
        ("port-config", {"port-id": "1", "label": "x", "colour": "red"}, "unknown-element"),
        ("opm-config", {"port-id": "1", "offset": "1e9"}, "invalid-value"),
        ("opm-config", {"port-id": "1", "offset": "nan"}, "invalid-value"),
        ("opm-config", {"port-id": "1", "offset": "1", "wavelength": "x"}, "invalid-value"),
        ("opm-config", {"port-id": "1", "offset": "1", "label": "x"}, "unknown-element"),
    ],
)
def test_a_refused_edit_of_a_port_changes_nothing(container, row, tag):
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        good = {"port-id": "2", "label": "y"} if container == "port-config" else {"port-id": "2"}
        with pytest.raises(RPCError) as caught:
            line.edit_config(target="running", config=of_ports(container, good, row))
        assert caught.value.tag == tag
        assert switch.host.machine.labels == {}
        assert switch.host.machine.monitors == {}


def test_ports_are_switched_off_and_on_as_onos_does():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:

        def send(body):
            line.dispatch(to_ele(f'<port-set-state xmlns="{OPTICAL}">{body}</port-set-state>'))

        send("<port-disab>18</port-disab>")
        assert leaves_of(line, "port-config", 18)["status"] == "DISABLED"
        send("<port-enab>18</port-enab>")
        assert leaves_of(line, "port-config", 18)["status"] == "ENABLED"
        for bad in ("<port-disab>99</port-disab>", "<port-dim>1</port-dim>", ""):
            with pytest.raises(RPCError):
                send(bad)


def test_a_lock_names_its_session_and_ends_with_it():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        other = client(switch.ports["netconf"])
        other.lock("running")
        with pytest.raises(RPCError) as caught:
            line.lock("running")
        assert (caught.value.tag, caught.value.type) == ("lock-denied", "protocol")
        assert f"<session-id>{other.session_id}<" in caught.value.info.replace("nc:", "")
        with pytest.raises(RPCError) as caught:
            line.edit_config(target="running", config=config((1, 17)))
        assert caught.value.tag == "in-use"
        with pytest.raises(RPCError):
            line.kill_session(line.session_id)
        line.kill_session(other.session_id)
        until = time.monotonic() + WAIT_S
        while time.monotonic() < until:  # the other connection is closed afterwards
            try:
                line.edit_config(target="running", config=config((1, 17)))
                break
            except RPCError:
                time.sleep(0.01)
        assert switch.pairs() == [(1, 1)]


def test_a_lock_is_not_granted_twice_nor_of_a_candidate_with_changes():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        line.lock("running")
        with pytest.raises(RPCError) as caught:
            line.lock("running")
        assert caught.value.tag == "lock-denied"
        line.unlock("running")
        line.edit_config(target="candidate", config=config((1, 17)))
        with pytest.raises(RPCError) as caught:
            line.lock("candidate")
        assert caught.value.tag == "lock-denied"
        line.discard_changes()
        line.lock("candidate")


@pytest.mark.parametrize(
    "pattern",
    [
        f"<port-config xmlns='{OPTICAL}'/>" * 17,
        f"<port-config xmlns='{OPTICAL}'>{'<port><port-id>1</port-id></port>' * 300}</port-config>",
    ],
)
def test_a_filter_that_keeps_the_switch_busy_is_refused(pattern):
    """Regression: a filter of 4 MB selected all ports 280,000 times."""
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        whole = f"<get><filter>{pattern}</filter></get>"
        with pytest.raises(RPCError) as caught:
            line.dispatch(to_ele(whole))
        assert caught.value.tag == "too-big"
        line.edit_config(target="running", config=config((1, 17)))
        assert switch.pairs() == [(1, 1)]


def test_no_data_is_created_where_the_default_operation_is_none():
    with served("netconf", ports="16x16") as switch, client(switch.ports["netconf"]) as line:
        with pytest.raises(RPCError) as caught:
            line.edit_config(target="running", config=config((1, 17)), default_operation="none")
        assert caught.value.tag == "data-missing"
        assert switch.pairs() == []


def raw(port, data):
    """Returns the answer to bytes on the subsystem, until the session ends."""

    async def talk():
        options = {"username": "a", "password": "b", "known_hosts": None, "config": None}
        async with (
            asyncssh.connect("127.0.0.1", port, **options) as line,
            line.create_process(subsystem="netconf", encoding=None) as process,
        ):
            process.stdin.write(data)
            return await process.stdout.read()

    return asyncio.run(asyncio.wait_for(talk(), WAIT_S))


HELLO = (
    b'<hello xmlns="urn:ietf:params:xml:ns:netconf:base:1.0"><capabilities><capability>'
    b"urn:ietf:params:netconf:base:1.1</capability></capabilities></hello>]]>]]>"
)
LAUGHS = (
    b'<!DOCTYPE a [<!ENTITY b "b"><!ENTITY c "&b;&b;&b;">]>'
    b'<rpc xmlns="urn:ietf:params:xml:ns:netconf:base:1.0" message-id="1"><get>&c;</get></rpc>'
)


@pytest.mark.parametrize(
    "data",
    [
        b"no xml]]>]]>",
        HELLO.replace(b"netconf:base:1.1", b"x"),
        HELLO + framed("<foo/>", chunked=True),
        HELLO + b"\n#0\n",
        HELLO + b"\n#99999999999\n",
        HELLO + b"no chunk at all",
        HELLO + framed(LAUGHS.decode(), chunked=True),
        HELLO + b"\n#2\n\xff\xfe\n##\n",
        b"<" * (5 << 20),
    ],
    ids=[
        "no xml",
        "no base",
        "no rpc",
        "empty chunk",
        "huge chunk",
        "no chunk",
        "entities",
        "not UTF-8",
        "endless",
    ],
)
def test_hostile_input_ends_that_session_and_nothing_else(data):
    with served("netconf") as switch:
        with client(switch.ports["netconf"]) as other:
            said = raw(switch.ports["netconf"], data)
            assert b"<error-tag>malformed-message</error-tag>" in said
            other.edit_config(target="running", config=config((1, 33)))
        assert switch.pairs() == [(1, 1)]


def test_chunks_are_joined_wherever_a_stream_is_cut():
    # begins like the example of RFC 6242 §4.2: chunks of 4, 18 and 3 bytes
    text = b'\n#4\n<rpc\n#18\n message-id="102"\n\n#3\n/>\n\n##\n'
    for size in (1, 2, 3, 7, 100):
        framer = Framer()
        framer.chunked = True
        found = []
        for at in range(0, len(text), size):
            framer.feed(text[at : at + size])
            found.append(framer.next())
        assert [one for one in found if one is not None] == ['<rpc message-id="102"\n/>\n']
    framer = Framer()
    framer.chunked = True
    framer.feed(b"\n#1\nx" * 500_000 + b"\n##\n")
    assert framer.next() == "x" * 500_000
    with pytest.raises(BadMessageError, match="50 elements"):
        parsed("<a>" * 60 + "</a>" * 60)


@pytest.mark.parametrize("datastore", ["running", "candidate"])
def test_the_driver_passes_the_conformance_test(datastore):
    with served("netconf", ports="32x32") as switch:
        drivers = []

        def opened():
            drivers.append(NetconfSwitch("127.0.0.1", switch.ports["netconf"], datastore=datastore))
            return drivers[-1]

        checks = [*conformance.run(opened(), opened)]
        drivers[0].close()
        unfit = [one.name for one in checks if one.verdict.value != "passed"]
        assert unfit == ["warm reboot", "cold reboot"]  # skipped, because no command reboots it
        assert switch.pairs() == []


def test_faults_reach_the_driver(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("admin\ncorrect\n")
    with served("netconf", credentials=str(secret), timing={"settle": "5 ms"}) as switch:
        port = switch.ports["netconf"]
        with pytest.raises(SwitchError, match="refused the login"):
            NetconfSwitch("127.0.0.1", port, Credentials("admin", "wrong"))
        driver = NetconfSwitch("127.0.0.1", port, Credentials("admin", "correct"))
        switch.strike(Fault("stuck", port=Port("A", 1)))
        with pytest.raises(SwitchError, match="steady light at 1B"):
            driver.change([], [(1, 1)], wait_s=0.3)
        switch.strike(Fault("partial"))
        with pytest.raises(SwitchError, match="internal error") as caught:
            driver.change([], [(2, 2), (3, 3)])
        assert [*caught.value.done.added] == [(2, 2)]
        switch.strike(Fault("cut-after"))
        with pytest.raises(SwitchError):
            driver.change([], [(4, 4)])
        driver.close()
        assert (4, 4) in switch.pairs()
