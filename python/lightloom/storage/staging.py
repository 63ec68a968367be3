"""Files of a result, which get their final names together; none is ever incomplete."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from lightloom.storage import changes, disk, lock, records
from lightloom.storage.changes import Changes
from lightloom.storage.records import RECORD, Record

if TYPE_CHECKING:
    import pyarrow as pa


class Staging:
    """Files that get their final names together at the end of the block, if no exception ended it.

    Args:
        home: the folder of the results; files with another destination are also staged there.

    If the system rejects a file, the block raises a WriteError that names the path, and all files
    are as before.
    """

    def __init__(self, home: str | Path | None = None) -> None:
        self._home = None if home is None else Path(home).absolute()
        self._files: dict[Path, Path] = {}
        """Final name → staged file."""
        self._gone: dict[Path, None] = {}
        self._records: dict[Path, tuple[Mapping[str, Any] | None, bool]] = {}
        """Folder → origin for its record (None: unchanged), and whether unstaged files of the
        earlier record are removed."""
        self._homes: dict[Path, Changes] = {}

    def parquet(self, path: Path, table: pa.Table) -> None:
        """Stages a table as Parquet."""
        import pyarrow.parquet as pq

        self._put(path, lambda out: pq.write_table(table, out, compression="zstd"))

    def json(self, path: Path, value: Any) -> None:
        """Stages a value as JSON."""
        self.text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")

    def text(self, path: Path, text: str) -> None:
        """Stages a text."""
        self.content(path, text.encode("utf-8"))

    def content(self, path: Path, content: bytes) -> None:
        """Stages a file with this content."""
        self._put(path, lambda out: out.write(content))

    def copy(self, path: Path, source: Path) -> None:
        """Stages a copy of a file."""
        with source.open("rb") as data:
            self._put(path, lambda out: shutil.copyfileobj(data, out))

    def double(self, path: Path, source: Path) -> None:
        """Stages a second name of a file that the writer has already written, or a copy if the file
        system has no hard links."""
        staged = self._begin(path.absolute())
        try:
            os.link(source, staged)
        except OSError:
            self.copy(path, source)

    def absent(self, path: Path) -> None:
        """Removes a file that an earlier result may have left, and its folder if that is then
        empty."""
        self._gone[path.absolute()] = None

    def record(self, folder: Path, told: Mapping[str, Any], *, keep: bool = False) -> None:
        """States that the staged files below a folder are a complete result, which gets a record.
        Files in an earlier record that are not staged are removed, unless `keep` is set."""
        self._records[folder.absolute()] = (told, not keep)

    def amend(self, folder: Path) -> None:
        """Adds the staged files below a folder to the result there, if it has a record."""
        self._records.setdefault(folder.absolute(), (None, False))

    def _put(self, path: Path, fill: Callable[[BinaryIO], object]) -> None:
        path = path.absolute()
        with disk.naming(path):
            disk.write(self._begin(path), fill)

    def _begin(self, path: Path) -> Path:
        """Returns the path at which a file is written before it gets its final name."""
        if path in self._files:
            self._files[path].unlink(missing_ok=True)
        self._files[path] = self._changes(path).place(path)
        return self._files[path]

    def _changes(self, path: Path) -> Changes:
        """The changes of the folder in which a file is staged: on the same file system, and
        locked."""
        above, home = disk.check_place(path), path.parent
        if self._home is not None and _is_inside(path, above, self._home):
            home = self._home
        if home not in self._homes:
            lock.take(home)
            self._homes[home] = Changes(home)
        return self._homes[home]

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None and (self._files or self._gone):
                self._finish()
        finally:
            for home, made in reversed(self._homes.items()):
                made.discard()
                lock.release(home)

    def _finish(self) -> None:
        """Writes the records and moves all files to their final names."""
        self._write_records()
        for path in self._gone:
            if path not in self._files and os.path.lexists(path) and not path.is_dir():
                self._changes(path).remove(path)
        with lock.turn:
            changes.make(list(self._homes.values()))

    def _write_records(self) -> None:
        """Writes a record into the folder of each result, with the files that no result below it
        has."""
        owners = sorted(self._records, key=lambda folder: len(folder.parts), reverse=True)
        mine: dict[Path, list[Path]] = {folder: [] for folder in owners}
        for path in self._files:
            folder = next((f for f in owners if path.is_relative_to(f)), None)
            if folder is not None:
                mine[folder].append(path)
        for folder in owners:
            told, anew = self._records[folder]
            before = records.read(folder)
            known = {} if isinstance(before, str) else dict(before.files)
            if told is None:
                if isinstance(before, str):
                    continue
                told = before.told
            for name in known if anew else ():
                self.absent(folder / name)
            files = {n: of for n, of in known.items() if folder / n not in self._gone}
            for path in mine[folder]:
                staged = self._files[path]
                name = path.relative_to(folder).as_posix()
                files[name] = (staged.stat().st_size, records.digest_of(staged))
            self.text(folder / RECORD, Record(files, told).text())


def write_files(files: Mapping[Path, bytes], home: Path | None = None) -> list[Path]:
    """Writes files, all or none; returns their paths.

    Raises:
        WriteError: naming the file that the system rejected.
    """
    with Staging(home) as staging:
        for path, content in files.items():
            staging.content(path, content)
    return list(files)


def _is_inside(path: Path, above: Path, home: Path) -> bool:
    """Whether a path is below a folder, also if links are followed, on the same file system;
    `above` is the innermost folder of the path that exists."""
    if not path.is_relative_to(home) or not home.exists():
        return path.is_relative_to(home)
    below = above.resolve().is_relative_to(home.resolve())
    return below and above.stat().st_dev == home.stat().st_dev
