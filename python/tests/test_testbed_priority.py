"""The controller and the switches of servers have priority over other programs."""

import os
import subprocess
import sys
import threading

import pytest
from testbed_support import needs_real_time

from lightloom.testbed import priority

PLAIN = os.SCHED_OTHER


ASK = "import os; print(os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0))"


def asked(prefix: list[str]) -> tuple[int, int]:
    """Returns the scheduling policy and the niceness of a child."""
    done = subprocess.run([*prefix, sys.executable, "-c", ASK], capture_output=True, check=True)
    policy, niceness = done.stdout.split()
    return int(policy), int(niceness)


@needs_real_time
def test_all_threads_have_a_real_time_policy_which_applications_have_not() -> None:
    ready, stop = threading.Event(), threading.Event()

    def wait() -> None:
        ready.set()
        stop.wait(20)

    other = threading.Thread(target=wait)
    other.start()
    ready.wait(20)
    assert other.native_id is not None
    before = os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
    try:
        with priority.preferred():
            policies = {os.sched_getscheduler(thread) for thread in (0, other.native_id)}
            assert policies == {os.SCHED_FIFO}
            assert os.sched_getparam(0).sched_priority == priority.CONTROLLER
            assert asked(priority.usual_priority()) == (PLAIN, 0)
        after = os.sched_getscheduler(other.native_id)
    finally:
        stop.set()
        other.join()
    assert after == PLAIN
    assert (os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)) == before


def test_niceness_does_where_the_kernel_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    own = [0]
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    monkeypatch.setattr(os, "getpriority", lambda *_: own[0])
    monkeypatch.setattr(os, "setpriority", lambda _, __, niceness: own.__setitem__(0, niceness))
    with priority.preferred():
        assert own == [priority.NICENESS]
        assert priority.usual_priority() == ["nice", "-n", str(-priority.NICENESS)]
    assert own == [0]
    assert priority.usual_priority() == []
