"""The life of a worker process: how it begins, and that it ends with its parent.

A worker heeds that its parent closes its pipe, and SIGTERM, which the parent sends to one that
does not, and the system to one whose parent is gone. Ctrl-C and a closed terminal reach the
whole process group: they are the parent's to heed.
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

#: Of Linux's prctl: the signal that a process gets when its parent ends.
PR_SET_PDEATHSIG = 1
#: Of a process that removes what is left when its parent is ended by force, and says so.
SILENT = "ignore:resource_tracker:UserWarning"
#: Seconds that workers have to end after they are told, and again after SIGTERM.
PATIENCE_S = 0.25
_busy = False


def begin(parent: int) -> None:
    """Prepares a process that the process `parent` has just started."""
    sys.stdout = sys.stderr  # what policies print is none of the command's output
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _strike)
    signals.watched(signals.WORKER_GRACE_S, silent=True)
    _end_with(parent)


def _strike(signum: int, frame: object) -> None:
    """Ends the job, which cleans up; without one there is nothing to clean."""
    if not _busy:
        os._exit(128 + signum)
    signals.strike(signum, frame)


def _end_with(parent: int) -> None:
    """Has this process get SIGTERM when its parent ends."""
    threading.Thread(target=_watch, daemon=True).start()
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:  # it was gone before
        os._exit(128 + signal.SIGTERM)


def _watch() -> None:
    """The same where the system has no such signal: the pipe to the parent breaks."""
    if (above := multiprocessing.parent_process()) is not None:
        above.join()
        os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def busy() -> Iterator[None]:
    """While a job runs: SIGTERM raises in it."""
    global _busy
    _busy = True
    try:
        yield
    finally:
        _busy = False
        if signals.struck():
            os._exit(signals.code())  # it has cleaned up; its pipe would wait for its parent


@contextmanager
def started() -> Iterator[None]:
    """Processes that are started within ignore what reaches the whole group until they can
    say so themselves: they inherit what is blocked."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    if SILENT not in sys.warnoptions:  # which processes are started with
        sys.warnoptions.append(SILENT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        # Before the first worker comes the process that cleans up, whose start unblocks SIGINT.
        resource_tracker.ensure_running()
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end(processes: Sequence[BaseProcess]) -> None:
    """Ends workers that have been told to."""
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
