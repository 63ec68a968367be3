#!/usr/bin/env python3
"""The emulated switch of 1,024 x 1,024 ports with all faces: start, memory, bulk, clients.

    python benches/switch.py

Prints a table with the load average, because times are longer on a busy machine, and with the
processor time of the switch itself, which depends on it less.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lightloom.switches.targets import open_target

PORTS = 1024
PAIRS = [(a, PORTS + 1 - a) for a in range(1, 513)]
MOVED = [(a, PORTS - a % 512) for a in range(1, 513)]
CLIENTS = 100
SETTLE_S = 0.02
FACES = ("scpi", "tl1", "command", "ssh", "netconf", "gnmi")


def setup() -> str:
    """Returns the file of the switch."""
    head = f'ports = "{PORTS}x{PORTS}"\n[timing]\nsettle = "20 ms"\n'
    return head + "".join(f"[faces.{face}]\nport = {free_port()}\n" for face in FACES)


def free_port() -> int:
    """Returns a TCP port that is not in use."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def first_answer(port: int) -> None:
    """Sends SCPI queries until there is an answer."""
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as line:
                line.sendall(b"*idn?\n")
                if line.recv(100):
                    return
        except OSError:
            time.sleep(0.002)


def memory_mb(process: int) -> float:
    """Resident memory."""
    text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+)", text)
    return int(found[1]) * 1024 / 1e6 if found else float("nan")


def processor_s(process: int) -> float:
    """Processor time."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def row(name: str, value: str, limit: str = "") -> None:
    """Prints one line."""
    print(f"{name:44}{value:>24}  {limit}", flush=True)


def bulk(process: int, target: str, name: str = "") -> None:
    """Measures 512 cross-connects in one change, created and moved; the best of three."""
    switch = open_target(target)
    switch.read()
    best, least, move, most = [float("inf")] * 4
    for _ in range(3):
        used, started = processor_s(process), time.monotonic()
        switch.change([], PAIRS)
        best = min(best, time.monotonic() - started)
        least = min(least, processor_s(process) - used)
        used, started = processor_s(process), time.monotonic()
        switch.change(PAIRS, MOVED)
        move = min(move, time.monotonic() - started)
        most = min(most, processor_s(process) - used)
        switch.change(MOVED, [])
    switch.close()
    face = name or target.partition(":")[0]
    row(f"512 created by {face}, beyond settling", said(best, least), "under 0.5 s")
    row(f"512 moved by {face}, beyond settling", said(move, most), "under 0.5 s")


def said(taken_s: float, used_s: float) -> str:
    """Returns the text of a time, and of the processor time in it."""
    return f"{taken_s - SETTLE_S:.3f} s ({used_s:.2f} s CPU)"


def clients(port: int) -> None:
    """Measures many clients at once."""
    started = time.monotonic()
    lines = [socket.create_connection(("127.0.0.1", port), 60) for _ in range(CLIENTS)]
    for line in lines:
        line.sendall(b":oxc:swit:size?\n")
    answers = {line.recv(100) for line in lines}
    for line in lines:
        line.close()
    assert answers == {f"{PORTS},{PORTS}\n".encode()}
    row(f"{CLIENTS} clients at once", f"{time.monotonic() - started:.3f} s", "all answered")


def main() -> None:
    """Starts the switch, measures, and ends it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "switch.toml"
        file.write_text(setup(), encoding="utf-8")
        ports = [int(text) for text in re.findall(r"port = (\d+)", file.read_text())]
        by_face = dict(zip(FACES, ports, strict=True))
        started = time.monotonic()
        command = [sys.executable, "-m", "lightloom", "switch", "serve", str(file)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            first_answer(by_face["scpi"])
            row("start to first answer (SCPI)", f"{time.monotonic() - started:.2f} s", "under 1 s")
            assert process.stdout is not None
            next(line for line in process.stdout if "Ctrl-C" in line)
            took, used = time.monotonic() - started, processor_s(process.pid)
            row("start until every face listens", f"{took:.2f} s ({used:.2f} s CPU)")
            bulk(process.pid, f"scpi://127.0.0.1:{by_face['scpi']}")
            gnmi = f"gnmi://127.0.0.1:{by_face['gnmi']}"
            bulk(process.pid, f"{gnmi}?model=ocp", "gNMI, OCP")
            bulk(process.pid, f"{gnmi}?model=sonic-db", "gNMI, sonic-db")
            clients(by_face["scpi"])
            row("memory", f"{memory_mb(process.pid):.0f} MB", "under 150 MB")
            row("load average, processors", f"{os.getloadavg()[0]:.1f}, {os.cpu_count()}")
        finally:
            process.terminate()
            process.wait(20)


if __name__ == "__main__":
    main()
