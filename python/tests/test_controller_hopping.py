"""Three complete controllers as processes on PostgreSQL, stopped during changes for longer than
their lease: the role passes from one to the next, and only its holder commands the switch."""

import json
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from controller_postgres import database as database
from controller_postgres import emptied
from controller_relay import Fate, Relay, Watch
from controller_support import PORTS
from test_controller_service import begun, free_port, wait

from lightloom.controller import schema
from lightloom.controller.store import Store
from lightloom.controller.tokens import add_token
from lightloom.controller.transaction_log import OPEN, OVER
from lightloom.switches.targets import open_target

Pair = tuple[int, int]
Circuits = list[tuple[str, str]]
SIZE = 8
NAMES = ("one", "two", "three")
SETTLE_S = 3.0
LEASE_S = 2.0


class Witness:
    """Records the messages of each controller to the switch and to the hook, and the holder of the
    role."""

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self.commands: list[tuple[float, str, str]] = []
        """Time, controller, command."""
        self.holders: list[tuple[float, str]] = []
        self.carrying: set[Pair] = set()
        """Cross-connects with traffic."""
        self.lit: set[Pair] = set()
        self.breaches: list[str] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._stop.wait(0.03):
            rows = self._store.rows(schema.role)
            if rows:
                self.holders.append((time.monotonic(), rows[0]["holder"].rpartition(":")[2]))

    def close(self) -> None:
        self._stop.set()
        self._thread.join(10)

    def of(self, name: str) -> Callable[[], Watch]:
        """Returns a recorder of a controller's SCPI commands."""

        def see(data: bytes) -> Fate:
            for verb, a, b in re.findall(rb":conn:(add|sub) \(@([\d,]+)\),\(@([\d,]+)\)", data):
                rows = [[int(n) for n in ports.split(b",")] for ports in (a, b)]
                pairs = {(x, y - SIZE) for x, y in zip(*rows, strict=True)}
                self.command(name, verb.decode(), pairs)
            return "pass"

        return lambda: see

    def command(self, name: str, verb: str, pairs: set[Pair]) -> None:
        with self._lock:
            self.commands.append((time.monotonic(), name, verb))
            if verb == "sub":
                if pairs & self.carrying:
                    self.breaches.append(f"{name} removes {pairs & self.carrying} with traffic")
                self.lit -= pairs
            else:
                self.lit |= pairs

    def step(self, step: str, pairs: set[Pair]) -> None:
        """Records a call of the hook."""
        with self._lock:
            if step == "drain":
                self.carrying -= pairs
                return
            if pairs - self.lit:
                self.breaches.append(f"traffic is sent to {pairs - self.lit}, which are dark")
            self.carrying |= pairs

    def intruders(self, numbers: dict[str, str]) -> list[str]:
        """Returns the commands during which another controller held the role before and after.

        Args:
            numbers: the process of each controller.
        """
        found = []
        for at, name, verb in self.commands:
            before = [holder for t, holder in self.holders if t < at][-1]
            after = next(holder for t, holder in self.holders if t > at)
            if numbers[name] not in (before, after):
                found.append(f"{name}: {verb}")
        return found


def hook_of(witness: Witness) -> ThreadingHTTPServer:
    class Hooks(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found = [re.fullmatch(r"(\d+)A-(\d+)B", name) for name in body["cross_connects"]]
            pairs = {(int(one[1]), int(one[2])) for one in found if one is not None}
            witness.step(body["step"], pairs)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hooks)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Site:
    """The controllers, their switch, and the store between them."""

    def __init__(self, folder: Path, url: str) -> None:
        self.store = Store(url, time.time)
        self.token = add_token(self.store, "ann", ["admin"], "test")
        self.witness = Witness(self.store)
        self._hook = hook_of(self.witness)
        port = free_port()
        self.target = f"scpi://127.0.0.1:{port}"
        settle = f'ports = "8x8"\n[timing]\nsettle = "{1e3 * SETTLE_S:.0f} ms"\n'
        (folder / "switch.toml").write_text(f"{settle}[faces.scpi]\nport = {port}\n")
        (folder / "ports.csv").write_text(PORTS)
        self._switch = begun("switch", "serve", str(folder / "switch.toml"))
        self._relays = {name: Relay(port, self.witness.of(name)) for name in NAMES}
        self.http = {name: free_port() for name in NAMES}
        self.running: dict[str, subprocess.Popen[str]] = {}
        for name in NAMES:
            (folder / f"{name}.toml").write_text(
                f'store = "{url}"\ninterval = "300 ms"\nlease = "{LEASE_S} s"\n'
                f'listen = "127.0.0.1:{self.http[name]}"\n'
                f'hook = "http://127.0.0.1:{self._hook.server_port}"\n[[switch]]\nname = "east"\n'
                f'url = "scpi://127.0.0.1:{self._relays[name].port}"\nports = "ports.csv"\n'
            )
            self.running[name] = begun("controller", "serve", str(folder / f"{name}.toml"))
        wait(lambda: all(self.health(name) for name in NAMES), 120)

    @property
    def numbers(self) -> dict[str, str]:
        return {name: str(process.pid) for name, process in self.running.items()}

    def active(self) -> str:
        """The controller that holds the role."""
        number = self.store.rows(schema.role)[0]["holder"].rpartition(":")[2]
        return next(name for name, own in self.numbers.items() if own == number)

    def signal(self, name: str, what: signal.Signals) -> None:
        self.running[name].send_signal(what)

    def health(self, name: str) -> str:
        try:
            address = f"http://127.0.0.1:{self.http[name]}/healthz"
            with urllib.request.urlopen(address, timeout=2) as answer:
                return str(json.load(answer)["status"])
        except OSError:
            return ""

    def ask(self, name: str, circuits: Circuits, key: str) -> int:
        """Requests circuits from a controller; returns the status of its answer, 0 if there was
        none."""
        address = f"http://127.0.0.1:{self.http[name]}/switches/east/circuits"
        body = json.dumps({"circuits": circuits}).encode()
        request = urllib.request.Request(address, body, method="PUT")
        for header, value in (
            ("Authorization", f"Bearer {self.token}"),
            ("Content-Type", "application/json"),
            ("Idempotency-Key", key),
        ):
            request.add_header(header, value)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as problem:
            return problem.code
        except OSError:
            return 0

    def lit(self) -> list[Pair]:
        opened = open_target(self.target)
        try:
            return opened.read().pairs
        finally:
            opened.close()

    def close(self) -> None:
        for process in (*self.running.values(), self._switch):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait(10)
        self.witness.close()
        self._hook.shutdown()
        for relay in self._relays.values():
            relay.close()
        self.store.close()


def stop_amid_a_change(site: Site, circuits: Circuits, then: Circuits, key: str, hops: int) -> None:
    """The active controller is stopped while the switch settles, and each of the next controllers
    except the last is stopped when it has the role. The client sends another request, and all
    controllers continue: the next actions of the stopped ones would undo that request. Then the
    first request is sent again."""
    first = site.active()
    sent = len(site.witness.commands)
    answers: list[int] = []
    asked = threading.Thread(
        target=lambda: answers.append(site.ask(first, circuits, key)), daemon=True
    )
    asked.start()
    wait(lambda: any(verb == "add" for _, _, verb in site.witness.commands[sent:]))
    stopped = [first]
    site.signal(first, signal.SIGSTOP)
    for hop in range(hops):
        wait(lambda: site.active() not in stopped)
        if hop < hops - 1:
            stopped.append(site.active())
            site.signal(stopped[-1], signal.SIGSTOP)
    wait(lambda: not site.store.transactions(states=OPEN))
    last = site.active()
    assert last not in stopped
    assert site.ask(last, then, f"then {key}") == 200
    for name in stopped:
        site.signal(name, signal.SIGCONT)
    wait(lambda: all(site.health(name) == "standby" for name in stopped))
    asked.join(60)
    assert answers == [503]
    assert site.ask(last, circuits, key) == 200


@pytest.mark.parametrize("changes", [2, pytest.param(3, marks=pytest.mark.long)])
def test_the_role_hops_amid_changes_and_each_is_made_once(
    database: str, tmp_path: Path, changes: int
) -> None:
    site = Site(tmp_path, emptied(database))
    # The ports of the first circuits are free again, so that a stopped controller could light them.
    plans: list[tuple[Circuits, Circuits, int]] = [
        ([("a", "b")], [("c", "d")], 1),
        ([("a", "c")], [("b", "d")], 2),
        ([("a", "d")], [("b", "c")], 1),
    ]
    del plans[changes:]
    try:
        wait(lambda: site.health(site.active()) == "ok")
        for number, (circuits, then, hops) in enumerate(plans):
            stop_amid_a_change(site, circuits, then, f"k{number}", hops)
        expected = {2: [(2, 4), (4, 2)], 3: [(2, 3), (3, 2)]}[changes]
        assert site.lit() == expected
        time.sleep(0.2)
        assert site.witness.intruders(site.numbers) == []
        assert site.witness.breaches == []
        # The hooks of the last controller have admitted traffic on all lit circuits.
        assert site.witness.carrying == {*expected}
        assert {name for _, name, _ in site.witness.commands} >= {site.active()}
        made = site.store.transactions()
        assert [one.state for one in made if one.state != "undone"] == ["done"] * 2 * len(plans)
        records = site.store.audit(limit=10_000)
        ends = [json.loads(r["body"])["transaction"] for r in records if r["what"] in OVER]
        assert sorted(ends) == sorted(one.id for one in made)
        assert sum(r["what"] == "intent" for r in records) == 2 * len(plans)
        assert site.store.broken_link() is None
        assert site.store.rows(schema.role)[0]["fence"] >= 1 + sum(hops for _, _, hops in plans)
    finally:
        site.close()
