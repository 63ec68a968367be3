"""Runs coroutines for a synchronous driver, on one thread with an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
CLOSE_S = 5.0
"""The longest wait for the thread to end [s]."""


class Loop:
    """A thread with an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.is_open = True
        """Whether it still runs coroutines."""

    def run(self, work: Coroutine[Any, Any, T], wait_s: float) -> T:
        """Runs a coroutine and returns its result.

        Raises:
            TimeoutError: if it takes longer than `wait_s`.
        """

        async def bounded() -> T:
            return await asyncio.wait_for(work, wait_s)

        return asyncio.run_coroutine_threadsafe(bounded(), self._loop).result()

    def close(self) -> None:
        """Ends the thread; may be called again."""
        if self.is_open:
            self.is_open = False
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(CLOSE_S)
            if not self._thread.is_alive():
                self._loop.close()

    def call(self, act: Callable[[], None]) -> None:
        """Calls a function on the thread, and does not wait for it."""
        if self.is_open:
            self._loop.call_soon_threadsafe(act)
