"""Interfaces of top-of-rack switches with gNMI: their table, and parallel calls to their
switches."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lightloom.controller.tables import read_rows
from lightloom.errors import ConfigError
from lightloom.switches.access import read_credentials
from lightloom.switches.drivers._gnmi_client import GnmiClient
from lightloom.switches.targets import parse_target

T = TypeVar("T")
R = TypeVar("R")
AT_ONCE = 16
"""Number of switches that are called in parallel."""


@dataclass(frozen=True)
class Interface:
    """An interface of a switch."""

    target: str
    """Address of its switch: gnmi://HOST:PORT."""
    name: str

    def __str__(self) -> str:
        return f"{self.target} {self.name}"


def read_interfaces(
    file: Path, columns: Sequence[str]
) -> Iterator[tuple[str, list[str], Interface]]:
    """The rows of a table (CSV) whose first line names its columns. Each row has its place in the
    file, the cells of `columns`, and the interface in the columns `target` and `interface`.

    Raises:
        ConfigError: naming file and line.
    """
    wanted = [*columns, "target", "interface"]
    for where, given in read_rows(file, wanted):
        found = [given.get(name, "") for name in wanted]
        for name, cell in zip(wanted, found, strict=True):
            if not cell:
                raise ConfigError(f"{where}: no {name}; fill every cell")
        yield where, found[:-2], Interface(_address(where, found[-2]), found[-1])


def _address(where: str, text: str) -> str:
    try:
        scheme = parse_target(text).scheme
    except ConfigError as problem:
        raise ConfigError(f"{where}: target = {text}: {problem.limit}; {problem.remedy}") from None
    if scheme != "gnmi":
        limit = "interfaces are read and set over gNMI"
        raise ConfigError(f"{where}: target = {text}: {limit}; write gnmi://HOST:PORT")
    return text


class Targets:
    """Connections to switches, opened once and kept."""

    def __init__(self, credentials: Path | None, answer_s: float) -> None:
        self._credentials = credentials
        self._answer_s = answer_s
        self._clients: dict[str, GnmiClient] = {}
        self._lock = threading.Lock()

    def _client(self, text: str) -> GnmiClient:
        if text not in self._clients:
            target = parse_target(text)
            tls = (target.options or {}).get("tls", "")
            self._clients[text] = GnmiClient(
                target.host,
                target.port or 9339,
                read_credentials(self._credentials, target.user),
                tls={"on": True, "off": False}.get(tls),
                answer_s=self._answer_s,
            )
        return self._clients[text]

    def each(
        self, work: Mapping[str, T], act: Callable[[GnmiClient, T], R]
    ) -> dict[str, R | Exception]:
        """Calls `act` on all targets in parallel; returns each result or exception."""
        with self._lock:
            clients = {text: self._client(text) for text in work}

        def one(text: str) -> R | Exception:
            try:
                return act(clients[text], work[text])
            except Exception as problem:
                return problem

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(work, pool.map(one, work), strict=True))

    def close(self) -> None:
        """Ends all connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()


def by_target(interfaces: Sequence[Interface]) -> dict[str, list[str]]:
    """The names of interfaces by their switch, each once."""
    found: dict[str, dict[str, None]] = {}
    for one in interfaces:
        found.setdefault(one.target, {})[one.name] = None
    return {target: [*names] for target, names in found.items()}
