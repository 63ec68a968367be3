#!/usr/bin/env python3
"""The controller: the comparison and the plan of a large change, its own time of a transaction, 100
switches reconciled at once, and a restart with a long history.

    python benches/controller.py

Prints a table, with the load average, because times are longer on a busy machine. The switches of
the first three parts answer at once, from this process; the time within them is subtracted. Each
part runs in a separate process. The store is an SQLite file that is flushed at each step, as in
production.
"""

from __future__ import annotations

import json
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from lightloom.controller import schema
from lightloom.controller.config import config_of
from lightloom.controller.run import WORKERS
from lightloom.controller.service import Controller
from lightloom.controller.store import Store
from lightloom.controller.tokens import add_token
from lightloom.switches.ports import Pair, Size, name_of
from lightloom.switches.protocol import CrossConnect, Description, Outcome, Reading
from lightloom.switches.states import Status

PORTS = 1024
SWITCHES = 100
HISTORY = 100_000
RUNS = 5
Circuits = list[tuple[int, int]]


class Spent(NamedTuple):
    """Elapsed time, and processor time of this process [s]."""

    wall_s: float
    processor_s: float

    def __add__(self, other: Spent) -> Spent:  # type: ignore[override]
        return Spent(self.wall_s + other.wall_s, self.processor_s + other.processor_s)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.wall_s - other.wall_s, self.processor_s - other.processor_s)

    def __str__(self) -> str:
        return f"{1e3 * self.wall_s:.1f} ms ({1e3 * self.processor_s:.1f} ms CPU)"


def now() -> Spent:
    """Both clocks."""
    return Spent(time.perf_counter(), time.process_time())


class InstantSwitch:
    """A switch that answers at once; the time within it is counted."""

    def __init__(self, ports: int) -> None:
        self._size = Size(ports, ports)
        self._lit: set[Pair] = set()
        self.spent = Spent(0.0, 0.0)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        began = now()
        yield
        self.spent += now() - began

    def describe(self) -> Description:
        """What it is."""
        return Description("bench:", "in process", "", self._size)

    def read(self) -> Reading:
        """Returns its cross-connects."""
        with self._counted():
            lit = sorted(self._lit)
            return Reading([CrossConnect(p, name_of(p), Status.CONNECTED) for p in lit])

    def change(
        self, remove: Collection[Pair], add: Collection[Pair], *, wait_s: float = 60.0
    ) -> Outcome:
        """Deletes, then creates."""
        with self._counted():
            self._lit = (self._lit - {*remove}) | {*add}
            return Outcome(list(remove), list(add))

    def power(self) -> None:
        """Returns no light."""

    def close(self) -> None:
        """Nothing is open."""


class Bench:
    """A controller of instant switches on an SQLite file."""

    def __init__(self, folder: Path, switches: int, ports: int, workers: int = 1) -> None:
        rows = "".join(f"r{n},{n},{n}\n" for n in range(1, ports + 1))
        (folder / "ports.csv").write_text(f"rack,A port,B port\n{rows}", encoding="utf-8")
        names = [f"s{n}" for n in range(switches)]
        tables = [{"name": n, "url": f"scpi://{n}:5025", "ports": "ports.csv"} for n in names]
        self.switches = {name: InstantSwitch(ports) for name in names}
        self.store = Store(f"sqlite:///{folder / 'controller.db'}", time.time)
        self.controller = Controller(
            config_of({"switch": tables, "interval": "60 s"}, folder),
            self.store,
            opener=lambda one: self.switches[one.name],
            workers=workers,
        )
        self.controller.start()

    def want(self, name: str, circuits: Circuits) -> None:
        """Sets the circuits of an operator, by the numbers of racks."""
        racks = self.controller.managed(name).racks
        self.controller.want(name, racks.pairs(circuits), "bench")

    def own_time(self, name: str) -> Spent:
        """Reconciles a switch; returns the time of the controller itself."""
        switch = self.switches[name]
        before, began = switch.spent, now()
        (made,) = self.controller.reconcile(name, "bench")
        took = now() - began - (switch.spent - before)
        assert made.state == "done", made
        return took


def neighbours(ports: int) -> Circuits:
    """Returns a circuit between each rack of even number and the next one."""
    return [(a, a + 1) for a in range(0, ports, 2)]


def opposite(ports: int) -> Circuits:
    """Returns a circuit between each rack of the first half and one of the second."""
    return [(a, a + ports // 2) for a in range(ports // 2)]


def plan(folder: Path) -> None:
    """Measures a change of 512 circuits: the comparison, and the comparison with the stored
    plan."""
    bench = Bench(folder, 1, PORTS)
    bench.want("s0", neighbours(PORTS))
    bench.own_time("s0")
    bench.want("s0", opposite(PORTS))
    compared, written = [], []
    lit = bench.controller.switches["s0"].lit
    for _ in range(RUNS):
        began = now()
        change = bench.controller.difference("s0")
        compared.append(now() - began)
        made = bench.store.plan("s0", change.plan(lit), "bench")
        written.append(now() - began)
        bench.store.move(made.id, "undone")
    assert (len(change.removed), len(change.added)) == (PORTS, PORTS)
    row("512 circuits compared", str(min(compared)))
    row("512 circuits compared and planned", str(min(written)), "under 50 ms")


def transactions(folder: Path) -> None:
    """Measures the controller's own time of a transaction, with one circuit and with 512."""
    bench = Bench(folder, 1, PORTS)
    both = (neighbours(PORTS), opposite(PORTS))
    bench.want("s0", both[0])
    bench.own_time("s0")
    took = []
    for at in range(RUNS):
        bench.want("s0", both[0][1 - at % 2 :])
        took.append(bench.own_time("s0"))
    row("transaction of 1 circuit, 511 are kept", str(min(took)), "under 20 ms")
    took = []
    for at in range(RUNS):
        bench.want("s0", both[1 - at % 2])
        took.append(bench.own_time("s0"))
    row("transaction of 512 circuits", str(min(took)))


def many(folder: Path) -> None:
    """Measures 100 switches, each with a change, in one iteration."""
    bench = Bench(folder, SWITCHES, PORTS, WORKERS)
    for name in bench.switches:
        bench.want(name, neighbours(PORTS))
    began = time.perf_counter()
    made = bench.controller.cycle()
    took = time.perf_counter() - began
    assert [one.state for one in made] == ["done"] * SWITCHES
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    row(f"{SWITCHES} switches, 512 new circuits each", f"{took:.1f} s")
    row("memory at most", f"{peak:.0f} MB", "under 250 MB")


def restart(folder: Path) -> None:
    """Measures the time from the start of the process until it has read its switch and answers."""
    switch, port = free_port(), free_port()
    (folder / "switch.toml").write_text(f'ports = "64x64"\n[faces.scpi]\nport = {switch}\n')
    rows = "".join(f"r{n},{n},{n}\n" for n in range(1, 65))
    (folder / "ports.csv").write_text(f"rack,A port,B port\n{rows}", encoding="utf-8")
    (folder / "c.toml").write_text(
        f'listen = "127.0.0.1:{port}"\n[[switch]]\nname = "s0"\n'
        f'url = "scpi://127.0.0.1:{switch}"\nports = "ports.csv"\n'
    )
    store = Store(f"sqlite:///{folder / 'controller.db'}", time.time)
    token = add_token(store, "bench", ["read"], "bench")
    fill(store)
    store.close()
    size = (folder / "controller.db").stat().st_size / 1e6
    with running("switch", "serve", str(folder / "switch.toml")):
        answer(f"127.0.0.1:{switch}")
        took, used = min(until_read(folder, port, token) for _ in range(RUNS))
    text = f"{took:.2f} s ({used:.2f} s CPU)"
    row(f"restart, {HISTORY:,} transactions ({size:.0f} MB)", text, "under 2 s")


def fill(store: Store) -> None:
    """Adds finished transactions of eight circuits on a switch with 24 others."""
    lit = [(a, a) for a in range(1, 49)]
    change = {"before": lit, "removed": lit[:16], "added": [(a, 49 - a) for a in range(1, 17)]}
    text = json.dumps({**change, "kept": lit[16:]})
    states = ("planned", "draining", "changing", "verifying", "done")
    steps = json.dumps([{"state": state, "at": 1.7e9, "reason": ""} for state in states])
    one = {"switch": "s0", "state": "done", "who": "bench", "plan": text, "reason": ""}
    one |= {"created": 1.7e9, "updated": 1.7e9, "steps": steps}
    with store._engine.begin() as db:
        for _ in range(HISTORY // 10_000):
            db.execute(schema.transaction.insert(), [one] * 10_000)


def until_read(folder: Path, port: int, token: str) -> tuple[float, float]:
    """Starts the controller; returns the time until its state has a reading of the switch, and the
    processor time."""
    address = f"http://127.0.0.1:{port}/state"
    request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
    began = time.perf_counter()
    with running("controller", "serve", str(folder / "c.toml")) as process:
        while True:
            try:
                with urllib.request.urlopen(request, timeout=10) as found:
                    state = json.load(found)
                if state["switches"][0]["read_at"] is not None:
                    return time.perf_counter() - began, processor_s(process)
            except OSError:
                pass
            time.sleep(0.005)


@contextmanager
def running(*words: str) -> Iterator[int]:
    """Runs a command of Lightloom in parallel; returns its process."""
    command = [sys.executable, "-m", "lightloom", *words]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, **silent)
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def answer(where: str) -> None:
    """Waits until a process listens."""
    host, _, port = where.partition(":")
    while True:
        try:
            with socket.create_connection((host, int(port)), 1):
                return
        except OSError:
            time.sleep(0.01)


def processor_s(process: int) -> float:
    """Processor time."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    """Returns a TCP port that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def row(name: str, value: str, limit: str = "") -> None:
    """Prints one line."""
    print(f"{name:44}{value:>24}  {limit}", flush=True)


PARTS = {part.__name__: part for part in (plan, transactions, many, restart)}


def main() -> None:
    """Runs each part, or the named one, and prints the load of the machine."""
    if len(sys.argv) > 1:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[sys.argv[1]](Path(folder))
        return
    for name in PARTS:
        subprocess.run([sys.executable, __file__, name], check=True)
    found = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    row("load average, processors", f"{os.getloadavg()[0]:.1f}, {os.cpu_count()}")
    row("processor", found[1] if found else "unknown")


if __name__ == "__main__":
    main()
