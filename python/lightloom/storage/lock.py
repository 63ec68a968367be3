"""Locks that let only one process write into a folder at a time; errors of other processes name it.

The lock is `flock` of `.lightloom/lock`, so that it ends with its process in any case. If the file
system has no such locks, the process that the file names holds the lock while it runs.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from glob import iglob
from pathlib import Path

from lightloom.errors import ConfigError, refusal
from lightloom.storage import changes, disk, owner, signals
from lightloom.storage.changes import FOLDER, LOCK

#: Longest wait for another command to finish writing a few files [s].
PATIENCE_S = 30.0
#: Longest wait for a folder that a command needs until its end [s].
CLAIM_PATIENCE_S = 1.0
_PAUSE_S = 0.05
#: Depth to which locks below a folder are searched, because a folder may contain many other files.
_BELOW = 4
#: Number of parent folders of a result that may have its changes: those of its label, seed and
#: case.
_ABOVE = 3
#: Errors of file systems that have no locks.
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)


@dataclass
class _Held:
    """A lock that this process holds, with the number of its users."""

    file: int
    made: list[Path]
    """Folders that were made for the lock."""
    by: int = 1


_held: dict[str, _Held] = {}
_claims: list[Path] = []
#: Serialises the threads of this process.
turn = threading.RLock()


def claim(folder: Path, option: str = "-o") -> Path:
    """Takes a folder for the rest of a command, before the simulation begins.

    A folder and its subfolders are written by one command at a time. Every command first takes its
    own lock and then looks for locks of others, so that of two simultaneous commands at least one
    sees the other.

    Raises:
        ConfigError: if another process writes into the folder, above it or below it.
        WriteError: if the folder cannot be written.
    """
    take(folder, option, CLAIM_PATIENCE_S)
    _claims.append(folder)
    if (other := _taken_near(folder)) is not None:
        release(_claims.pop())
        raise _refused(option, folder, other)
    return folder


def _taken_near(folder: Path) -> Path | None:
    """A lock above or below a folder that another process holds; hidden folders are not
    searched."""
    above = [one / LOCK for one in Path(os.path.realpath(folder)).parents]
    patterns = (f"{'*/' * depth}{LOCK}" for depth in range(1, _BELOW + 1))
    names = (name for one in patterns for name in iglob(one, root_dir=folder))  # noqa: PTH207
    below = (folder / name for name in names)
    return next((lock for locks in (above, below) for lock in locks if _is_taken(lock)), None)


def release_claims() -> None:
    """Releases all folders that the command has claimed."""
    while _claims:
        release(_claims.pop())


def take(folder: Path, option: str = "-o", patience_s: float = PATIENCE_S) -> None:
    """Takes a folder, and completes the changes that a dead process committed there.

    Raises:
        ConfigError: if another process holds it for longer than `patience_s` seconds.
        WriteError: if the folder cannot be written.
    """
    with turn:
        key = os.path.realpath(folder)
        if key in _held:
            _held[key].by += 1
            return
        made: list[Path] = []
        try:
            _held[key] = _Held(_taken(folder, option, patience_s, made), made)
            signals.note(folder / FOLDER)
            changes.clear(folder)
        except BaseException:
            if key in _held:
                release(folder)
            _leave(folder, made)
            raise


def release(folder: Path) -> None:
    """Releases a folder and removes the writer's files in it."""
    with turn:
        key = os.path.realpath(folder)
        if (held := _held.get(key)) is None:
            return
        held.by -= 1
        if held.by:
            return
        del _held[key]
        _discard(folder / LOCK)
        _leave(folder, held.made)
        signals.forget(folder / FOLDER)
        os.close(held.file)


def _leave(folder: Path, made: list[Path]) -> None:
    """Removes the folders that were made for a lock if they are empty."""
    disk.remove_empty(folder / FOLDER)
    for empty in reversed(made):
        disk.remove_empty(empty)
        signals.forget(empty)


def _taken(folder: Path, option: str, patience_s: float, made: list[Path]) -> int:
    """Returns the open file of a lock after this process has taken it."""
    lock = folder / LOCK
    until = time.monotonic() + patience_s
    while True:
        for missing in reversed([p for p in (folder, *folder.parents) if not p.exists()]):
            with disk.naming(missing):
                missing.mkdir(exist_ok=True)
            made.append(missing)
            signals.note(missing, only_empty=True)
        with disk.naming(folder):
            lock.parent.mkdir(exist_ok=True)
            if (file := _opened(lock)) is not None:
                return file
        if time.monotonic() > until:
            raise _refused(option, folder, lock)
        time.sleep(_PAUSE_S)


def _opened(lock: Path) -> int | None:
    """Takes a lock and writes its holder into it; returns its open file, or None if another process
    holds it or has just released it."""
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    except FileNotFoundError:  # its folder was removed by the last holder
        return None
    with ExitStack() as failed:
        failed.callback(os.close, file)
        if not _flock(file, lock) or not _is_named(file, lock):
            return None
        failed.callback(_discard, lock)
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(owner.me()).encode(), 0)
        failed.pop_all()
    return file


def _is_named(file: int, lock: Path) -> bool:
    """Whether an open lock still has its name: its holder removes it."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), lock.stat())
    return False


def _discard(lock: Path) -> None:
    with suppress(OSError):
        lock.unlink()


def _flock(file: int, lock: Path) -> bool:
    """Whether this process has taken the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except BlockingIOError:
        return False
    except OSError as problem:
        if problem.errno not in _NO_LOCKS:
            raise
    return not owner.alive(owner.read(lock))


def _is_taken(lock: Path) -> bool:
    """Whether another process holds a lock; not if it cannot be opened for writing."""
    if os.path.realpath(lock.parent.parent) in _held:
        return False
    with suppress(OSError):
        file = os.open(lock, os.O_RDWR)
        try:
            return not _flock(file, lock)
        finally:
            os.close(file)
    return False


def _refused(option: str, folder: Path, lock: Path) -> ConfigError:
    where = "there" if lock.parent.parent == folder else f"into {lock.parent.parent}"
    limit = f"{owner.describe(owner.read(lock))} is writing {where}"
    return refusal(option, folder, limit, "wait until it ends, or name another folder")


def settle(folder: Path) -> None:
    """Completes the changes that a dead process committed in a folder or above it, before reading.

    Raises:
        ConfigError: if another process is writing there and does not finish soon.
        WriteError: if the system rejects it.
    """
    here = folder.absolute()
    until = time.monotonic() + PATIENCE_S
    for home in (here, *list(here.parents)[:_ABOVE]):
        while changes.is_left(home):
            if _is_taken(home / LOCK) and time.monotonic() < until:
                time.sleep(_PAUSE_S)
            else:
                _clear(home)


def release_left(folders: Iterable[Path]) -> None:
    """Settles folders in which a dead process left files of the writer; folders into which another
    process still writes are not touched."""
    for folder in folders:
        if (folder / FOLDER).is_dir():
            with suppress(ConfigError, OSError):
                _clear(folder)
            disk.remove_empty(folder)


def _clear(folder: Path) -> None:
    """Takes and releases a folder, which completes the changes that a dead process committed."""
    take(folder, patience_s=0.0)
    release(folder)
