"""A switch that speaks OpenFlow 1.3, written from the standard without os-ken, and Open vSwitch in
a network namespace of its own."""

import os
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

HELLO, ERROR, ECHO, ECHO_REPLY, FEATURES, FEATURES_REPLY, FLOW_MOD = 0, 1, 2, 3, 5, 6, 14
BARRIER, BARRIER_REPLY = 20, 21
ADD, DELETE_STRICT = 0, 4
#: Fields of a match by their number in the class of basic fields (OpenFlow 1.3.5, §7.2.3.7).
FIELDS = {0: "in_port", 3: "eth_dst", 5: "eth_type", 6: "vlan_vid", 12: "ipv4_dst"}

Key = tuple[int, str]
"""Priority and match."""


@dataclass
class FakeSwitch:
    """A switch that stores rules, with configurable faults."""

    datapath: int
    version: int = 4
    silent: bool = False
    """Whether it leaves barriers without reply."""
    refuses: tuple[int, int] | None = None
    """Type and code of the error that follows each rule."""
    breaks_at: int | None = None
    """Rule at which the connection ends."""
    rules: dict[Key, str] = field(default_factory=dict)
    events: list[str] = field(default_factory=list)
    """Added rules (+), removed rules (-) and barriers."""
    echoes: list[bytes] = field(default_factory=list)
    link: socket.socket | None = None

    def connect(self, address: str) -> None:
        """Connects, and serves in a separate thread."""
        if address.startswith("unix:"):
            link = socket.socket(socket.AF_UNIX)
            link.connect(address.removeprefix("unix:"))
        else:
            host, _, port = address.rpartition(":")
            link = socket.create_connection((host, int(port)))
        self.link = link
        threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def close(self) -> None:
        """Ends the connection."""
        if self.link is not None:
            with suppress(OSError):
                self.link.shutdown(socket.SHUT_RDWR)
            self.link.close()

    def echo(self, text: bytes) -> None:
        """Sends an echo request to the controller."""
        assert self.link is not None
        self._write(self.link, ECHO, 7, text)

    def _write(self, link: socket.socket, kind: int, xid: int, body: bytes = b"") -> None:
        link.sendall(struct.pack("!BBHI", self.version, kind, 8 + len(body), xid) + body)

    def _serve(self, link: socket.socket) -> None:
        with suppress(OSError, EOFError), link, link.makefile("rb") as stream:
            self._write(link, HELLO, 1)
            while True:
                head = stream.read(8)
                if len(head) < 8:
                    return
                _, kind, length, xid = struct.unpack("!BBHI", head)
                self._answer(link, kind, xid, stream.read(length - 8))

    def _answer(self, link: socket.socket, kind: int, xid: int, body: bytes) -> None:
        if kind == FEATURES:
            reply = struct.pack("!QIBBxxII", self.datapath, 256, 254, 0, 0, 0)
            self._write(link, FEATURES_REPLY, xid, reply)
        elif kind == ECHO_REPLY:
            self.echoes.append(body)
        elif kind == BARRIER:
            self.events.append("barrier")
            if not self.silent:
                self._write(link, BARRIER_REPLY, xid)
        elif kind == FLOW_MOD:
            if self.refuses is not None:
                head = struct.pack("!BBHI", 4, kind, 8 + len(body), xid)
                self._write(link, ERROR, xid, struct.pack("!HH", *self.refuses) + head + body)
                return
            self._change(body)
            if self.breaks_at is not None and len(self.events) >= self.breaks_at:
                self.close()

    def _change(self, body: bytes) -> None:
        command, priority = body[17], struct.unpack_from("!H", body, 22)[0]
        kind, length = struct.unpack_from("!HH", body, 40)
        assert kind == 1
        match = match_of(body[44 : 40 + length])
        key = priority, match
        if command == ADD:
            actions = actions_of(body[40 + (length + 7) // 8 * 8 :])
            self.rules[key] = actions
            self.events.append(f"+{priority} {match} {actions}")
        else:
            assert command == DELETE_STRICT
            self.rules.pop(key, None)
            self.events.append(f"-{priority} {match}")


def forwarded(rules: dict[Key, str], address: str) -> str | None:
    """Returns the actions for an IPv4 packet to an address: those of the matching rule of the
    highest priority; None without such a rule."""
    packed = int.from_bytes(socket.inet_aton(address), "big")

    def matches(match: str) -> bool:
        fields = dict(part.split("=") for part in match.split(",") if part)
        if "ipv4_dst" not in fields:
            return not fields
        value, _, mask = fields["ipv4_dst"].partition("/")
        return packed & int(mask or "ffffffff", 16) == int(value, 16)

    found = [(priority, actions) for (priority, match), actions in rules.items() if matches(match)]
    assert len({priority for priority, _ in found}) == len(found), "of two rules neither is first"
    return max(found)[1] if found else None


def match_of(text: bytes) -> str:
    """Returns the fields of a match, as `name=value` or `name=value/mask`."""
    found = []
    while text:
        basic, number, size = struct.unpack_from("!HBB", text)
        assert basic == 0x8000
        masked, value = number & 1, text[4 : 4 + size]
        parts = [value[: size // 2], value[size // 2 :]] if masked else [value]
        found.append(f"{FIELDS[number >> 1]}={'/'.join(part.hex() for part in parts)}")
        text = text[4 + size :]
    return ",".join(found)


def actions_of(text: bytes) -> str:
    """Returns the actions of the only instruction that applies actions; "drop" without one."""
    if not text:
        return "drop"
    kind, length = struct.unpack_from("!HH", text)
    assert kind == 4
    assert length == len(text)
    found, text = [], text[8:]
    while text:
        action, size = struct.unpack_from("!HH", text)
        if action == 0:
            found.append(f"output:{struct.unpack_from('!I', text, 4)[0]:x}")
        elif action == 17:
            found.append(f"push:{text[4:6].hex()}")
        else:
            assert action == 25
            found.append(f"set:{match_of(text[4 : 4 + 4 + text[7]])}")
        text = text[size:]
    return ",".join(found) or "drop"


def reason() -> str | None:
    """Returns the reason why Open vSwitch cannot be started here; None if it can."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if shutil.which("ovs-vswitchd", path=path) is None:
        return "no Open vSwitch: install Debian's package openvswitch-switch"
    return None


class OpenVSwitch:
    """Open vSwitch on a bridge `br` in a namespace, with a datapath ID."""

    def __init__(self, folder: Path, space: str, datapath: int, controller: str) -> None:
        self.folder = folder
        self.space = space
        self.datapath = datapath
        self.controller = controller
        self.running: list[subprocess.Popen[bytes]] = []

    def run(self, *command: str) -> str:
        done = subprocess.run(
            ["ip", "netns", "exec", self.space, *command],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
        )
        return done.stdout

    def start(self) -> None:
        self.folder.mkdir()
        database, socket_of = self.folder / "conf.db", self.folder / "db.sock"
        subprocess.run(["ovsdb-tool", "create", str(database)], check=True, timeout=20)
        quiet = ["-vconsole:warn", "-vsyslog:off"]
        self._begin(
            ["ovsdb-server", str(database), f"--remote=punix:{socket_of}", *quiet], socket_of
        )
        control = self.folder / "ctl.sock"
        line = ["ovs-vswitchd", f"unix:{socket_of}", f"--unixctl={control}", "--disable-system"]
        self._begin([*line, *quiet], control)
        self.set("add-br", "br")
        keys = ["datapath_type=netdev", "protocols=OpenFlow13", "fail_mode=secure"]
        self.set("set", "bridge", "br", *keys, f"other-config:datapath-id={self.datapath:016x}")
        # Open vSwitch accepts only a socket of this name.
        (self.folder / "br.controller").symlink_to(self.controller.removeprefix("unix:"))
        self.set("set-controller", "br", f"unix:{self.folder / 'br.controller'}")
        self.set("set", "controller", "br", "max_backoff=1000")

    def set(self, *words: str) -> None:
        line = ["ovs-vsctl", "--timeout=10", f"--db=unix:{self.folder / 'db.sock'}", *words]
        subprocess.run(line, check=True, timeout=20, capture_output=True)

    def _begin(self, line: list[str], ready: Path) -> None:
        environment = {**os.environ, "OVS_RUNDIR": str(self.folder)}
        command = ["ip", "netns", "exec", self.space, "setpriv", "--pdeathsig", "KILL", *line]
        self.running.append(subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL))
        until = time.monotonic() + 10
        while not ready.exists():
            assert time.monotonic() < until, line
            time.sleep(0.01)

    def flows(self) -> list[str]:
        """Returns its rules as `ovs-ofctl` prints them, without counters."""
        line = ["ovs-ofctl", "-O", "OpenFlow13", "--no-stats", "dump-flows"]
        target = f"unix:{self.folder / 'br.mgmt'}"
        done = subprocess.run(
            [*line, target], capture_output=True, text=True, timeout=10, check=True
        )
        return sorted(row.strip() for row in done.stdout.splitlines() if "actions=" in row)

    def stop(self) -> None:
        for one in self.running:
            one.terminate()
        for one in self.running:
            one.wait(5)


@contextmanager
def open_vswitch(folder: Path, space: str, datapath: int, controller: str) -> Iterator[OpenVSwitch]:
    """Open vSwitch in a new namespace; both are removed at the end."""
    subprocess.run(["ip", "netns", "add", space], check=True)
    made = OpenVSwitch(folder, space, datapath, controller)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        subprocess.run(["ip", "netns", "del", space], check=True)
