"""TLS, missing answers, and hostile input on the faces over SSH and gNMI."""

import asyncio
import datetime
import ipaddress
import socket
import time
from contextlib import suppress

import asyncssh
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from switch_support import WAIT_S, ask, served, tcp

from lightloom.errors import ConfigError
from lightloom.switches.drivers import scpi
from lightloom.switches.drivers.gnmi import CA, GnmiSwitch
from lightloom.switches.drivers.sonic import SonicSwitch
from lightloom.switches.faces import _ssh, _streams, command, gnmi, netconf, ssh
from lightloom.switches.faults import Fault
from lightloom.switches.protocol import SwitchError
from lightloom.switches.targets import open_target


def certificate(folder):
    """Writes a key and a self-signed certificate of 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(pem, form, plain))
    (folder / "certificate.pem").write_bytes(made.public_bytes(pem))


def test_gnmi_by_tls(tmp_path, monkeypatch):
    certificate(tmp_path)
    own = {
        "tls_key": str(tmp_path / "key.pem"),
        "tls_certificate": str(tmp_path / "certificate.pem"),
    }
    with served("gnmi", options={"gnmi": own}) as switch:
        port = switch.ports["gnmi"]
        with pytest.raises(SwitchError, match=CA):  # the certificate has no known issuer
            GnmiSwitch("127.0.0.1", port, tls=True)
        monkeypatch.setenv(CA, str(tmp_path / "certificate.pem"))
        driver = GnmiSwitch("127.0.0.1", port, tls=True)
        assert driver.change([], [(1, 1)]).settled
        driver.close()
        with pytest.raises(SwitchError, match=r"write \?tls=on"):
            GnmiSwitch("127.0.0.1", port, tls=False)


@pytest.mark.parametrize("key", ["nothing.pem", "certificate.pem", "other.pem"])
def test_a_certificate_without_its_key_is_refused(key, tmp_path):
    certificate(tmp_path)
    (tmp_path / "key.pem").rename(tmp_path / "other.pem")
    other = tmp_path / "second"
    other.mkdir()
    certificate(other)
    own = {"tls_key": str(tmp_path / key), "tls_certificate": str(other / "certificate.pem")}
    with (
        pytest.raises(ConfigError, match=r"faces\.gnmi\.tls_key"),
        served("gnmi", options={"gnmi": own}),
    ):
        pass


@pytest.mark.parametrize("face", ["ssh", "netconf"])
def test_a_named_host_key_is_the_same_at_each_start(face, tmp_path):
    file = tmp_path / "key"
    own = asyncssh.generate_private_key("ssh-ed25519")
    own.write_private_key(file)
    for options, same in (({"host_key": str(file)}, True), ({}, False)):
        with served(face, options={face: options}) as switch:
            seen = asyncio.run(asyncssh.get_server_host_key("127.0.0.1", switch.ports[face]))
        assert (seen.export_public_key() == own.export_public_key()) is same
    file.write_text("no key")
    with (
        pytest.raises(ConfigError, match=rf"faces\.{face}\.host_key"),
        served(face, options={face: {"host_key": str(file)}}),
    ):
        pass


@pytest.mark.parametrize("address", ["::1", "127.0.0.2", "localhost"])
def test_every_face_listens_on_every_address_of_the_loopback(address):
    with served("gnmi", "scpi", "tl1", "netconf", "ssh", listen=address) as switch:
        for face, port in switch.ports.items():
            scheme = "sonic" if face == "ssh" else face
            host = f"[{address}]" if ":" in address else address
            driver = open_target(f"{scheme}://{host}:{port}")
            assert driver.read().pairs == []
            driver.close()


def test_an_address_of_another_machine_is_named(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("admin\ncorrect\n")
    with (
        pytest.raises(ConfigError, match=r"listen = 192\.0\.2\.1: "),
        served("tl1", listen="192.0.2.1", credentials=str(secret)),
    ):
        pass


def test_an_answer_that_never_comes_is_a_failure_whose_effect_is_not_known(monkeypatch):
    monkeypatch.setattr(scpi, "ANSWER_S", 0.3)
    with served("scpi") as switch:
        driver = scpi.ScpiSwitch("127.0.0.1", switch.ports["scpi"])
        driver.describe()
        switch.strike(Fault("silent"))
        with pytest.raises(SwitchError, match="no answer") as caught:
            driver.change([], [(1, 1)])
        assert caught.value.done is None
        assert switch.pairs() == [(1, 1)]  # it had acted
        again = scpi.ScpiSwitch("127.0.0.1", switch.ports["scpi"])
        assert again.change([], [(1, 1)]).kept == [(1, 1)]


def shell(port, data):
    """Returns the output of a shell for bytes, until it ends."""

    async def talk():
        options = {"username": "a", "password": "b", "known_hosts": None, "config": None}
        async with (
            asyncssh.connect("127.0.0.1", port, **options) as line,
            line.create_process(encoding=None) as process,
        ):
            process.stdin.write(data)
            process.stdin.write_eof()
            return await process.stdout.read()

    return asyncio.run(asyncio.wait_for(talk(), WAIT_S))


def test_the_shell_carries_commands_out_and_survives_hostile_lines():
    with served("ssh") as switch:
        port = switch.ports["ssh"]
        said = shell(port, b"config ocs cross-connect add 1A-2B\nshow ocs cross-connect\nexit\n")
        assert b"1A-2B    1A        2B" in said.replace(b"1A-2B  ", b"1A-2B    ")
        for data in (b"x" * (3 << 20) + b"\n", b"\xff\xfe\n", b"'unclosed\n", b"\n" * 100):
            with suppress(asyncssh.Error, ConnectionError):
                shell(port, data)
        driver = SonicSwitch("127.0.0.1", port)
        assert driver.read().pairs == [(1, 2)]
        driver.close()


@pytest.mark.parametrize("face", ["ssh", "netconf", "gnmi", "command"])
def test_bytes_that_are_no_protocol_end_that_connection_and_nothing_else(face):
    with served(face, "scpi") as switch:
        for data in (b"\x00" * 100, b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-x\r\n" + b"\xff" * 5000):
            with tcp(switch.ports[face]) as line:
                line.sendall(data)
                line.settimeout(0.3)
                with suppress(TimeoutError, ConnectionError):
                    line.recv(1000)
        half_open = [socket.create_connection(("127.0.0.1", switch.ports[face])) for _ in range(20)]
        assert ask(switch.ports["scpi"], ":oxc:swit:size?\n") == "32,32\n"
        for line in half_open:
            line.close()


SHORT_S = 0.3
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The start of an HTTP/2 connection, and a settings frame."""


def ends(port, data=b""):
    """Whether the switch ends a plain connection on which no data follows these bytes."""
    with tcp(port) as line:
        line.sendall(data)
        line.settimeout(WAIT_S)
        with suppress(ConnectionError):
            while line.recv(65536):
                pass
        return True


@pytest.mark.parametrize("face", ["scpi", "tl1", "command", "gnmi"])
def test_a_connection_that_is_idle_ends(face, monkeypatch):
    for module in (_streams, gnmi):
        monkeypatch.setattr(module, "IDLE_S", SHORT_S)
    monkeypatch.setattr(command, "WAIT_S", SHORT_S)
    with served(face) as switch:
        data = {"gnmi": PREFACE, "command": b"GET /state HTTP/1.1\r\n", "scpi": b"*id"}
        assert ends(switch.ports[face], data.get(face, b"ACT-USER"))


@pytest.mark.parametrize("face", ["ssh", "netconf"])
def test_a_login_that_does_not_come_ends_the_connection(face, monkeypatch):
    monkeypatch.setattr(_ssh, "LOGIN_S", SHORT_S)
    with served(face) as switch:
        assert ends(switch.ports[face], b"SSH-2.0-x\r\n")


def logged_in(port, act):
    """Logs in by SSH, and awaits the result of `act` for the connection."""

    async def talk():
        options = {"username": "a", "password": "b", "known_hosts": None, "config": None}
        async with asyncssh.connect("127.0.0.1", port, **options) as line:
            await act(line)

    asyncio.run(asyncio.wait_for(talk(), WAIT_S))


def clients(switch):
    """Returns the number of connections of the switch, when there are none or after some time."""
    until = time.monotonic() + WAIT_S
    while (many := switch.do(lambda: len(switch.host._clients))) and time.monotonic() < until:
        time.sleep(0.01)
    return many


@pytest.mark.parametrize("face", ["ssh", "netconf"])
def test_a_session_that_is_idle_ends_with_its_connection(face, monkeypatch):
    for module in (ssh, netconf):
        monkeypatch.setattr(module, "IDLE_S", SHORT_S)

    async def wait(line):
        subsystem = "netconf" if face == "netconf" else None
        async with line.create_process(subsystem=subsystem, encoding=None) as process:
            await process.wait_closed()
        await line.wait_closed()

    with served(face) as switch:
        with suppress(asyncssh.Error, ConnectionError):  # before its channel is open
            logged_in(switch.ports[face], wait)
        assert clients(switch) == 0


@pytest.mark.parametrize("face", ["ssh", "netconf"])
def test_a_client_that_is_gone_without_an_end_is_cut_off(face, monkeypatch):
    monkeypatch.setattr(_ssh, "KEEPALIVE_S", 1.0)
    with served(face) as switch:
        left = []

        async def stop(line):
            left.append(clients(switch))  # blocks: this client does not answer in the meantime

        with suppress(asyncssh.Error, ConnectionError):
            logged_in(switch.ports[face], stop)
        assert left == [0]


@pytest.mark.parametrize("face", ["scpi", "ssh"])
def test_a_client_that_does_not_read_is_cut_off(face, monkeypatch):
    for module in (_streams, _ssh):
        monkeypatch.setattr(module, "WRITE_S", SHORT_S)

    async def ask_and_wait(line):
        async with line.create_process(encoding=None, window=1 << 15) as process:
            process.stdin.write(b"show ocs port status\n" * 50)
            await line.wait_closed()

    with served(face, ports="1024x1024") as switch:
        port = switch.ports[face]
        if face == "ssh":
            logged_in(port, ask_and_wait)
        else:
            line = socket.socket()
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect(("127.0.0.1", port))
            with line, suppress(ConnectionError, TimeoutError):
                line.settimeout(WAIT_S)
                line.sendall(b":pmon:pow? (@1:2048)\n" * 1000)
                line.recv(1)
                assert clients(switch) == 0
        assert clients(switch) == 0


def test_a_short_text_does_not_become_a_list_of_millions():
    """Regression: each of these texts has less than 64 kB, and named up to 38 million ports."""
    with served("scpi", "ssh", ports="1024x1024") as switch:
        port = switch.ports["scpi"]
        ranges = ",".join(["1:4096"] * 9000)
        for command in (f":oxc:swit:port:stat? (@{ranges})", f":pmon:pow? (@{ranges})"):
            assert ask(port, f"{command};:syst:err?\n").startswith("-223,")
        assert ask(port, ":oxc:swit:port:stat? (@1:2048)\n").count("E") == 2048
        ranges = ",".join(["1A..1024A-1B..1024B"] * 3000)
        said = shell(switch.ports["ssh"], f"config ocs cross-connect add {ranges}\n".encode())
        assert b"Invalid" in said
        assert b"1024 in one command" in said
        assert switch.pairs() == []
        every = b"config ocs cross-connect add 1A..1024A-1B..1024B\n"
        assert b"succeeded" in shell(switch.ports["ssh"], every)


def test_an_http_body_that_is_too_long_is_refused():
    with served("command") as switch:
        head = "POST /faults HTTP/1.1\r\nContent-Length: 999999999\r\n\r\n"
        assert "400 Bad Request" in ask(switch.ports["command"], head)


@pytest.mark.parametrize(
    ("head", "status"),
    [
        ("Host: 127.0.0.1:8100", 200),
        ("Host: localhost", 200),
        ("Host: [::1]:80", 200),
        ("Host: example.com", 400),
        ("Host: example.com:8100", 400),
        ("Host: 127.0.0.1\r\nOrigin: http://example.com", 400),
    ],
)
def test_a_page_in_a_browser_cannot_command_the_switch(head, status):
    with served("command") as switch:
        said = ask(switch.ports["command"], f"GET /packets HTTP/1.1\r\n{head}\r\n\r\n")
        assert int(said.split()[1]) == status


@pytest.mark.parametrize("body", ['{"gap": 5}', '{"gap": null}', '{"length": []}', '{"gap": "x"}'])
def test_a_stream_of_packets_that_is_none_is_refused(body):
    with served("command") as switch:
        head = f"POST /packets HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n"
        said = ask(switch.ports["command"], head + body)
        assert "400 Bad Request" in said
        assert "gap" in said or "length" in said


@pytest.mark.parametrize("mark", ["", "@revoked "])
def test_a_host_key_that_has_changed_is_not_called_unknown(mark, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".ssh").mkdir()
    with served("ssh") as switch:
        port = switch.ports["ssh"]
        other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
        own = asyncio.run(asyncssh.get_server_host_key("127.0.0.1", port))
        key = own.export_public_key().decode() if mark else other
        (tmp_path / ".ssh" / "known_hosts").write_text(f"{mark}[127.0.0.1]:{port} {key}\n")
        with pytest.raises(SwitchError, match="differs") as caught:
            open_target(f"sonic://admin@127.0.0.1:{port}?hostkey=check")
        assert "ignore" not in str(caught.value)


@pytest.mark.parametrize(("scheme", "face"), [("sonic", "ssh"), ("netconf", "netconf")])
def test_a_host_key_is_checked_on_the_loopback_if_the_address_says_so(scheme, face, monkeypatch):
    monkeypatch.setenv("HOME", "/nonexistent")
    with served(face) as switch:
        address = f"{scheme}://admin@127.0.0.1:{switch.ports[face]}"
        for options in ("", "?hostkey=ignore"):
            open_target(address + options).close()
        with pytest.raises(SwitchError, match="key is not known"):
            open_target(f"{address}?hostkey=check")
