"""Demand between the racks of a switch: sent by a client, or read from the configured source (a
folder, a Prometheus server, or counters of interfaces)."""

from __future__ import annotations

import threading
from typing import Protocol

from lightloom.controller.config import DemandTable
from lightloom.controller.folder import Folder
from lightloom.controller.matrices import Matrix, Seen
from lightloom.controller.prometheus import Prometheus
from lightloom.controller.racks import Racks
from lightloom.controller.unmapped import Unmapped


class Source(Protocol):
    """Something that measures demand."""

    def check(self, racks: Racks) -> None:
        """Refuses racks for which it can never have demand.

        Raises:
            ConfigError: naming one.
        """

    def latest(self, racks: Racks, now: float) -> Seen | None:
        """The newest demand; None if there is none.

        Raises:
            ConfigError: if the source does not answer, or its answer is not a demand.
        """


class Collector:
    """The last demand of each switch."""

    def __init__(self, table: DemandTable, interval: str) -> None:
        """Opens the source of a configuration.

        Raises:
            ConfigError: if its keys or its files are invalid.
        """
        self.unmapped = Unmapped()
        """Racks of the source that no port map has."""
        self._source = _source(table, interval, self.unmapped)
        self._sent: dict[str, Seen] = {}
        self._lock = threading.Lock()

    def check(self, racks: Racks) -> None:
        """Refuses racks for which the source can never have demand.

        Raises:
            ConfigError: naming one.
        """
        self.unmapped.add(racks)
        if self._source is not None:
            self._source.check(racks)

    def send(self, switch: str, matrix: Matrix, at: float, who: str) -> None:
        """Stores demand that a client sent."""
        with self._lock:
            self._sent[switch] = Seen(matrix, at, who)

    def latest(self, switch: str, racks: Racks, now: float) -> Seen | None:
        """The newest demand of a switch, from its source or a client; None if there is none.

        Raises:
            ConfigError: as `Source.latest`.
        """
        with self._lock:
            sent = self._sent.get(switch)
        measured = None if self._source is None else self._source.latest(racks, now)
        if measured is None or (sent is not None and sent.at >= measured.at):
            return sent
        return measured


def _source(table: DemandTable, interval: str, unmapped: Unmapped) -> Source | None:
    if table.folder is not None:
        return Folder(table, unmapped)
    if table.prometheus is not None:
        return Prometheus(table.prometheus, unmapped)
    if table.counters is not None:
        from lightloom.controller.counters import Counters

        return Counters(table.counters, interval)
    return None
