"""Demand from the newest file in a folder: a matrix, or flow records of NetFlow, IPFIX or sFlow."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path

from lightloom.control.demand.formats import ENDINGS
from lightloom.control.files import Demand, read_demand
from lightloom.controller.config import DemandTable
from lightloom.controller.matrices import Seen, matrix_of, read_or_none
from lightloom.controller.racks import Racks
from lightloom.controller.unmapped import Unmapped
from lightloom.errors import ConfigError, refusal

Version = tuple[Path, int, int]
"""A file, the time of its last change [ns] and its size; a file with another version is read
again."""
MOST_AHEAD_S = 60.0
"""Largest time by which the last change of a file may be in the future: a later file would hide all
newer ones until then."""


class Folder:
    """A folder into which another program writes files."""

    def __init__(self, table: DemandTable, unmapped: Unmapped) -> None:
        """Reads no file yet.

        Raises:
            ConfigError: if there is no such folder.
        """
        self._table = table
        self._unmapped = unmapped
        self._listed()
        self._version: Version | None = None
        self._demand: Demand | None = None
        self._lock = threading.Lock()

    def check(self, racks: Racks) -> None:
        """Accepts all racks, because a later file may name them."""

    def latest(self, racks: Racks, now: float) -> Seen | None:
        """The demand of the newest file; None if there is no file.

        Raises:
            ConfigError: naming a file that is not a demand, or that names no rack; if the folder no
                longer exists.
        """
        version = self._newest()
        if version is None:
            return None
        file, changed_ns, _ = version
        ahead_s = changed_ns / 1e9 - now
        if ahead_s > MOST_AHEAD_S:
            limit = f"it was changed {ahead_s:.0f} s in the future"
            raise ConfigError(f"{file}: {limit}; correct the clock of its writer, or remove it")
        with self._lock:
            demand = self._read(version)
        matrix = matrix_of(demand, racks, str(file))
        parts = [_source(file, demand), self._unmapped.note(demand)]
        return Seen(matrix, changed_ns / 1e9, ", ".join(filter(None, parts)))

    def _listed(self) -> list[Path]:
        folder = self._table.folder
        try:
            return [] if folder is None else [*folder.iterdir()]
        except OSError as problem:
            limit = (problem.strerror or str(problem)).lower()
            raise refusal("demand.folder", folder, limit, "make this folder, or mount it") from None

    def _newest(self) -> Version | None:
        found = []
        for file in self._listed():
            try:
                state = file.stat()
            except OSError:
                continue  # removed in between
            if file.suffix.lower() in ENDINGS and file.is_file():
                found.append((state.st_mtime_ns, file.name, file, state.st_size))
        if not found:
            return None
        changed_ns, _, file, size = max(found)
        return file, changed_ns, size

    def _read(self, version: Version) -> Demand | None:
        """The demand of a file; None if it has no traffic."""
        if version == self._version:
            return self._demand
        file, table = version[0], self._table
        try:
            read = partial(
                read_demand,
                file,
                unit=table.unit,
                format=table.format,
                map=table.hosts,
                columns=table.columns,
            )
            self._demand = read_or_none(read)
        except ConfigError as problem:
            text = str(problem)
            raise ConfigError(text if str(file) in text else f"{file}: {text}") from None
        except OSError as problem:
            raise ConfigError(f"{problem.filename}: {problem.strerror}; check the file") from None
        self._version = version
        return self._demand


def _source(file: Path, demand: Demand | None) -> str:
    """The name of a file, and the share of its bytes that was omitted."""
    reading = None if demand is None else demand.reading
    if reading is None or not reading.unknown or not reading.total:
        return file.name
    share = 100 * reading.unknown / reading.total
    return f"{file.name}, without {share:.3g} % of its bytes, whose hosts are not in the map"
