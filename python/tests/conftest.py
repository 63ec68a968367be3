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

# A busy machine is slow: no example may fail for the time that it takes. Examples are the same
# in every run, unless `HYPOTHESIS_PROFILE=random`.
settings.register_profile("repeated", deadline=None, derandomize=True)
settings.register_profile("random", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeated"))


def pytest_configure() -> None:
    """What a shell starts in its background ignores Ctrl-C, and under nohup hanging up, and so
    would all that tests start. A handler that does nothing is not handed on to them."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a class with this `decide`; returns how experiments name it."""

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
    """Testbeds of two tests would have one name, and take each other's time."""
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
    """The same on a socket."""
    from controller_support import Served

    made = Served(tmp_path)
    yield made
    made.close()
