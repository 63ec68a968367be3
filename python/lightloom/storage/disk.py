"""Every change that the writer makes to the disk, as one step, so that tests can make each step
fail."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lightloom.storage.errors import WriteError

#: Errors of file systems that have no hard links, or that cannot flush a folder.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
_NO_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF)


def step(name: str, path: Path) -> None:
    """Called before each step; tests replace it by a function that fails."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Adds the path to an error of the system.

    Raises:
        WriteError: instead of an OSError.
    """
    try:
        yield
    except WriteError:
        raise
    except OSError as problem:
        raise WriteError(problem, path) from problem


def make(folder: Path) -> None:
    """Makes a folder, unless it exists."""
    with naming(folder):
        step("make", folder)
        folder.mkdir(exist_ok=True)


def write(file: Path, fill: Callable[[BinaryIO], object], shown: Path) -> None:
    """Writes a new file and flushes it to the disk; errors name `shown`."""
    with naming(shown):
        step("write", file)
        with file.open("xb") as out:
            fill(out)
            out.flush()
            step("flush", file)
            os.fsync(out.fileno())


def double(file: Path, other: Path, shown: Path) -> None:
    """Gives a file a second name; copies it if the file system has no hard links. Errors name
    `shown`."""
    with naming(shown):
        step("double", file)
        try:
            os.link(file, other, follow_symlinks=False)
            return
        except OSError as problem:
            if problem.errno not in _NO_LINKS:
                raise
        with file.open("rb") as data:
            write(other, lambda out: shutil.copyfileobj(data, out), shown)


def move(part: Path, path: Path) -> None:
    """Moves a file to its final name, replacing the file of that name."""
    with naming(path):
        step("move", path)
        part.replace(path)


def remove(path: Path) -> None:
    """Removes a file, if it exists."""
    with naming(path):
        step("remove", path)
        path.unlink(missing_ok=True)


def flush(folder: Path) -> None:
    """Flushes the names in a folder to the disk."""
    with naming(folder):
        step("flush", folder)
        _flush(folder)


def _flush(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as problem:
        if problem.errno not in _NO_FLUSH:
            raise
    finally:
        os.close(opened)


def remove_for_good(path: Path) -> None:
    """Removes a file, also in case the power fails; without an error if only the flush fails."""
    remove(path)
    with suppress(OSError):
        _flush(path.parent)


def remove_empty(folder: Path) -> None:
    """Removes a folder if it is empty."""
    with suppress(OSError):
        folder.rmdir()


def discard(file: Path) -> None:
    """Removes a temporary file, if possible."""
    with suppress(OSError):
        file.unlink(missing_ok=True)
