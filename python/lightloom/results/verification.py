"""Whether results are still what was written, and of which inputs and build."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lightloom.config import identity, inputs
from lightloom.results.files import parts_of
from lightloom.storage import records, unfinished
from lightloom.storage.records import RECORD

#: What has no record, and is a result all the same: of an earlier version, or half copied.
MARKS = ("summary.json", "comparison.json", "sweep.json", "claims.json")
SAME, OTHER = "same", "other"


@dataclass(frozen=True)
class Verdict:
    """What was found of one result."""

    result: str
    """Its folder, relative to the one that was asked for."""
    files: int
    """Files that its record lists."""
    faults: list[str]
    """What is not as the record says."""
    missing: list[str]
    """Results that it consists of and that are gone: their folders, relative to the one that was
    asked for."""
    inputs: list[str]
    """Files that it was made from and that are gone or have changed since, with which."""
    read: int
    """Files that it was made from."""
    build: str
    """Whether this build made it: same or other; - where nothing says so."""

    @property
    def whole(self) -> bool:
        """Whether all files are as they were written, in its folder and in those of its parts."""
        return not self.faults and not self.missing

    def to_json(self) -> dict[str, Any]:
        """The verdict as a table."""
        return {**asdict(self), "whole": self.whole}


def verify(folder: str | Path) -> list[Verdict]:
    """Checks every result in a folder and below: sizes and checksums of its files, whether the
    files that it was made from are unchanged, whether this build made it. Nothing is changed.

    >>> all(verdict.whole for verdict in verify("results"))  # doctest: +SKIP
    """
    top = Path(folder)
    found = {path.parent for path in top.rglob(RECORD)}
    owned = {file for place in found for file in _listed(place)}
    marked = (path for name in MARKS for path in top.rglob(name))
    found |= {path.parent for path in marked if path.resolve() not in owned}
    found |= {path.parent for path in top.rglob(unfinished.FOLDER) if path.is_dir()}
    hidden = (place for place in found if unfinished.FOLDER in place.relative_to(top).parts)
    return [_verdict(place, top) for place in sorted(found - {*hidden})]


def _listed(folder: Path) -> Iterator[Path]:
    record = records.read(folder)
    if not isinstance(record, str):
        yield from ((folder / name).resolve() for name in record.files)


def _verdict(folder: Path, top: Path) -> Verdict:
    name = folder.relative_to(top).as_posix()
    faults = []
    if unfinished.is_left(folder):
        faults.append("its writer died while it moved files: the next command there mends it")
    record = records.read(folder)
    if isinstance(record, str):
        return Verdict(name, 0, [*faults, record], [], [], 0, "-")
    faults += records.faults(folder, record)
    missing = [
        part.relative_to(top).as_posix() for part in _missing(folder, record.told.get("parts"))
    ]
    read = record.told.get("inputs")
    changed: list[str] = []
    count = 0
    for one in read if isinstance(read, list) else ():
        count += 1
        changed += _changed(folder, one)
    build = record.told.get("build")
    return Verdict(name, len(record.files), faults, missing, changed, count, _build(build))


def _missing(folder: Path, told: Any) -> Iterator[Path]:
    """Folders that a result consists of, and that are gone."""
    parts = told if isinstance(told, list) else parts_of(folder)
    for name in parts:
        if isinstance(name, str) and not (folder / name).is_dir():
            yield folder / name


def _changed(folder: Path, of: Any) -> Iterator[str]:
    """What is not as it was of a file that a result was made from."""
    if not isinstance(of, Mapping) or not isinstance(of.get("path"), str):
        yield "an input without a path"
        return
    now = inputs.digest_of(folder / of["path"])
    if now is None:
        yield f"{of['path']} is missing"
    elif now != of.get("sha256"):
        yield f"{of['path']} has changed"


def _build(made: Any) -> str:
    if not isinstance(made, Mapping):
        return "-"
    return SAME if dict(made) == identity.build() else OTHER
