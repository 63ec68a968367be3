"""The controller's store on PostgreSQL: the same sequences as on SQLite, and two controllers of
which one is stopped for longer than its lease."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from controller_postgres import database as database
from controller_postgres import emptied
from test_controller_lives import lived as whole_life
from test_controller_lives import ports_in
from test_controller_service import wait
from test_controller_simulated import lived

from lightloom.controller.database import DeposedError
from lightloom.controller.store import Store

WRITER = """
import sys, time
from lightloom.controller.database import DeposedError
from lightloom.controller.store import Store
store = Store(sys.argv[1], time.time)
name, until, held = sys.argv[2], time.time() + 300, False
while time.time() < until:
    before, held = held, store.take_role(name, 3.0)
    try:
        for _ in range(10 if held else 0):
            store.note(name, "write", {"fence": store.fence})
            time.sleep(0.01)
    except DeposedError:
        held = False
    # By a write, or by the renewal of the role.
    if before and not held:
        print("deposed", flush=True)
    time.sleep(0.02)
"""


def test_whatever_happens_the_invariants_hold_on_postgresql(database: str) -> None:
    for seed in range(20):
        lived(seed, emptied(database))


def test_the_promises_are_kept_on_postgresql(database: str, tmp_path: Path) -> None:
    for seed in range(6):
        whole_life(seed, ports_in(tmp_path), emptied(database))


def test_a_stopped_controller_is_deposed(database: str) -> None:
    url = emptied(database)
    store = Store(url, time.time)
    line = [sys.executable, "-c", WRITER, url]
    first = subprocess.Popen([*line, "first"], stdout=subprocess.PIPE, text=True)
    second = None
    try:
        wait(lambda: writers(store) == ["first"])
        second = subprocess.Popen([*line, "second"], stdout=subprocess.PIPE, text=True)
        time.sleep(1.0)
        assert writers(store) == ["first"]
        first.send_signal(signal.SIGSTOP)
        wait(lambda: "second" in writers(store))
        first.send_signal(signal.SIGCONT)
        assert first.stdout is not None
        assert first.stdout.readline() == "deposed\n"
        second.send_signal(signal.SIGKILL)
        wait(lambda: writers(store)[-1] == "first" and len(writers(store)) == 3)
    finally:
        for process in (first, second):
            if process is not None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait(10)
    assert writers(store) == ["first", "second", "first"]
    assert store.broken_link() is None
    fences = [record["body"] for record in store.audit(limit=100_000)]
    assert fences == sorted(fences)
    store.close()


def test_a_controller_that_stops_in_a_transaction_is_deposed(database: str) -> None:
    """Regression: the stopped controller held the lock of the role, and no other could take
    over."""
    url = emptied(database)
    first, second = Store(url, time.time), Store(url, time.time)
    assert first.take_role("first", 0.1)

    def write() -> None:
        with first._write():
            time.sleep(0.2)
            assert second.take_role("second", 60.0)

    with pytest.raises(DeposedError):
        write()
    assert second.fence != first.fence
    with pytest.raises(DeposedError):
        first.note("first", "write", {})
    second.note("second", "write", {})
    assert writers(second) == ["second"]
    first.close()
    second.close()


def writers(store: Store) -> list[str]:
    """Returns the writers, one entry per turn."""
    names = [record["who"] for record in store.audit(limit=100_000)]
    return [name for at, name in enumerate(names) if at == 0 or names[at - 1] != name]
