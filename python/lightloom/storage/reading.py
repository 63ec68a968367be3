"""Reads whole files that users name; files without an end are rejected."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from lightloom.errors import ConfigError, refusal

#: Largest file of settings [bytes]: an experiment, a price book, a policy.
SETTINGS = 64 << 20
#: Largest file of data [bytes]: demand, a plan, a log.
DATA = 2 << 30
#: Largest depth of nested tables and lists; valid files have fewer than ten levels.
DEEPEST = 50
#: Longest integer [bits]; Python prints none of more than 4,300 digits.
LONGEST = 13_000


def whole(path: Path, limit: int = SETTINGS) -> bytes:
    """Reads a file, or a pipe until it ends.

    Args:
        limit: the largest number of bytes.

    Raises:
        OSError: if it cannot be opened, is a device, or is larger.
    """
    with path.open("rb") as file:
        return whole_of(file, str(path), limit)


def whole_of(file: BinaryIO, name: str, limit: int = DATA) -> bytes:
    """Reads an open file, such as standard input, which may be a terminal.

    Raises:
        OSError: as for `whole`.
    """
    try:
        kind = os.fstat(file.fileno()).st_mode
    except (OSError, io.UnsupportedOperation):  # a buffer in memory
        kind = stat.S_IFREG
    device = stat.S_ISCHR(kind) or stat.S_ISBLK(kind)
    if device and not file.isatty():
        raise OSError(errno.EINVAL, "a device, not a file", name)
    found = file.read(limit + 1)
    if len(found) > limit:
        raise OSError(errno.EFBIG, f"longer than {limit >> 20:,} MiB", name)
    return found


def text(path: Path, limit: int = SETTINGS) -> str:
    """Reads a file as text, without a byte order mark.

    Raises:
        OSError: as for `whole`.
        UnicodeDecodeError: if it is not UTF-8.
    """
    return whole(path, limit).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def pythonic(value: Any) -> Any:
    """Converts NumPy values to Python values and paths to text.

    >>> import numpy as np
    >>> pythonic({"load": np.float64(0.5), "loads": np.array([1, 2]), "trace": Path("a.csv")})
    {'load': 0.5, 'loads': [1, 2], 'trace': 'a.csv'}
    """
    if isinstance(value, Mapping):
        return {key: pythonic(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [pythonic(inner) for inner in value]
    if isinstance(value, PurePath):
        return str(value)
    # Tested by name, so that commands without arrays do not import NumPy.
    of_numpy = type(value).__module__.partition(".")[0] == "numpy"
    return value.tolist() if of_numpy and hasattr(value, "tolist") else value


def check_depth(value: Any, file: Path | None = None) -> None:
    """Raises an error for tables and lists that are nested more deeply than in any valid file, and
    for integers of thousands of digits, before Python or the core reach limits of their own.

    Raises:
        ConfigError: naming the key.
    """
    for key, inner, limit, remedy in _beyond(value):
        problem = refusal(key, f"({type(inner).__name__})", limit, remedy)
        raise problem if file is None else ConfigError(f"{file}: {problem}")


def _beyond(value: Any) -> Iterator[tuple[str, Any, str, str]]:
    """The values that are too deep or too long, with their key, the limit and the remedy."""
    level = [("", value)]
    for _ in range(DEEPEST):
        level = [
            (f"{key}.{name}" if key else str(name), inner)
            for key, above in level
            for name, inner in _items(above)
        ]
        for key, inner in level:
            if isinstance(inner, int) and inner.bit_length() > LONGEST:
                yield key, inner, "a number has too many digits", "correct it"
    limit = f"more than {DEEPEST} tables and lists within each other"
    yield from ((key, inner, limit, "flatten it") for key, inner in level)


def _items(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, (list, tuple)):
        own = (Mapping, list, tuple, int)
        yield from ((k, v) for k, v in enumerate(value) if isinstance(v, own))
