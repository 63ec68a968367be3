"""Waiting: how time passes; calls that may not come back run in a thread of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Pace:
    """How time passes: that of the machine, or of a simulation."""

    now: Callable[[], float]
    """Seconds, which never go back."""
    sleep: Callable[[float], None]
    """Returns after so many seconds."""


REAL = Pace(time.monotonic, time.sleep)


class LateError(Exception):
    """A call that took too long; its thread goes on."""


def within(seconds: float, act: Callable[[], T]) -> T:
    """What a call returns or raises.

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
