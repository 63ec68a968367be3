"""Coroutines from a driver that does not wait itself: one thread with an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Loop:
    """A thread with an event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], wait_s: float) -> T:
        """Runs a coroutine and returns its result.

        Raises:
            TimeoutError: if it takes longer than `wait_s`.
        """

        async def bounded() -> T:
            return await asyncio.wait_for(work, wait_s)

        return asyncio.run_coroutine_threadsafe(bounded(), self._loop).result()

    def close(self) -> None:
        """Ends the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
