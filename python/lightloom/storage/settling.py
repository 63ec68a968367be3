"""Readers finish or undo the moves of a process that died while it moved files."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lightloom.errors import ConfigError
from lightloom.storage import disk, lock
from lightloom.storage.unfinished import FOLDER, LOCK, is_left

#: Number of parent folders of a result that may have its journal: those of its label, seed and
#: case.
_ABOVE = 3
#: Longest wait of a reader for a writer that is moving files, and the interval of its checks [s].
_PATIENCE_S, _PAUSE_S = 30.0, 0.05


def settle(folder: Path) -> None:
    """Finishes or undoes the moves that a dead process left in a folder or above it, before
    reading.

    Raises:
        ConfigError: if another process is writing there and does not finish soon.
        WriteError: if the system rejects it.
    """
    here = folder.absolute()
    for home in (here, *list(here.parents)[:_ABOVE]):
        if is_left(home):
            _settle_soon(home)


def release_left(folders: Iterable[Path]) -> None:
    """Settles folders in which a dead process left files of the writer; folders into which another
    process still writes are not touched."""
    for folder in folders:
        if (folder / FOLDER).is_dir():
            with suppress(ConfigError, OSError):
                lock.settle_free(folder, patience_s=0.0)
            disk.remove_empty(folder)


def _settle_soon(folder: Path) -> None:
    """Settles a folder, unless the process that writes there finishes its moves meanwhile."""
    until = time.monotonic() + _PATIENCE_S
    while is_left(folder):
        if not lock.is_taken(folder / LOCK) or time.monotonic() > until:
            lock.settle_free(folder, patience_s=0.0)
        else:
            time.sleep(_PAUSE_S)
