"""Tests whether results are unchanged since they were written, and which inputs and build produced
them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lightloom.config import identity, inputs
from lightloom.results.files import parts_of
from lightloom.storage import changes, records
from lightloom.storage.records import RECORD

#: Files that show that a folder is a result even without a record: one of an earlier version, or an
#: incomplete copy.
MARKS = ("summary.json", "comparison.json", "sweep.json", "claims.json")
SAME, OTHER = "same", "other"


@dataclass(frozen=True)
class Verdict:
    """The state of one result."""

    result: str
    """The result's folder, relative to the folder that was checked."""
    files: int
    """Number of files in its record."""
    faults: list[str]
    """Differences from the record."""
    missing: list[str]
    """Parts of the result that are missing: their folders, relative to the folder that was
    checked."""
    inputs: list[str]
    """Input files that are missing or have changed since, and how."""
    read: int
    """Number of input files."""
    build: str
    """Whether this build made the result: "same" or "other"; "-" if that is not recorded."""

    @property
    def whole(self) -> bool:
        """Whether all files of the result and all folders of its parts are as they were written."""
        return not self.faults and not self.missing

    def to_json(self) -> dict[str, Any]:
        """The verdict as a table."""
        return {**asdict(self), "whole": self.whole}


def verify(folder: str | Path) -> list[Verdict]:
    """Checks every result in a folder and below: sizes and checksums of its files, whether the
    files that it read are unchanged, and whether this build made it. Changes nothing.

    >>> all(verdict.whole for verdict in verify("results"))  # doctest: +SKIP
    """
    top = Path(folder)
    found = {path.parent for path in top.rglob(RECORD)}
    owned = {file for place in found for file in _listed(place)}
    marked = (path for name in MARKS for path in top.rglob(name))
    found |= {path.parent for path in marked if path.resolve() not in owned}
    found |= {path.parent for path in top.rglob(changes.FOLDER) if path.is_dir()}
    hidden = (place for place in found if changes.FOLDER in place.relative_to(top).parts)
    return [_verdict(place, top) for place in sorted(found - {*hidden})]


def _listed(folder: Path) -> Iterator[Path]:
    record = records.read(folder)
    if not isinstance(record, str):
        yield from ((folder / name).resolve() for name in record.files)


def _verdict(folder: Path, top: Path) -> Verdict:
    name = folder.relative_to(top).as_posix()
    faults = []
    if changes.is_left(folder):
        faults.append("its writer died while it moved files: the next command there completes it")
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
    """The missing folders of the parts of a result."""
    parts = told if isinstance(told, list) else parts_of(folder)
    for name in parts:
        if isinstance(name, str) and not (folder / name).is_dir():
            yield folder / name


def _changed(folder: Path, of: Any) -> Iterator[str]:
    """The difference between an input file now and when the result was made."""
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
