"""Clocks for waiting, and calls with a time limit, which run in a separate thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Pace:
    """The source of time: the machine, or a simulation."""

    now: Callable[[], float]
    """Monotonic clock [s]."""
    sleep: Callable[[float], None]
    """Waits for a number of seconds."""


REAL = Pace(time.monotonic, time.sleep)


class LateError(Exception):
    """A call took too long; its thread is still running."""


def within(seconds: float, act: Callable[[], T]) -> T:
    """The result of a call with a time limit; raises the call's exceptions.

    Raises:
        LateError: if it takes longer.

    >>> within(5.0, lambda: 42)
    42
    """
    found: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            found.append(act())
        except BaseException as problem:  # raised again below
            failed.append(problem)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise failed[0]
    if not found:
        raise LateError
    return found[0]
