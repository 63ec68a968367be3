"""The start of a worker process, and its end with its parent.

A worker ends if its parent closes its pipe, or on SIGTERM, which the parent sends if the worker
does not end, and the system if the parent is gone. Ctrl-C and a closed terminal reach the whole
process group; only the parent handles them.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess

from lightloom.storage import signals

#: The number of the prctl operation (Linux) that sets the signal sent when the parent ends.
PR_SET_PDEATHSIG = 1
#: Suppresses the warning of the process that cleans up after a parent that was killed.
SILENT = "ignore:resource_tracker:UserWarning"
#: Longest wait for workers to end after the pipe is closed, and again after SIGTERM [s].
PATIENCE_S = 0.25
_busy = False


def begin(parent: int) -> None:
    """Prepares a process that the process `parent` has just started."""
    sys.stdout = sys.stderr  # the output of policies must not mix with the command's
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _strike)
    signals.watched(signals.WORKER_GRACE_S, silent=True)
    _end_with(parent)


def _strike(signum: int, frame: object) -> None:
    """Ends the job, which cleans up; without a job the process ends at once."""
    if not _busy:
        os._exit(128 + signum)
    signals.strike(signum, frame)


def _end_with(parent: int) -> None:
    """Makes the system send SIGTERM to this process when its parent ends."""
    threading.Thread(target=_watch, daemon=True).start()
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # the parent had already ended
        os._exit(128 + signal.SIGTERM)


def _watch() -> None:
    """Detects the end of the parent by its pipe, if the system has no such signal."""
    if (above := multiprocessing.parent_process()) is not None:
        above.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def busy() -> Iterator[None]:
    """Makes SIGTERM raise an exception while a job runs."""
    global _busy
    _busy = True
    try:
        yield
    finally:
        _busy = False
        if signals.struck():
            os._exit(signals.code())  # cleaned up; a normal exit would wait for the parent's pipe


@contextmanager
def started() -> Iterator[None]:
    """Makes processes that are started in the block ignore signals to the process group until they
    set this themselves: blocked signals are inherited."""
    if SILENT not in sys.warnoptions:  # inherited by the processes that are started
        sys.warnoptions.append(SILENT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        # The resource tracker starts before the first worker, because its start unblocks SIGINT.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end(processes: Sequence[BaseProcess]) -> None:
    """Ends workers whose pipes were closed."""
    _await(processes)
    for process in _living(processes):
        process.terminate()
    _await(processes)
    for process in _living(processes):
        process.kill()
    for process in processes:
        process.join()


def _living(processes: Iterable[BaseProcess]) -> list[BaseProcess]:
    return [process for process in processes if process.is_alive()]


def _await(processes: Iterable[BaseProcess]) -> None:
    until = time.monotonic() + PATIENCE_S
    for process in processes:
        process.join(max(0.0, until - time.monotonic()))
