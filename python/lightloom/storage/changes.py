"""Changes of the files in one folder, all of which are made or none.

New files are staged under their relative names. One rename of the staging folder to `ready` decides
that the changes are made. The moves from there to the final names can be repeated from any point,
by any process.
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lightloom.errors import ConfigError
from lightloom.storage import disk
from lightloom.storage.errors import WriteError
from lightloom.storage.records import RECORD

#: The writer's folder in the folder of a result, and its contents. The core knows `ready`.
FOLDER = ".lightloom"
LOCK, READY = Path(FOLDER) / "lock", Path(FOLDER) / "ready"
#: The contents of a staging folder, under their relative names: new files, and an empty file for
#: each file that is removed.
FILES, GONE = Path("files"), Path("gone")

_numbers = itertools.count(1)


class Changes:
    """The changes of a command inside one folder, which is locked."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._staged = home / FOLDER / f"new-{next(_numbers)}"

    def place(self, path: Path, kind: Path = FILES) -> Path:
        """Returns the path at which a file is written before it gets its final name."""
        file = self._staged / kind / path.relative_to(self.home)
        if not file.parent.is_dir():
            with disk.naming(path):
                file.parent.mkdir(parents=True)
        return file

    def remove(self, path: Path) -> None:
        """Lists a file that is removed."""
        with disk.naming(path):
            self.place(path, GONE).touch()

    def prepare(self) -> None:
        """Flushes the folders of the changes to the disk."""
        with disk.naming(self.home):
            for folder, _, _ in os.walk(self._staged):
                disk.flush(Path(folder))

    def commit(self) -> None:
        """Decides that the changes are made."""
        with disk.naming(self.home):
            self._staged.rename(self.home / READY)

    def withdraw(self) -> None:
        """Discards the changes, of which none is in place, if the system lets it."""
        with suppress(OSError):
            (self.home / READY).rename(self._staged)
        self.discard()

    def discard(self) -> None:
        """Discards the changes, unless they are committed."""
        shutil.rmtree(self._staged, ignore_errors=True)


def make(all_of: Sequence[Changes]) -> None:
    """Makes the changes of all folders. If a step before the last commit fails, none is made.

    Raises:
        WriteError: if the system rejects a step; `is_committed` states whether the next command
            completes the changes.
    """
    try:
        for one in all_of:
            one.prepare()
        for one in all_of:
            one.commit()
    except BaseException as problem:
        for one in all_of:
            one.withdraw()
        if isinstance(problem, WriteError):
            problem.is_committed = any(is_left(one.home) for one in all_of)
        raise
    try:
        for one in all_of:
            put_in_place(one.home)
    except BaseException as problem:
        for one in all_of:
            put_in_place(one.home)
        if not isinstance(problem, OSError):
            raise


def is_left(home: Path) -> bool:
    """Whether changes of a folder were committed, but perhaps not all made."""
    return (home / READY).exists()


def put_in_place(home: Path) -> None:
    """Makes the changes that were committed in a folder, if any.

    Raises:
        ConfigError: if they would change files outside the folder.
        WriteError: if the system rejects a step.
    """
    if not is_left(home):
        return
    moves, gone = _staged(home, FILES), _staged(home, GONE)
    _check_inside(home, [*moves, *moves.values(), *gone.values()])
    changed = {above for path in (*moves.values(), *gone.values()) for above in path.parents}
    try:
        with disk.naming(home):
            disk.flush(home / FOLDER)
        for file, path in moves.items():
            with disk.naming(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                file.replace(path)
        for path in gone.values():
            with disk.naming(path):
                path.unlink(missing_ok=True)
        with disk.naming(home):
            for folder in changed:
                if folder.is_relative_to(home) and folder.is_dir():
                    disk.flush(folder)
            for folder in sorted({path.parent for path in gone.values()}, reverse=True):
                disk.remove_empty(folder)
            shutil.rmtree(home / READY)
    except WriteError as problem:
        problem.is_committed = True
        raise


def _staged(home: Path, kind: Path) -> dict[Path, Path]:
    """The files of a kind that are committed → their final names; records are last, so that other
    readers see no incomplete result."""
    top = home / READY / kind
    files = [Path(above, name) for above, _, names in os.walk(top) for name in names]
    files.sort(key=lambda file: file.name == RECORD)
    return {file: home / file.relative_to(top) for file in files}


def _check_inside(home: Path, paths: Sequence[Path]) -> None:
    """Raises an error if links lead out of a folder: another user may have sent it."""
    own = home.resolve()
    for folder in {path.parent for path in paths}:
        if not folder.resolve().is_relative_to(own):
            raise ConfigError(
                f"{home / READY}: its changes lead to {folder.resolve()}; move it away"
            )


def clear(home: Path) -> None:
    """Completes the changes that a dead process committed in a folder, and discards others."""
    put_in_place(home)
    for left in (home / FOLDER).glob("new-*"):
        shutil.rmtree(left, ignore_errors=True)
