"""Repeated SIGKILL of each part of a testbed: `testbed down` then leaves a clean machine."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_testbed_hydra import ovs
from test_testbed_live import NIGHTS, runs, written
from test_testbed_setup import CTHROUGH, HYDRA
from testbed_support import live

from lightloom.testbed import namespaces

NAME = "tkills"
LINE = [sys.executable, "-m", "lightloom", "testbed"]


def wait(over: Callable[[], bool], seconds: float = 30) -> bool:
    until = time.monotonic() + seconds
    while not (done := over()) and time.monotonic() < until:
        time.sleep(0.05)
    return done


def pids(*words: str) -> list[int]:
    """Returns the processes of the testbed whose command line contains all of these words."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and int(path.name) != os.getpid():
            try:
                said = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if {*words} <= {*said}:
                found.append(int(path.name))
    return found


def guardians() -> list[int]:
    return pids("lightloom.testbed.guardian", NAME)


def inside() -> list[int]:
    return [pid for space in namespaces.existing(NAME) for pid in namespaces.pids(space)]


def folders() -> list[Path]:
    return [*Path(tempfile.gettempdir()).glob(f"lightloom-testbed-{NAME}-*")]


def sleepers() -> list[int]:
    return [pid for pid in inside() if pid in pids("sleep", "40")]


@contextmanager
def running(folder: Path, fabric: dict[str, object]) -> Iterator["subprocess.Popen[bytes]"]:
    """Starts a command, and waits until its application runs."""
    file = written(folder / f"{NAME}.toml", fabric, 40)
    command = subprocess.Popen(
        [*LINE, "run", str(file), "--name", NAME, "-o", str(folder / "out")],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert wait(lambda: bool(sleepers())), "the application has not begun"
        yield command
    finally:
        if command.poll() is None:
            command.kill()
        command.wait(10)


def check_clean(there: list[int], devices: set[str]) -> None:
    """Checks that `testbed down` ends the remaining parts, or reports that no testbed is up."""
    done = subprocess.run([*LINE, "down", NAME], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    assert done.returncode == 0 or "no such testbed" in done.stderr
    assert namespaces.existing(NAME) == []
    assert wait(lambda: not [pid for pid in there if runs(pid)])
    assert wait(lambda: not guardians())
    assert wait(lambda: not folders())
    assert {path.name for path in Path("/sys/class/net").iterdir()} == devices


CASES = [
    ("command", NIGHTS),
    ("guardian", NIGHTS),
    ("both", CTHROUGH),
    ("application", CTHROUGH),
    ("switch", HYDRA),
]


@live
@ovs
@pytest.mark.parametrize(("victim", "fabric"), CASES, ids=[victim for victim, _ in CASES])
@pytest.mark.parametrize(
    "rounds", [1, pytest.param(10, marks=pytest.mark.long)], ids=lambda rounds: f"{rounds}"
)
def test_whatever_is_killed_down_leaves_a_clean_machine(
    rounds: int, victim: str, fabric: dict[str, object], tmp_path: Path
) -> None:
    devices = {path.name for path in Path("/sys/class/net").iterdir()}
    for _ in range(rounds):
        with running(tmp_path, fabric) as command:
            there = [*inside(), *guardians(), command.pid]
            killed = {
                "command": [command.pid],
                "guardian": guardians(),
                "both": [*guardians(), command.pid],
                "application": sleepers(),
                "switch": [pid for pid in inside() if pid in pids("--disable-system")][:1],
            }[victim]
            assert killed
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            # Without its application or a switch, the command ends by itself with an error.
            if victim in ("application", "switch"):
                assert command.wait(30) == 1
                assert namespaces.existing(NAME) == []
            if victim == "guardian":
                time.sleep(0.3)
                assert command.poll() is None
            if victim != "command":
                check_clean(there if victim != "guardian" else there[:-1], devices)
        if victim == "command":
            check_clean(there, devices)
