"""One process writes into a folder at a time; others hear who does.

The lock is `flock` of `.lightloom/lock`, so it ends with its holder, however that ends. Where
a file system has no such locks, the process that the file names holds it while it lives.
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

try:
    import fcntl
except ImportError:  # Windows: the process that the file names holds it
    fcntl = None  # type: ignore[assignment]

#: Seconds that a command waits for another to finish writing a file or two.
PATIENCE_S = 30.0
#: Seconds that it waits before it is refused a folder for long.
CLAIM_PATIENCE_S = 1.0
_PAUSE_S = 0.05
#: How many folders deep others' locks are looked for: a folder may be one of much else.
_BELOW = 4
#: What file systems answer that have no locks.
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)


@dataclass
class _Held:
    """A lock that this process holds, by how many of its parts."""

    file: int
    by: int
    made: list[Path]
    """Folders that were made for it."""


_held: dict[str, _Held] = {}
_claims: list[Path] = []
#: Parts of this process take turns.
turn = threading.RLock()


def claim(folder: Path, option: str = "-o") -> Path:
    """Takes a folder for the rest of a command, before anything is simulated.

    A folder and those below it are written by one command at a time, the first that came. All
    take theirs before they look for others', so of two that come at once one sees the other at
    least: who finds one above gives way, who finds one below waits for that, so the outer one
    is first.

    Raises:
        ConfigError: if another process writes there, above or below.
        WriteError: if nothing can be written there.
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
    """A lock below a folder that another process holds; not in hidden folders."""
    for one, folders, _ in os.walk(folder):
        below = Path(one).relative_to(folder).parts
        lock = Path(one) / unfinished.LOCK
        if below and unfinished.FOLDER in folders and is_taken(lock):
            return lock
        deeper = len(below) < _BELOW
        folders[:] = [name for name in folders if deeper and not name.startswith(".")]
    return None


def release_claims() -> None:
    """Gives back what the command took."""
    while _claims:
        release(_claims.pop())


def take(folder: Path, option: str = "-o", patience_s: float = PATIENCE_S) -> None:
    """Takes a folder, and finishes or takes back what a dead process left there.

    Raises:
        ConfigError: if another process has it for longer than `patience_s` seconds.
        WriteError: if nothing can be written there.
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
                unfinished.settle_held(folder)
        except BaseException:
            release(folder)
            raise


def release(folder: Path) -> None:
    """Gives a folder back; nothing of the writer's is left in it then."""
    with turn:
        key = os.path.realpath(folder)
        held = _held.get(key)
        if held is None:
            return
        held.by -= 1
        if held.by:
            return
        del _held[key]
        if not unfinished.is_left(folder):  # else the lock goes, and the journal stays
            unfinished.clear(folder)
        (folder / unfinished.LOCK).unlink(missing_ok=True)
        _leave(folder, held.made)
        signals.forget(folder / unfinished.FOLDER)
        os.close(held.file)


def _leave(folder: Path, made: list[Path]) -> None:
    """Removes the folders created for a lock if they are empty."""
    disk.remove_empty(folder / unfinished.FOLDER)
    for empty in reversed(made):
        disk.remove_empty(empty)
        signals.forget_made(empty)


def _taking(folder: Path, option: str, patience_s: float, made: list[Path]) -> int:
    """The open file of a lock, as soon as it is ours."""
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
    """The lock's file, locked; None while another process has it or just gave it back."""
    with disk.naming(lock.parent.parent):
        try:
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # its folder went with its last holder
            return None
        try:
            if _flock(file, lock) and os.fstat(file).st_ino == lock.stat().st_ino:
                return file
        except FileNotFoundError:
            pass
        os.close(file)
        return None


def _flock(file: int, lock: Path) -> bool:
    """Whether the lock is ours."""
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
    """Says in the lock who holds it."""
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
    except OSError:  # there is none, or it is not writable
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
