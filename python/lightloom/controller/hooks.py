"""Hooks that lead traffic away from cross-connects before they go dark, and let it in again.

HydRA's three substeps: traffic leaves the circuits that will be removed; the switch changes;
traffic enters the new circuits.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import Protocol

from lightloom.switches.ports import Pair, name_of


class HookError(Exception):
    """A hook that failed: traffic may still be on a circuit."""


class Hook(Protocol):
    """Leads traffic away and in. It remembers nothing that another controller would need."""

    def start(self, check: Callable[[], None]) -> None:
        """This controller is the active one: whatever the hook needs of the machine is opened.

        Args:
            check: raises if another controller may be active; called between two steps.

        Raises:
            ConfigError: if it cannot be.
        """

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Traffic leaves these cross-connects.

        Raises:
            HookError: if it may still be there.
        """

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Traffic may use these cross-connects.

        Raises:
            HookError: if it may not.
        """

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """These cross-connects, which traffic has left, are dark: nothing need keep it away.

        Raises:
            HookError: if something of that may be left.
        """

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """These cross-connects carry traffic, at each pass: what leads it there is set up again if
        it was lost.

        Raises:
            HookError: if that fails.
        """

    def stop(self) -> None:
        """This controller is not the active one any more: what `start` opened is closed."""


class NoHook:
    """Traffic leaves by itself when the light is lost."""

    def start(self, check: Callable[[], None]) -> None:
        """Does nothing."""

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def stop(self) -> None:
        """Does nothing."""


class HttpHook:
    """Posts `{"step", "switch", "cross_connects"}` and expects a status of 2xx."""

    def __init__(self, url: str, timeout_s: float = 10.0) -> None:
        self._url = url
        self._timeout_s = timeout_s

    def start(self, check: Callable[[], None]) -> None:
        """Does nothing."""

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Posts step `drain`."""
        self._post("drain", switch, pairs)

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Posts step `enter`."""
        self._post("enter", switch, pairs)

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing: the hook already knows that traffic has left."""

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def stop(self) -> None:
        """Does nothing."""

    def _post(self, step: str, switch: str, pairs: Sequence[Pair]) -> None:
        if not pairs:
            return
        body = {"step": step, "switch": switch, "cross_connects": [name_of(p) for p in pairs]}
        request = urllib.request.Request(
            self._url, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout_s):
                pass
        except (OSError, HTTPException) as problem:
            raise HookError(f"hook {self._url}: {problem}") from None
