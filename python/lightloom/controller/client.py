"""A client of a controller's HTTP interface."""

from __future__ import annotations

import json
import os
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lightloom.errors import ConfigError, refusal

URL = "LIGHTLOOM_CONTROLLER"
TOKEN = "LIGHTLOOM_CONTROLLER_TOKEN"
JOB = r"[A-Za-z0-9_.:-]{1,128}"
"""Names of jobs."""
DEFAULT_URL = "http://127.0.0.1:8400"


class Client:
    """A controller at an address.

    >>> client = Client("http://127.0.0.1:8400", "token")
    >>> client.url
    'http://127.0.0.1:8400'
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, timeout_s: float = 120.0
    ) -> None:
        """Reads missing arguments from `LIGHTLOOM_CONTROLLER` and `LIGHTLOOM_CONTROLLER_TOKEN`.

        Raises:
            ConfigError: without a token, or if the address is invalid.
        """
        self._named = URL if url is None else "url"
        self.url = (url or os.environ.get(URL) or DEFAULT_URL).rstrip("/")
        self._token = token or os.environ.get(TOKEN) or ""
        self._timeout_s = timeout_s
        if not self.url.startswith(("http://", "https://")):
            raise refusal(self._named, self.url, "not an address", "write http://HOST:PORT")
        if not self._token:
            limit = "the controller needs a token"
            remedy = f"set {TOKEN}, or run lightloom controller token add"
            raise refusal(TOKEN, "(missing)", limit, remedy)

    def state(self) -> dict[str, Any]:
        """All switches, transactions, leases and alarms."""
        found: dict[str, Any] = self._ask("GET", "/state")
        return found

    def diff(self, switch: str) -> dict[str, Any]:
        """Returns the changes that the present requests need."""
        found: dict[str, Any] = self._ask("GET", f"/switches/{switch}/diff")
        return found

    def apply(
        self,
        switch: str,
        *,
        circuits: Sequence[tuple[str, str]] | None = None,
        cross_connects: Sequence[str] | None = None,
        dry_run: bool = False,
        when: str | float = "now",
        key: str | None = None,
        priority: int = 0,
    ) -> dict[str, Any]:
        """Requests circuits between racks, or cross-connects, and changes the switch.

        Args:
            switch: its name.
            circuits: pairs of racks.
            cross_connects: such as `1A-29B`.
            dry_run: only return the changes.
            when: "now", "at checkpoint", or a time [s since 1970].
            key: requests with the same key are carried out only once.
            priority: 0 to 100; the operator with the higher priority has precedence.

        Raises:
            ConfigError: if the controller refuses the request.
        """
        by_racks = circuits is not None
        body: dict[str, Any] = {"dry_run": dry_run, "when": when, "priority": priority}
        body["circuits" if by_racks else "cross_connects"] = list(
            circuits if circuits is not None else cross_connects or []
        )
        path = f"/switches/{switch}/{'circuits' if by_racks else 'intent'}"
        found: dict[str, Any] = self._ask("PUT", path, body, _keyed(key))
        return found

    def withdraw(self, deferred: int) -> None:
        """Withdraws a deferred change."""
        self._ask("DELETE", f"/deferred/{deferred}")

    def announce_job(
        self,
        name: str,
        racks: Sequence[str],
        accelerators: int | None = None,
        until: float | None = None,
    ) -> dict[str, Any]:
        """Announces a job on some racks, which stops if one of them loses a circuit.

        The job ends at `until` [s since 1970] unless it is announced again.
        """
        body = {"racks": list(racks), "accelerators": accelerators, "until": until}
        found: dict[str, Any] = self._ask("PUT", _job(name), body)
        return found

    def announce_boundary(
        self, job: str, ends: float, begins: float | None = None
    ) -> dict[str, Any]:
        """Announces the time in which a job is stopped, as at a checkpoint [s since 1970]."""
        body = {"begins": begins, "ends": ends}
        found: dict[str, Any] = self._ask("PUT", f"{_job(job)}/boundary", body)
        return found

    def end_job(self, name: str) -> None:
        """Ends a job, so that no change waits for it."""
        self._ask("DELETE", _job(name))

    def send_demand(self, switch: str, matrix: Sequence[Sequence[float]]) -> None:
        """Sends the demand between the racks of a switch [bytes]."""
        self._ask("POST", f"/switches/{switch}/demand", {"matrix": [list(row) for row in matrix]})

    def reserve(
        self,
        switch: str,
        racks: tuple[str, str],
        ends: float,
        begins: float | None = None,
        priority: int = 0,
        key: str | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Reserves a circuit until a time [s since 1970]; requests with one key take effect once. A
        dry run only returns the changes when it begins, with the present requests."""
        body = {"racks": list(racks), "begins": begins, "ends": ends, "priority": priority}
        body["dry_run"] = dry_run
        path = f"/switches/{switch}/leases"
        found: dict[str, Any] = self._ask("POST", path, body, _keyed(key))
        return found

    def release(self, lease: int) -> None:
        """Ends a lease."""
        self._ask("DELETE", f"/leases/{lease}")

    def history(self, switch: str | None = None, limit: int = 50) -> list[dict[str, Any]]:
        """The last transactions, newest first."""
        query = f"?limit={limit}" + ("" if switch is None else f"&switch={switch}")
        found: list[dict[str, Any]] = self._ask("GET", f"/transactions{query}")
        return found

    def undo(self, transaction: int, key: str | None = None) -> list[dict[str, Any]]:
        """Restores the cross-connects before a transaction; requests with one key take effect
        once."""
        path = f"/transactions/{transaction}/undo"
        found: list[dict[str, Any]] = self._ask("POST", path, {}, _keyed(key))
        return found

    def watch(self) -> Iterator[dict[str, Any]]:
        """The state now and at each change."""
        with self._open("GET", "/events") as stream:
            for line in stream:
                text = line.decode()
                if text.startswith("data:") and text[5:].strip():
                    yield json.loads(text[5:])

    def _ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        with self._open(method, path, body, headers) as answer:
            return json.loads(answer.read() or b"null")

    def _open(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        request.add_header("Authorization", f"Bearer {self._token}")
        request.add_header("Content-Type", "application/json")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        context = ssl.create_default_context() if self.url.startswith("https:") else None
        try:
            return urllib.request.urlopen(request, timeout=self._timeout_s, context=context)
        except urllib.error.HTTPError as problem:
            raise _refused(problem) from None
        except OSError as problem:
            reason = getattr(problem, "reason", problem)
            limit = f"the controller does not answer ({reason})"
            remedy = "start it, or correct the address"
            if method != "GET" and not isinstance(problem, urllib.error.URLError):
                # The request was sent.
                remedy = (
                    "it may have taken the request: look at lightloom circuits history, or repeat "
                    "the request with the same --key"
                )
            if isinstance(reason, ssl.SSLCertVerificationError):
                limit = f"its certificate is not valid ({reason.verify_message})"
                remedy = (
                    "set SSL_CERT_FILE to the certificate of its authority, or correct the name"
                )
            raise refusal(self._named, self.url, limit, remedy) from None


def _keyed(key: str | None) -> dict[str, str]:
    """The header of a key."""
    return {} if key is None else {"Idempotency-Key": key}


def _job(name: str) -> str:
    """The path of a job."""
    if re.fullmatch(JOB, name) is None:
        limit = "must be 1 to 128 letters, digits or characters of _ . : -"
        raise refusal("job", name, limit, "choose such a name")
    return f"/jobs/{name}"


def _refused(problem: urllib.error.HTTPError) -> ConfigError:
    text = problem.read().decode(errors="replace")
    try:
        detail = json.loads(text)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = text[:400] or str(problem)
    return ConfigError(str(detail))
