"""Calls that may not come back: they run in a thread of their own, which is waited for so long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


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
