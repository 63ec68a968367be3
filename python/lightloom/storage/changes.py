"""Changes of the files in one folder, all of which are made or none.

New files are staged under their relative names. One rename of the staging folder to `ready` decides
that the changes are made. The moves from there to the final names can be repeated from any point,
by any process.
"""

from __future__ import annotations

import itertools
import json
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
#: The contents of a staging folder: new files, and the list of files that are removed.
FILES, GONE = "files", "gone"

_numbers = itertools.count(1)


class Changes:
    """The changes of a command inside one folder, which is locked."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._staged = home / FOLDER / f"new-{next(_numbers)}"
        self._gone: list[str] = []

    def place(self, path: Path) -> Path:
        """Returns the path at which a file is written before it gets its final name."""
        file = self._staged / FILES / path.relative_to(self.home)
        if not file.parent.is_dir():
            with disk.naming(path):
                file.parent.mkdir(parents=True)
        return file

    def remove(self, path: Path) -> None:
        """Lists a file that is removed."""
        self._gone.append(path.relative_to(self.home).as_posix())

    def prepare(self) -> None:
        """Flushes the changes to the disk."""
        with disk.naming(self.home):
            if not self._staged.is_dir():
                self._staged.mkdir()
            disk.write(self._staged / GONE, lambda out: out.write(json.dumps(self._gone).encode()))
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
    """Makes the changes in all folders, or none.

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
    top = home / READY / FILES
    files = [Path(above) / name for above, _, names in os.walk(top) for name in names]
    # Records are moved last, so that other readers see no incomplete result.
    files.sort(key=lambda file: file.name == RECORD)
    moves = {file: home / file.relative_to(top) for file in files}
    gone = _gone(home)
    changed = {above for path in (*moves.values(), *gone) for above in path.parents}
    try:
        with disk.naming(home):
            disk.flush(home / FOLDER)
        for file, path in moves.items():
            with disk.naming(path):
                path.parent.mkdir(parents=True, exist_ok=True)
                file.replace(path)
        for path in gone:
            with disk.naming(path):
                path.unlink(missing_ok=True)
        with disk.naming(home):
            for folder in changed:
                if folder.is_relative_to(home) and folder.is_dir():
                    disk.flush(folder)
            for folder in sorted({path.parent for path in gone}, reverse=True):
                disk.remove_empty(folder)
            (home / READY / GONE).unlink(missing_ok=True)
            shutil.rmtree(home / READY)
    except WriteError as problem:
        problem.is_committed = True
        raise


def _gone(home: Path) -> list[Path]:
    """The files that are removed from a folder.

    Raises:
        ConfigError: if there is no list, or if one of the changes leads out of the folder: another
            user may have sent it.
    """
    listed = home / READY / GONE
    try:
        names = json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else []
        gone = [home / str(name) for name in names]
        below = [home / READY / FILES, *(path.parent for path in gone)]
        for above, folders, _ in os.walk(below[0]):
            below += [home / os.path.relpath(Path(above, name), below[0]) for name in folders]
        if all(folder.resolve().is_relative_to(home.resolve()) for folder in below):
            return gone
    except (ValueError, TypeError):
        pass
    raise ConfigError(f"{home / READY}: has no changes of this folder; move it away")


def clear(home: Path) -> None:
    """Completes the changes that a dead process committed in a folder, and discards others."""
    put_in_place(home)
    for left in (home / FOLDER).glob("new-*"):
        shutil.rmtree(left, ignore_errors=True)
