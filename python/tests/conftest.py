"""Fixtures that several files share."""

import fcntl
import os
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from policy_support import Write

# No example fails because of its running time, because busy machines are slow. Examples are the
# same in every run, unless `HYPOTHESIS_PROFILE=random`.
settings.register_profile("repeated", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeated"))


def pytest_configure() -> None:
    """Background processes of a shell ignore SIGINT, and under nohup SIGHUP, and processes that
    tests start would inherit this. A handler that does nothing is not inherited."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that make a testbed come first: one process then has them all, and no other process
    waits for its turn."""
    items.sort(key=lambda item: "one_testbed" not in getattr(item, "fixturenames", ()))


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a class with this `decide`; returns the name by which experiments refer to it."""

    def write(body: str, *, head: str = "", members: str = "", name: str = "mine.py") -> str:
        lines = "\n".join(f"        {line}" for line in body.splitlines())
        text = (
            f"import numpy as np\n{head}\n\nclass Mine:\n{members}\n"
            f"    def decide(self, demand, switch):\n{lines}\n"
        )
        (tmp_path / name).write_text(text, encoding="utf-8")
        return f"{tmp_path / name}:Mine"

    return write


@pytest.fixture
def one_testbed() -> Iterator[None]:
    """Testbeds of two tests would have the same name, and would slow each other down."""
    with (Path(tempfile.gettempdir()) / "lightloom-testbed.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        policy = os.sched_getscheduler(0)
        yield
        assert os.sched_getscheduler(0) == policy, "a testbed left this process its own policy"


@pytest.fixture
def reached(tmp_path: Path) -> Any:
    """The HTTP interface of a controller of an emulated switch, and a token of each scope."""
    from controller_support import Reached

    return Reached(tmp_path)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Any]:
    """The same interface on a socket."""
    from controller_support import Served

    made = Served(tmp_path)
    yield made
    made.close()
