"""Signals while executors run.

A KeyboardInterrupt inside `concurrent.futures` can leave one of its locks held; then all threads
wait for ever. Therefore a signal is only recorded, and raised where no lock is held.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import TypeVar

from lightloom.storage import signals

T = TypeVar("T")
#: Interval at which a recorded signal is checked [s].
PATIENCE_S = 0.1


class Noted:
    """Records whether a signal, such as Ctrl-C, is to end the command."""

    def __init__(self) -> None:
        self.pressed = False

    def heed(self) -> None:
        """Raises KeyboardInterrupt if a signal was recorded."""
        if self.pressed:
            raise signals.Ended

    def heed_soon(self) -> None:
        """Waits for a moment and then does the same; other threads may record a signal
        meanwhile."""
        time.sleep(PATIENCE_S)
        self.heed()

    def finished(self, pending: Collection[Future[T]]) -> set[Future[T]]:
        """Waits until some of `pending` are finished and returns them.

        Raises:
            KeyboardInterrupt: soon after Ctrl-C.
        """
        while True:
            self.heed()
            finished, _ = wait(pending, PATIENCE_S, FIRST_COMPLETED)
            if finished:
                return finished


@contextmanager
def noted() -> Iterator[Noted]:
    """Records Ctrl-C in the block, and in a command the other signals that end it; raises it at the
    end of the block if it was not raised before.

    If the program handles or ignores the signal itself, nothing changes. Threads other than the
    main thread are never interrupted, so nothing changes there either."""
    state = Noted()

    def note(signum: int, frame: object) -> None:
        state.pressed = True

    main = threading.current_thread() is threading.main_thread()
    if main and signals.is_ours(signal.getsignal(signal.SIGINT)):
        with signals.noting(state):
            yield state
        state.heed()
        return
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield state
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield state
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    state.heed()
