"""Ctrl-C while executors work.

A KeyboardInterrupt that strikes inside `concurrent.futures` can leave one of its
locks taken, and then everybody waits for ever. So it is only noted, and raised
where nothing is held.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
#: Seconds within which Ctrl-C is heeded.
PATIENCE_S = 0.1


class Noted:
    """Whether Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.pressed = False

    def heed(self) -> None:
        """Raises KeyboardInterrupt if Ctrl-C was pressed."""
        if self.pressed:
            raise KeyboardInterrupt

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
    """Notes Ctrl-C within; raises it at the end if nobody heeded it.

    Whoever handles or ignores the signal in a way of their own is left alone, and so
    are threads other than the main one, which it never strikes.
    """
    state = Noted()

    def note(signum: int, frame: object) -> None:
        state.pressed = True

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield state
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield state
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    state.heed()
