"""Files of a result, which get their final names together; none is ever incomplete."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO

from lightloom.storage import disk, journal, lock, records, signals
from lightloom.storage.journal import NEW, Journal, Move
from lightloom.storage.records import RECORD, Record

if TYPE_CHECKING:
    import pyarrow as pa

_numbers = itertools.count(1)


class Staging:
    """Files that get their final names together at the end of the block, if no exception ended it.

    Args:
        home: the folder of the results; files with another destination are also staged there.

    If the system rejects a file, the block raises a WriteError that names the path, and all files
    are as before.
    """

    def __init__(self, home: str | Path | None = None) -> None:
        self._home = None if home is None else Path(home).absolute()
        self._files: dict[Path, Move] = {}
        self._gone: dict[Path, None] = {}
        self._records: dict[Path, tuple[Mapping[str, Any] | None, bool]] = {}
        """Folder → origin for its record (None: unchanged), and whether unstaged files of the
        earlier record are removed."""
        self._homes: list[Path] = []

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
        """Stages a second name of a file that the writer has already written."""
        path = path.absolute()
        disk.double(source, self._begin(path).new, path)

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
        disk.write(self._begin(path).new, fill, path)

    def _begin(self, path: Path) -> Move:
        """Prepares the move of a file from its staging folder to its final name."""
        move = self._move(path)
        if path.is_dir():
            with disk.naming(path):
                raise IsADirectoryError(21, "Is a directory", str(path))
        disk.make(move.home / NEW)
        if (before := self._files.pop(path, None)) is not None:
            disk.remove(before.new)
        self._files[path] = move
        return move

    def _move(self, path: Path, *, fresh: bool = True) -> Move:
        """A move in the folder in which the file is staged: on the same file system, and locked."""
        inside = self._home is not None and path.is_relative_to(self._home)
        home = self._home if inside and self._home is not None else path.parent
        if home not in self._homes:
            lock.take(home)
            self._homes.append(home)
        return Move(home, next(_numbers), path, fresh)

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
            for move in self._files.values():
                if not journal.is_left(move.home):  # otherwise the next command undoes the moves
                    disk.discard(move.new)
            for home in reversed(self._homes):
                lock.release(home)

    def _finish(self) -> None:
        """Writes the records and moves all files to their final names."""
        self._write_records()
        stale = [path for path in self._gone if path not in self._files]
        stale = [path for path in stale if os.path.lexists(path) and not path.is_dir()]
        # Records are moved last, so that a reader without knowledge of journals sees no incomplete
        # result.
        files = sorted(self._files.values(), key=lambda move: move.path.name == RECORD)
        moves = [*(self._move(path, fresh=False) for path in stale), *files]
        with lock.turn, signals.naming():
            _make_moves([_journal(home, moves) for home in self._homes])
        for folder in sorted({path.parent for path in stale}, key=_depth, reverse=True):
            disk.remove_empty(folder)

    def _write_records(self) -> None:
        """Writes a record into the folder of each result, with the files that no result below it
        has."""
        owners = sorted(self._records, key=lambda folder: len(folder.parts), reverse=True)
        mine: dict[Path, list[Move]] = {folder: [] for folder in owners}
        for path, move in self._files.items():
            folder = next((f for f in owners if path.is_relative_to(f)), None)
            if folder is not None:
                mine[folder].append(move)
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
            for move in mine[folder]:
                name = move.path.relative_to(folder).as_posix()
                files[name] = (move.new.stat().st_size, records.digest_of(move.new))
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


def _journal(home: Path, moves: Sequence[Move]) -> Journal:
    mine = [replace(m, had=os.path.lexists(m.path)) for m in moves if m.home == home]
    parents = [move.path.parent for move in mine if move.fresh]
    every = {above for folder in parents for above in (folder, *folder.parents)}
    return Journal(home, mine, sorted((f for f in every if not f.exists()), key=_depth))


def _depth(folder: Path) -> int:
    return len(folder.parts)


def _make_moves(journals: Sequence[Journal]) -> None:
    """Makes the moves in all folders, or none.

    Raises:
        WriteError: if the system rejects a move; `undone` states whether all files are as before.
    """
    try:
        for one in journals:
            one.write()
        for one in journals:
            one.make_moves()
        for one in journals:
            one.commit()
    except BaseException as problem:
        if not any(journal.is_left(one.home) for one in journals):
            raise  # no move has begun, or all are final
        try:
            for one in journals:
                one.undo()
        except OSError:
            if hasattr(problem, "undone"):
                problem.undone = False
        raise
    finally:
        for move in itertools.chain.from_iterable(one.moves for one in journals):
            if not journal.is_left(move.home):
                disk.discard(move.old)
