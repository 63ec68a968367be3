"""Hooks that drain traffic from cross-connects before they go dark, and let it in again.

They follow HydRA's three substeps: traffic leaves the circuits that will be removed; the switch
changes; traffic enters the new circuits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from http.client import HTTPException
from typing import Protocol
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from lightloom.switches.ports import Pair, name_of


class HookError(Exception):
    """A hook failed, so traffic may still be on a circuit."""


class Hook(Protocol):
    """Drains traffic and lets it in again. It keeps no state that another controller would need."""

    def start(self, check: Callable[[], None]) -> None:
        """Opens the resources of the hook; called when this controller becomes the active one.

        Args:
            check: raises if another controller may be active; the hook calls it between two steps.

        Raises:
            ConfigError: if they cannot be opened.
        """

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Removes traffic from these cross-connects.

        Raises:
            HookError: if traffic may still be there.
        """

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Lets traffic use these cross-connects.

        Raises:
            HookError: if traffic may not use them.
        """

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Removes the state that keeps traffic away from these cross-connects, which are dark.

        Raises:
            HookError: if some of that state may be left.
        """

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Restores the state that sends traffic over these cross-connects if it was lost; called at
        each pass.

        Raises:
            HookError: if it cannot be restored.
        """

    def stop(self) -> None:
        """Closes the resources that `start` opened; called when this controller is no longer
        active."""


class NoHook:
    """No hook: traffic leaves by itself when the light is lost."""

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


class _NoRedirects(HTTPRedirectHandler):
    """Makes a redirect an error: it would be followed by a GET, whose answer acknowledges
    nothing."""

    def redirect_request(self, *_: object) -> None:
        """Follows no redirect."""


class HttpHook:
    """A hook that posts `{"step", "switch", "cross_connects"}` and expects a status of 2xx.

    It follows no redirects and uses no proxy.
    """

    def __init__(self, url: str, timeout_s: float = 10.0) -> None:
        self._url = url
        self._timeout_s = timeout_s
        # A proxy of the environment might answer instead of the server.
        self._opener = build_opener(_NoRedirects, ProxyHandler({}))

    def start(self, check: Callable[[], None]) -> None:
        """Does nothing."""

    def drain(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Posts step `drain`."""
        self._post("drain", switch, pairs)

    def enter(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Posts step `enter`."""
        self._post("enter", switch, pairs)

    def forget(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing: the server of the hook already has the information that traffic has
        left."""

    def keep(self, switch: str, pairs: Sequence[Pair]) -> None:
        """Does nothing."""

    def stop(self) -> None:
        """Does nothing."""

    def _post(self, step: str, switch: str, pairs: Sequence[Pair]) -> None:
        if not pairs:
            return
        body = {"step": step, "switch": switch, "cross_connects": [name_of(p) for p in pairs]}
        request = Request(
            self._url, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with self._opener.open(request, timeout=self._timeout_s):
                pass
        except (OSError, HTTPException) as problem:
            raise HookError(f"hook {self._url}: {problem}") from None
