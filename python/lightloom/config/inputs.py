"""The files that an experiment reads: where they are, what is in them, how they move with it.

In memory their paths are absolute. In `experiment.toml` they are relative to it, with the
SHA-256 of each under `[inputs]`, by the key that names the file; policies and schedules have
theirs in the policy's own table. A file of another digest is refused: what runs again is what ran.
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
from lightloom.config.schema import DECISION
from lightloom.errors import refusal
from lightloom.policies.files import DIGEST, is_file
from lightloom.storage import Staging

Table = dict[str, Any]

#: The table of digests, and the folder that copies are in.
INPUTS = "inputs"
_SHA = "sha256:"
_SHOWN = len(_SHA) + 12
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Place:
    """Where an experiment names a file."""

    key: str
    """The key, from the top: `workload.trace`, `fabric.LABEL.policy.schedule`."""
    table: Table
    """The table that has it."""
    name: str
    """The key in that table."""
    pinned: bool = False
    """Whether its policy has the digest of the file."""

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self._parts[0])

    @property
    def _parts(self) -> tuple[str, str]:
        """The file, and the class of a policy with its colon."""
        value = str(self.table[self.name])
        path, colon, of = value.rpartition(":")
        has_class = self.name in ("file", "policy") and self.pinned and colon
        return (path, f":{of}") if has_class else (value, "")

    def move(self, path: str) -> None:
        """Names the file by another path."""
        self.table[self.name] = path + self._parts[1]


def places(raw: Table) -> Iterator[Place]:
    """All places of an experiment that name files, whether these are there or not."""
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
    """Whether it is `PATH:CLASS`, the class perhaps forgotten."""
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
    """A price book, where it is none of the package's."""
    prices = table.get("prices") if isinstance(table, dict) else None
    if isinstance(prices, str) and prices not in price_books.names():
        yield Place(f"{DECISION}.prices", table, "prices")


def anchor(raw: Table, base: Path) -> None:
    """Makes the paths of files absolute, so that the experiment can be run from anywhere."""
    for place in places(raw):
        place.move(str((base / place.path).resolve()))


def pinned(raw: Table) -> Table:
    """The experiment with the digest of each file that can be read; policies have theirs.

    Raises:
        ConfigError: for a file that is not there or not the one whose digest is given, and
            for a digest of no file.
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
    """The digests of an experiment, each in the form of one."""
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
    """The digest of a file, `sha256:…`; None where it cannot be read."""
    try:
        found = path.stat()
        if not path.is_file():
            return None
        return _digest(str(path), found.st_mtime_ns, found.st_size, found.st_ino)
    except (OSError, ValueError):  # a path with a NUL is no path
        return None


@functools.lru_cache(maxsize=256)
def _digest(path: str, *_: int) -> str:
    """The same, of a file that was last changed then: each is read once."""
    made = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return _SHA + made.hexdigest()


def digests(raw: Table) -> dict[str, str]:
    """The digest of each file that an experiment reads, by the key that names it: the one that
    it was made with, where it says so. Files that cannot be read are left out."""
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
    """The same with the name of each file and its size now [B], for summaries."""
    paths = {place.key: place.path for place in places(raw)}
    return {
        key: {"path": paths[key].name, "sha256": digest, "bytes": _size(paths[key])}
        for key, digest in digests(raw).items()
    }


@dataclass(frozen=True)
class Read:
    """A file that something was made from."""

    key: str
    """The key that names it."""
    path: Path
    digest: str
    """`sha256:…`, when it was read."""


def reads(raw: Table) -> tuple[Read, ...]:
    """The files that an experiment reads."""
    paths = {place.key: place.path for place in places(raw)}
    return tuple(Read(key, paths[key], digest) for key, digest in digests(raw).items())


def located(raw: Table, folder: Path) -> list[Table]:
    """The same, relative to a folder, for the record of a result there."""
    return recorded(reads(raw), folder)


def recorded(read: Iterable[Read], folder: Path) -> list[Table]:
    """Files as the record of a result in a folder has them, each once."""
    return [
        {"key": one.key, "path": _from(folder, one.path), "sha256": one.digest}
        for one in dict.fromkeys(read)
    ]


def _from(folder: Path, path: Path) -> str:
    """A path relative to a folder, where it can be."""
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve())).as_posix()
    except ValueError:  # on another drive
        return str(path)


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def kept(raw: Table, before: Table) -> None:
    """Leaves out digests of files that `before` read, and that are not read any more, or
    from elsewhere: who names another file means that."""
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
    """Leaves out the digest of one file."""
    left = {k: digest for k, digest in raw.pop(INPUTS, {}).items() if k != key}
    if left:
        raw[INPUTS] = left


def named(raw: Table) -> Table:
    """The experiment with files by their names alone: what is the same wherever it is."""
    made = copy.deepcopy(raw)
    for place in places(made):
        place.move(place.path.name)
    return made


def relative(raw: Table, folder: Path, copies: Mapping[Path, Path]) -> Table:
    """The experiment as it is written into a folder: files are relative to that, and their
    copies where there are some."""
    made = copy.deepcopy(raw)
    for place in places(made):
        place.move(_from(folder, copies.get(place.path, place.path)))
    return made


def copied(raw: Table, folder: Path, staging: Staging) -> dict[Path, Path]:
    """Copies the files of an experiment into `inputs` below a folder: each file, and its
    copy. A file that has changed since its digest was taken is left where it is.

    Raises:
        OSError: if one cannot be copied.
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
    """Keys of the files that are not there any more as they were when the experiment ran."""
    given = raw.get(INPUTS) or {}
    found = []
    for place in places(raw):
        wanted = given.get(place.key)
        if place.pinned and isinstance(place.table.get(DIGEST), str):
            wanted = _SHA + place.table[DIGEST]
        if wanted is not None and digest_of(place.path) != wanted:
            found.append(place.key)
    return found
