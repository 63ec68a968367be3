"""Hooks that lead traffic away from cross-connects before they go dark, and let it in again.

HydRA's three substeps: traffic leaves the circuits that will be removed; the switch changes;
traffic enters the new circuits.
"""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from typing import Protocol

from lightloom.switches.ports import Pair, name_of


class HookError(Exception):
    """A hook that failed: traffic may still be on a circuit."""


class Hook(Protocol):
    """Leads traffic away and in."""

    def start(self) -> None:
        """This controller is the active one: whatever the hook needs of the machine is opened.

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


class NoHook:
    """Traffic leaves by itself when the light is lost."""

    def start(self) -> None:
        """Does nothing."""

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""


class HttpHook:
    """Posts `{"step", "switch", "cross_connects"}` and expects a status of 2xx."""

    def __init__(self, url: str, timeout_s: float = 10.0) -> None:
        self._url = url
        self._timeout_s = timeout_s

    def start(self) -> None:
        """Does nothing."""

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Posts step `drain`."""
        self._post("drain", switch, pairs)

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Posts step `enter`."""
        self._post("enter", switch, pairs)

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
