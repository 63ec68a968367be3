"""The files that an experiment reads: their paths, their digests, their copies.

In memory the paths are absolute. In `experiment.toml` they are relative to it, with the SHA-256 of
each file under `[inputs]`, by the key that names the file; the digests of policies and schedules
are in the policy's own table. A file with another digest is an error, so that a repeated run reads
the same input.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightloom.config import price_books
from lightloom.config.overrides import as_json, fabrics_of
from lightloom.config.own_tables import DECISION
from lightloom.errors import refusal
from lightloom.policies.files import DIGEST, is_file
from lightloom.storage.staging import Staging

Table = dict[str, Any]

#: Name of the table of digests, and of the folder of copies.
INPUTS = "inputs"
_SHA = "sha256:"
_SHOWN = len(_SHA) + 12
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Place:
    """A key of an experiment that names a file."""

    key: str
    """The full key: `workload.trace`, `fabric.LABEL.policy.schedule`."""
    table: Table
    """The table that contains the key."""
    name: str
    """The key in that table."""
    pinned: bool = False
    """Whether the digest of the file is in the policy's table."""

    @property
    def path(self) -> Path:
        """The path of the file."""
        return Path(self._parts[0])

    @property
    def _parts(self) -> tuple[str, str]:
        """The path of the file, and the class of a policy with its colon."""
        value = str(self.table[self.name])
        path, colon, of = value.rpartition(":")
        has_class = self.name in ("file", "policy") and self.pinned and colon
        return (path, f":{of}") if has_class else (value, "")

    def move(self, path: str) -> None:
        """Sets another path."""
        self.table[self.name] = path + self._parts[1]


def places(raw: Table) -> Iterator[Place]:
    """All keys of an experiment that name files, whether or not the files exist."""
    yield from _of_workload("workload", raw.get("workload"))
    yield from _of_decision(raw.get(DECISION))
    for fabric in fabrics_of(raw):
        key = f"fabric.{fabric.get('label', fabric.get('kind'))}"
        if isinstance(fabric.get("schedule"), str):
            yield Place(f"{key}.schedule", fabric, "schedule", pinned=True)
        policy = fabric.get("policy")
        if _names_class(policy):
            yield Place(f"{key}.policy", fabric, "policy", pinned=True)
        if isinstance(policy, dict):
            if _names_class(policy.get("file")):
                yield Place(f"{key}.policy.file", policy, "file", pinned=True)
            elif isinstance(policy.get("schedule"), str):
                yield Place(f"{key}.policy.schedule", policy, "schedule", pinned=True)


def _names_class(file: Any) -> bool:
    """Whether a value is `PATH:CLASS`, even if the class is missing."""
    return isinstance(file, str) and is_file(file) and not file.startswith(":")


def _of_workload(key: str, table: Any) -> Iterator[Place]:
    if not isinstance(table, dict):
        return
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _of_workload(f"{key}.{name}", value)
        elif name == "mix" and isinstance(value, list):
            for k, part in enumerate(value):
                yield from _of_workload(f"{key}.mix[{k}]", part)
        elif name in ("file", "trace", "trace_hosts") and isinstance(value, str):
            yield Place(f"{key}.{name}", table, name)


def _of_decision(table: Any) -> Iterator[Place]:
    """The key of a price book that is a file, not one of the package's books."""
    prices = table.get("prices") if isinstance(table, dict) else None
    if isinstance(prices, str) and prices not in price_books.names():
        yield Place(f"{DECISION}.prices", table, "prices")


def anchor(raw: Table, base: Path) -> None:
    """Makes the paths of files absolute, so that the experiment runs from any directory."""
    for place in places(raw):
        place.move(str((base / place.path).resolve()))


def pinned(raw: Table) -> Table:
    """Returns the experiment with the digest of each readable file, except those of policies.

    Raises:
        ConfigError: if a file with a given digest is missing or different, or a digest names no
            file.
    """
    given = _given(raw)
    found, keys = {}, set()
    for place in places(raw):
        if place.pinned:
            continue
        keys.add(place.key)
        digest = digest_of(place.path)
        if place.key in given:
            _check(place, given[place.key], digest)
        if digest is not None:
            found[place.key] = digest
    for key in given:
        if key not in keys:
            remedy = "remove it, or correct the key"
            limit = "names no file that is read"
            raise refusal(f'inputs."{key}"', as_json(given[key]), limit, remedy)
    rest = {key: value for key, value in raw.items() if key != INPUTS}
    return {**rest, INPUTS: found} if found else rest


def _given(raw: Table) -> Mapping[str, str]:
    """Returns the digests of an experiment, after checking their form."""
    given = raw.get(INPUTS, {})
    if not isinstance(given, dict):
        remedy = 'write [inputs] and lines like "workload.trace" = "sha256:…"'
        raise refusal(INPUTS, as_json(given), "is not a table of digests", remedy)
    for key, value in given.items():
        if not isinstance(value, str) or not re.fullmatch(f"{_SHA}[0-9a-f]{{64}}", value):
            limit = f'is not "{_SHA}" and 64 hexadecimal digits'
            raise refusal(f'inputs."{key}"', as_json(value), limit, "correct it, or remove it")
    return given


def _check(place: Place, wanted: str, found: str | None) -> None:
    if found == wanted:
        return
    what = f"the experiment was made with a file of digest {_shown(wanted)}"
    if found is None:
        limit = f"cannot be read, and {what}"
        remedy = f"put that file there, or name it: --set {place.key}=PATH"
        if INPUTS in place.path.parts[:-1]:
            at = place.path.parts.index(INPUTS)
            expected = Path(*place.path.parts[: at + 1])
            remedy = (
                f"if this folder was taken out of results of --copy-inputs, copy their folder "
                f'`{INPUTS}` to "{expected}", or name the file: --set {place.key}=PATH'
            )
    else:
        limit = f"has digest {_shown(found)}, and {what}"
        remedy = f'restore that file, or remove "{place.key}" from [inputs] to run with this one'
    raise refusal(place.key, f'"{place.path}"', limit, remedy)


def _shown(digest: str) -> str:
    return f"{digest[:_SHOWN]}…"


def digest_of(path: Path) -> str | None:
    """Returns the digest of a file, `sha256:…`; None if it cannot be read."""
    try:
        found = path.stat()
        if not path.is_file():
            return None
        return _digest(str(path), found.st_mtime_ns, found.st_size, found.st_ino)
    except (OSError, ValueError):  # a path with a NUL character is invalid
        return None


@functools.lru_cache(maxsize=256)
def _digest(path: str, *_: int) -> str:
    """Returns the digest of a file; cached by path, size and time of the last change."""
    made = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return _SHA + made.hexdigest()


def digests(raw: Table) -> dict[str, str]:
    """Returns the digest of each file that an experiment reads, by the key that names it; the
    recorded digest if there is one. Files that cannot be read are omitted."""
    given = raw.get(INPUTS) or {}
    found = {}
    for place in places(raw):
        own = place.table.get(DIGEST) if place.pinned else None
        known = _SHA + own if isinstance(own, str) else given.get(place.key)
        digest = known or digest_of(place.path)
        if digest is not None:
            found[place.key] = digest
    return found


def listed(raw: Table) -> dict[str, Table]:
    """Returns the digests with the name and the present size [B] of each file, for summaries."""
    paths = {place.key: place.path for place in places(raw)}
    return {
        key: {"path": paths[key].name, "sha256": digest, "bytes": _size(paths[key])}
        for key, digest in digests(raw).items()
    }


@dataclass(frozen=True)
class Read:
    """An input file of a result."""

    key: str
    """The key that names the file."""
    path: Path
    digest: str
    """`sha256:…` at the time of reading."""


def reads(raw: Table) -> tuple[Read, ...]:
    """Returns the files that an experiment reads."""
    paths = {place.key: place.path for place in places(raw)}
    return tuple(Read(key, paths[key], digest) for key, digest in digests(raw).items())


def located(raw: Table, folder: Path) -> list[Table]:
    """Returns the files that an experiment reads, relative to a folder, for the record of a result
    there."""
    return recorded(reads(raw), folder)


def recorded(read: Iterable[Read], folder: Path) -> list[Table]:
    """Returns files in the form of the record of a result in a folder, without duplicates."""
    return [
        {"key": one.key, "path": _from(folder, one.path), "sha256": one.digest}
        for one in dict.fromkeys(read)
    ]


def _from(folder: Path, path: Path) -> str:
    """Returns a path relative to a folder if possible."""
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # the path is on another drive
        return str(path)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def kept(raw: Table, before: Table) -> None:
    """Removes the digests of files that `before` read, if they are no longer read or are read from
    another path. An experiment that names another file has no digest for it."""
    given = raw.get(INPUTS)
    if not isinstance(given, dict):
        return
    now, was = ({place.key: place.path for place in places(table)} for table in (raw, before))
    left = {k: digest for k, digest in given.items() if k not in was or now.get(k) == was[k]}
    if left:
        raw[INPUTS] = left
    else:
        del raw[INPUTS]


def forget(raw: Table, key: str) -> None:
    """Removes the digest of one file."""
    left = {k: digest for k, digest in raw.pop(INPUTS, {}).items() if k != key}
    if left:
        raw[INPUTS] = left


def named(raw: Table) -> Table:
    """Returns the experiment with file names without folders, which is equal on every machine."""
    made = copy.deepcopy(raw)
    for place in places(made):
        place.move(place.path.name)
    return made


def relative(raw: Table, folder: Path, copies: Mapping[Path, Path]) -> Table:
    """Returns the experiment as it is written into a folder: paths are relative to the folder and
    point to copies if there are any."""
    made = copy.deepcopy(raw)
    for place in places(made):
        place.move(_from(folder, copies.get(place.path, place.path)))
    return made


def copied(raw: Table, folder: Path, staging: Staging) -> dict[Path, Path]:
    """Copies the files of an experiment into `inputs` below a folder; returns file → copy. A file
    that has changed since its digest was computed is not copied.

    Raises:
        OSError: if a file cannot be copied.
    """
    made: dict[Path, Path] = {}
    taken: dict[str, str] = {}
    lost = set(changed(raw))
    for place in places(raw):
        digest = digest_of(place.path)
        if place.path in made or place.key in lost or digest is None:
            continue
        below, name = folder / INPUTS, place.path.name
        if taken.setdefault(name, digest) != digest:
            below /= digest[len(_SHA) : _SHOWN]
        made[place.path] = below / name
        staging.copy(below / name, place.path)
    return made


def changed(raw: Table) -> list[str]:
    """The keys of the files that are missing or have changed since the experiment ran."""
    given = raw.get(INPUTS) or {}
    found = []
    for place in places(raw):
        wanted = given.get(place.key)
        if place.pinned and isinstance(place.table.get(DIGEST), str):
            wanted = _SHA + place.table[DIGEST]
        if wanted is not None and digest_of(place.path) != wanted:
            found.append(place.key)
    return found
