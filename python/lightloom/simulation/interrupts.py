"""Signals while executors work.

A KeyboardInterrupt that strikes inside `concurrent.futures` can leave one of its
locks taken, and then everybody waits for ever. So it is only noted, and raised
where nothing is held.
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
#: Seconds within which Ctrl-C is heeded.
PATIENCE_S = 0.1


class Noted:
    """Whether a signal ends the command: Ctrl-C was pressed, say."""

    def __init__(self) -> None:
        self.pressed = False

    def heed(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed."""
        if self.pressed:
            raise signals.Ended

    def heed_soon(self) -> None:
        """The same, a moment later: others may hear of it sooner."""
        time.sleep(PATIENCE_S)
        self.heed()

    def finished(self, pending: Collection[Future[T]]) -> set[Future[T]]:
        """Waits until some of `pending` are finished.

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
    """Notes Ctrl-C within, and in a command the other signals that end one; raises it at the
    end if nobody heeded it.

    A program that handles or ignores the signal itself is left alone, and so
    are threads other than the main one, which it never strikes.
    """
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
