"""A clock that stands still while a change is planned, so that all its parts see the same leases,
boundaries and deferred requests."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class HeldClock:
    """Tells the time; each thread can hold it.

    >>> from itertools import count
    >>> clock = HeldClock(count().__next__)
    >>> with clock.held():
    ...     clock(), clock()
    (0, 0)
    >>> clock()
    1
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """Does not hold the time yet.

        Args:
            now: seconds since 1970.
        """
        self._now = now
        self._thread = threading.local()

    def __call__(self) -> float:
        """The time, or the one that this thread holds [s since 1970]."""
        at: float | None = getattr(self._thread, "at", None)
        return self._now() if at is None else at

    @contextmanager
    def held(self) -> Iterator[None]:
        """This thread sees one time inside."""
        self._thread.at = self()
        try:
            yield
        finally:
            self._thread.at = None
