"""Only one process writes into a folder at a time; errors of others name it.

The lock is `flock` of `.lightloom/lock`, so that it ends with its process in any case. If the file
system has no such locks, the process that the file names holds the lock while it runs.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from lightloom.errors import ConfigError, refusal
from lightloom.storage import disk, owner, signals, unfinished
from lightloom.storage.unfinished import Journal

try:
    import fcntl
except ImportError:  # Windows: the process that the file names holds the lock
    fcntl = None  # type: ignore[assignment]

#: Longest wait for another command to finish writing a few files [s].
PATIENCE_S = 30.0
#: Longest wait for a folder that a command needs until its end [s].
CLAIM_PATIENCE_S = 1.0
_PAUSE_S = 0.05
#: Depth to which locks below a folder are searched, because a folder may contain much else.
_BELOW = 4
#: Errors of file systems that have no locks.
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)


@dataclass
class _Held:
    """A lock that this process holds, with the number of its users."""

    file: int
    by: int
    made: list[Path]
    """Folders that were made for the lock."""


_held: dict[str, _Held] = {}
_claims: list[Path] = []
#: Serialises the threads of this process.
turn = threading.RLock()


def claim(folder: Path, option: str = "-o") -> Path:
    """Takes a folder for the rest of a command, before the simulation begins.

    A folder and its subfolders are written by one command at a time. Every command first takes its
    own lock and then looks for locks of others, so that of two simultaneous commands at least one
    sees the other. A command that finds a lock above its folder releases its own; a command that
    finds one below keeps its own and waits. Thus the command with the outer folder comes first.

    Raises:
        ConfigError: if another process writes into the folder, above it or below it.
        WriteError: if the folder cannot be written.
    """
    until = time.monotonic() + CLAIM_PATIENCE_S
    while True:
        take(folder, option, max(0.0, until - time.monotonic()))
        try:
            above = _taken_above(folder)
            other = above or _taken_below(folder)
            while other and not above and time.monotonic() < until:
                time.sleep(_PAUSE_S)
                above = _taken_above(folder)
                other = above or _taken_below(folder)
        except BaseException:
            release(folder)
            raise
        if other is None:
            _claims.append(folder)
            return folder
        release(folder)
        if time.monotonic() >= until:
            raise _refused(option, folder, other)
        time.sleep(_PAUSE_S)


def _taken_above(folder: Path) -> Path | None:
    """A lock above a folder that another process holds."""
    above = Path(os.path.realpath(folder)).parents
    return next((lock for one in above if is_taken(lock := one / unfinished.LOCK)), None)


def _taken_below(folder: Path) -> Path | None:
    """A lock below a folder that another process holds; hidden folders are not searched."""
    for one, folders, _ in os.walk(folder):
        below = Path(one).relative_to(folder).parts
        lock = Path(one) / unfinished.LOCK
        if below and unfinished.FOLDER in folders and is_taken(lock):
            return lock
        deeper = len(below) < _BELOW
        folders[:] = [name for name in folders if deeper and not name.startswith(".")]
    return None


def release_claims() -> None:
    """Releases all folders that the command has claimed."""
    while _claims:
        release(_claims.pop())


def take(folder: Path, option: str = "-o", patience_s: float = PATIENCE_S) -> None:
    """Takes a folder, and finishes or undoes the moves that a dead process left there.

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
            file = _taking(folder, option, patience_s, made)
            _held[key] = _Held(file, 1, made)
            signals.note(folder / unfinished.FOLDER)
        except BaseException:
            _leave(folder, made)
            raise
        try:
            with signals.naming():
                _settle(folder)
        except BaseException:
            release(folder)
            raise


def release(folder: Path) -> None:
    """Releases a folder and removes the writer's files in it."""
    with turn:
        key = os.path.realpath(folder)
        held = _held.get(key)
        if held is None:
            return
        held.by -= 1
        if held.by:
            return
        del _held[key]
        if not unfinished.is_left(folder):  # else only the lock is released; the journal stays
            unfinished.clear(folder)
        (folder / unfinished.LOCK).unlink(missing_ok=True)
        _leave(folder, held.made)
        signals.forget(folder / unfinished.FOLDER)
        os.close(held.file)


def _settle(home: Path) -> None:
    """Finishes or undoes the moves that a dead process left in a folder that this process holds.

    Raises:
        WriteError: if the system rejects it.
    """
    if (other := unfinished.other(home)) is not None:
        settle_free(other)
    if (home / unfinished.UNDO).exists():
        Journal.read(home / unfinished.UNDO, home).undo()
    elif (home / unfinished.JOURNAL).exists():
        Journal.read(home / unfinished.JOURNAL, home).finish()
    unfinished.clear(home)


def settle_free(folder: Path, patience_s: float = PATIENCE_S) -> None:
    """Takes a folder for a moment, which settles it."""
    take(folder, patience_s=patience_s)
    release(folder)


def _leave(folder: Path, made: list[Path]) -> None:
    """Removes the folders that were made for a lock if they are empty."""
    disk.remove_empty(folder / unfinished.FOLDER)
    for empty in reversed(made):
        disk.remove_empty(empty)
        signals.forget_made(empty)


def _taking(folder: Path, option: str, patience_s: float, made: list[Path]) -> int:
    """Returns the open file of a lock after this process has taken it."""
    lock = folder / unfinished.LOCK
    until = time.monotonic() + patience_s
    while True:
        for missing in reversed([p for p in (folder, *folder.parents) if not p.exists()]):
            disk.make(missing)
            made.append(missing)
            signals.note_made(missing)
        disk.make(lock.parent)
        file = _locked(lock)
        if file is not None:
            try:
                _sign(file, lock)
            except BaseException:
                lock.unlink(missing_ok=True)
                os.close(file)
                raise
            return file
        if time.monotonic() > until:
            raise _refused(option, folder, lock)
        time.sleep(_PAUSE_S)


def _locked(lock: Path) -> int | None:
    """Returns the file of a lock that this process has taken; None if another process holds it or
    has just released it."""
    with disk.naming(lock.parent.parent):
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # its folder was removed by the last holder
            return None
        try:
            if _flock(file, lock) and os.fstat(file).st_ino == lock.stat().st_ino:
                return file
        except FileNotFoundError:
            pass
        os.close(file)
        return None


def _flock(file: int, lock: Path) -> bool:
    """Whether this process has taken the lock."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    except BlockingIOError:
        return False
    except OSError as problem:
        if problem.errno not in _NO_LOCKS:
            raise
    return not owner.alive(owner.read(lock))


def _sign(file: int, lock: Path) -> None:
    """Writes the holder into the lock."""
    with disk.naming(lock.parent.parent):
        disk.step("sign", lock)
        os.ftruncate(file, 0)
        os.pwrite(file, json.dumps(owner.me()).encode(), 0)


def is_taken(lock: Path) -> bool:
    """Whether another process holds a lock."""
    if os.path.realpath(lock.parent.parent) in _held:
        return False
    try:
        file = os.open(lock, os.O_RDWR)
    except OSError:  # it does not exist, or cannot be opened for writing
        return False
    try:
        return not _flock(file, lock)
    except OSError:
        return False
    finally:
        os.close(file)


def _refused(option: str, folder: Path, lock: Path) -> ConfigError:
    where = "there" if lock.parent.parent == folder else f"into {lock.parent.parent}"
    limit = f"{owner.describe(owner.read(lock))} is writing {where}"
    return refusal(option, folder, limit, "wait until it ends, or name another folder")
