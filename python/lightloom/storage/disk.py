"""Writes files; errors of the system name the path that they concern."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lightloom.storage.errors import WriteError

#: Errors of file systems that cannot flush a folder.
_NO_FLUSH = (errno.EINVAL, errno.ENOTSUP, errno.EBADF)


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


def write(file: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Writes a new file and flushes it to the disk."""
    with file.open("xb") as out:
        fill(out)
        out.flush()
        os.fsync(out.fileno())


def flush(folder: Path) -> None:
    """Flushes the names in a folder to the disk."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as problem:
        if problem.errno not in _NO_FLUSH:
            raise
    finally:
        os.close(opened)


def check_place(path: Path) -> Path:
    """Returns the innermost folder above a path that exists.

    Raises:
        WriteError: if no file could be moved to the path later.
    """
    above = next(one for one in path.parents if os.path.lexists(one))
    code = 0
    if not above.is_dir():
        code = errno.ENOTDIR
    elif path.is_dir():
        code = errno.EISDIR
    elif not os.access(above, os.W_OK | os.X_OK):
        code = errno.EACCES
    with naming(path):
        if code:
            raise OSError(code, os.strerror(code))
    return above


def remove_empty(folder: Path) -> None:
    """Removes a folder if it is empty."""
    with suppress(OSError):
        folder.rmdir()
