"""Demand between the racks of a switch: from a folder of matrices, or sent by a client."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lightloom.control.files import Demand, read_demand
from lightloom.controller.config import PrometheusTable
from lightloom.controller.prometheus import query
from lightloom.controller.racks import Racks
from lightloom.errors import ConfigError, refusal

SUFFIXES = (".csv", ".npy", ".tsv", ".txt")
MOST = 2**62


@dataclass(frozen=True)
class Seen:
    """Demand at one time."""

    matrix: list[list[int]]
    """Racks × racks [bytes]."""
    at: float
    """When it was measured [s since 1970]."""
    source: str


class Collector:
    """The last demand of each switch."""

    def __init__(self, folder: Path | None, prometheus: PrometheusTable | None = None) -> None:
        self._folder = folder
        self._prometheus = prometheus
        self._sent: dict[str, Seen] = {}
        self._lock = threading.Lock()

    def send(self, switch: str, matrix: list[list[int]], at: float, who: str) -> None:
        """Keeps demand that a client sent."""
        with self._lock:
            self._sent[switch] = Seen(matrix, at, who)

    def latest(self, switch: str, racks: Racks, now: float) -> Seen | None:
        """The newest demand of a switch; None if there is none.

        Raises:
            ConfigError: of a file or an answer that is no demand matrix.
        """
        with self._lock:
            sent = self._sent.get(switch)
        if self._prometheus is not None:
            return Seen(matrix_of(query(self._prometheus, now), racks, "answer"), now, "prometheus")
        file = self._newest()
        if file is None:
            return sent
        at = file.stat().st_mtime
        if sent is not None and sent.at >= at:
            return sent
        return Seen(of_file(file, racks), at, file.name)

    def _newest(self) -> Path | None:
        if self._folder is None or not self._folder.is_dir():
            return None
        files = [file for file in self._folder.iterdir() if file.suffix in SUFFIXES]
        return max(files, key=lambda file: (file.stat().st_mtime, file.name), default=None)


def of_file(file: Path, racks: Racks) -> list[list[int]]:
    """The matrix of a file between racks: by their names if the file has names.

    Raises:
        ConfigError: if it is no demand matrix, or has another size.
    """
    try:
        demand = read_demand(file)
    except ConfigError as problem:
        raise ConfigError(f"{file}: {problem}") from None
    return matrix_of(demand, racks, str(file))


def matrix_of(demand: Demand, racks: Racks, key: str) -> list[list[int]]:
    """The matrix of a demand between racks: by their names if the demand has names.

    Raises:
        ConfigError: of another size.
    """
    matrix = [[int(size) for size in row] for row in demand.matrix.tolist()]
    names = list(demand.names or [])
    if not names:
        return checked(matrix, racks, key)
    places = [names.index(name) if name in names else None for name in racks.names]
    return [[0 if a is None or b is None else matrix[a][b] for b in places] for a in places]


def checked(matrix: Sequence[Sequence[float]], racks: Racks, key: str) -> list[list[int]]:
    """A matrix of bytes between the racks of a switch.

    Raises:
        ConfigError: of another size, or of an entry that is no byte count.
    """
    count = len(racks.names)
    if len(matrix) != count or any(len(row) != count for row in matrix):
        shape = f"{len(matrix)} × {len(matrix[0]) if matrix else 0}"
        raise refusal(key, shape, f"the port map has {count} racks", f"send {count} × {count}")
    for a, row in enumerate(matrix):
        for b, size in enumerate(row):
            if not 0 <= size <= MOST:
                limit = "a byte count is 0 or more, and below 2^62"
                raise refusal(f"{key}[{a}][{b}]", size, limit, "correct it")
    return [[int(size) for size in row] for row in matrix]
