"""Scheduling policies of threads and programs that must act on time: the controller, and the
switches of servers.

Niceness alone has no effect against programs of another session if the kernel groups processes by
session (autogroup); a real-time policy does. The kernel reserves 5 % of each second for programs
without one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from lightloom.testbed import shell

CONTROLLER = 3
"""Real-time priority of the controller's threads; the user-space plane has 2."""
SWITCH = 1
"""Real-time priority of the switches of servers."""
NICENESS = -10
"""The niceness of the controller's process if the kernel refuses a real-time policy."""


@contextmanager
def preferred() -> Iterator[None]:
    """Runs all threads of this process, and their child processes, before other programs; for
    exceptions see `usual_priority`."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    if not prefer_threads():
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, NICENESS)
    try:
        yield
    finally:
        for thread in _threads():
            with suppress(OSError):
                os.sched_setscheduler(thread, *before)
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, niceness)


def prefer_threads() -> bool:
    """Gives all threads of this process a real-time policy; returns whether the calling thread
    has it.

    A child inherits the policy, and an application resets it. Without the policy the child would
    start late under load, and the thread that starts it holds the interpreter's lock until the
    start.
    """
    for thread in _threads():
        prefer(thread, CONTROLLER, os.SCHED_FIFO)
    return has_real_time()


def prefer(thread: int, priority: int, policy: int) -> None:
    """Gives a thread a real-time policy, if the kernel permits it and the thread still exists."""
    with suppress(OSError):
        os.sched_setscheduler(thread, policy, os.sched_param(priority))


def prefer_switch(process: int) -> None:
    """Gives a process, and the threads that it creates later, the priority of a switch."""
    prefer(process, SWITCH, os.SCHED_RR)


def usual_priority() -> list[str]:
    """The start of a command line that runs a program without the priority of this thread."""
    if has_real_time():
        return [shell.tool_path("chrt"), "--other", "0"]
    own = os.getpriority(os.PRIO_PROCESS, 0)
    return [] if own >= 0 else ["nice", "-n", str(-own)]


def has_real_time() -> bool:
    """Whether the calling thread has a real-time policy."""
    return os.sched_getscheduler(0) in (os.SCHED_FIFO, os.SCHED_RR)


def _threads() -> list[int]:
    return [int(task.name) for task in Path("/proc/self/task").iterdir()]
