"""The record of a result: its files with their sizes and checksums, and its inputs.

`record.json` gets its final name last. When it is read, it may have been damaged by a crash, a copy
or an editor; the reader then states the reason without a traceback.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

RECORD = "record.json"
SCHEMA = 1
_SHA = "sha256:"
#: Upper limit of the size of a record [bytes].
_BYTES_MAX = 1 << 28


@dataclass(frozen=True)
class Record:
    """The contents of a record."""

    files: Mapping[str, tuple[int, str]]
    """Path below the record's folder → bytes and `sha256:…`."""
    told: Mapping[str, Any] = field(default_factory=dict)
    """The origin of the result: `build`, `inputs`, and the `digest` of a point of a sweep."""

    def text(self) -> str:
        """The record as text."""
        files = {
            name: {"bytes": size, "sha256": digest.removeprefix(_SHA)}
            for name, (size, digest) in sorted(self.files.items())
        }
        return json.dumps({"schema": SCHEMA, **self.told, "files": files}, indent=2) + "\n"


def read(folder: Path) -> Record | str:
    """Reads the record of a folder; returns a text with the reason if there is none."""
    file = folder / RECORD
    try:
        if file.stat().st_size > _BYTES_MAX:
            return f"{RECORD} is too large"
        text = file.read_bytes()
    except OSError as problem:
        missing = isinstance(problem, FileNotFoundError)
        return f"it has no {RECORD}" if missing else f"{RECORD}: {str(problem.strerror).lower()}"
    if not text.strip():
        return f"{RECORD} is empty"
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        return f"{RECORD} is no JSON"
    try:
        if made["schema"] != SCHEMA:
            return f"{RECORD} has schema {str(made['schema'])[:20]}, not {SCHEMA}"
        files = {
            _below(name): (int(of["bytes"]), _SHA + str(of["sha256"]))
            for name, of in made["files"].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return f"{RECORD} is not of its form"
    rest = {key: value for key, value in made.items() if key not in ("schema", "files")}
    return Record(files, rest)


def faults(folder: Path, record: Record) -> Iterator[str]:
    """The differences of the files from the record."""
    for name, (size, digest) in record.files.items():
        file = folder / name
        try:
            found = file.stat().st_size
            if found != size:
                yield f"{name} has {found} of {size} B"
            elif digest_of(file) != digest:
                yield f"{name} has other contents"
        except FileNotFoundError:
            yield f"{name} is missing"
        except OSError as problem:
            yield f"{name}: {str(problem.strerror).lower()}"


def digest_of(file: Path) -> str:
    """Returns the digest of a file, `sha256:…`.

    Raises:
        OSError: if the file cannot be read.
    """
    with file.open("rb") as data:
        return _SHA + hashlib.file_digest(data, "sha256").hexdigest()


def _below(name: str) -> str:
    """Returns a path below the record's folder.

    Raises:
        ValueError: if it leads out of the folder.
    """
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
        raise ValueError(name)
    return str(path)
