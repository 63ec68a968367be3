"""Moves that were listed but perhaps not all made, and how they are finished or undone.

When the journal is on the disk, all files are as well. A process that finds the journal makes the
missing moves. If one is rejected, the journal is changed to one of undoing, and the earlier files
are restored. Both can be repeated from any point.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightloom.errors import ConfigError
from lightloom.storage import disk

#: The writer's folder in the folder of a result, and its contents.
FOLDER = ".lightloom"
LOCK = Path(FOLDER) / "lock"
NEW, OLD = Path(FOLDER) / "new", Path(FOLDER) / "old"
JOURNAL, UNDO = Path(FOLDER) / "journal", Path(FOLDER) / "undo"
#: The path of the journal of files that are staged here, if the journal is in another folder.
ELSEWHERE = Path(FOLDER) / "elsewhere"


@dataclass(frozen=True)
class Move:
    """A file that is moved to its final name, or removed."""

    home: Path
    """The folder whose staging folder contains the file."""
    number: int
    path: Path
    fresh: bool
    """Whether a file is moved to this name; otherwise the file of this name is removed."""
    had: bool
    """Whether a file had this name before."""

    @property
    def new(self) -> Path:
        """The path of the file before the move."""
        return self.home / NEW / str(self.number)

    @property
    def old(self) -> Path:
        """The path at which the replaced file is kept."""
        return self.home / OLD / str(self.number)


@dataclass(frozen=True)
class Journal:
    """All moves of a command."""

    home: Path
    """The folder of the journal."""
    moves: Sequence[Move]
    folders: Sequence[Path]
    """The folders that must be made, outermost first."""

    @property
    def homes(self) -> list[Path]:
        """The folders that have staged files."""
        return list(dict.fromkeys([self.home, *(move.home for move in self.moves)]))

    def write(self) -> None:
        """Writes the list of moves to the disk; moves begin after it."""
        here = str(self.home.absolute()).encode()
        for home in self.homes:
            disk.make(home / OLD)
            if home != self.home:
                disk.clear_file(home / ELSEWHERE)
                disk.write(home / ELSEWHERE, lambda out: out.write(here), home)
                disk.flush(home / FOLDER)
        part = self.home / f"{JOURNAL}.part"
        disk.clear_file(part)
        disk.write(part, lambda out: out.write(self._text().encode()), self.home)
        disk.move(part, self.home / JOURNAL)
        disk.flush(self.home / FOLDER)

    def forward(self) -> None:
        """Makes the moves that have not been made yet."""
        for folder in self.folders:
            disk.make(folder)
        for move in self.moves:
            if not os.path.lexists(move.new if move.fresh else move.path):
                continue
            if os.path.lexists(move.path) and not os.path.lexists(move.old):
                disk.keep(move.path, move.old)
            if move.fresh:
                disk.move(move.new, move.path)
            else:
                disk.remove(move.path)
        for folder in {move.path.parent for move in self.moves}:
            if folder.is_dir():
                disk.flush(folder)

    def back(self) -> None:
        """Restores the earlier files."""
        for move in reversed(self.moves):
            if os.path.lexists(move.old):
                disk.move(move.old, move.path)
            elif move.fresh and not move.had and not os.path.lexists(move.new):
                disk.remove(move.path)
        for folder in reversed(self.folders):
            disk.remove_empty(folder)

    def finish(self) -> None:
        """Makes all moves, or none.

        Raises:
            WriteError: if a move is rejected; `undone` states whether all files are as before.
        """
        try:
            self.forward()
            disk.remove(self.home / JOURNAL)
        except BaseException as problem:
            try:
                self.undo()
            except OSError:
                if hasattr(problem, "undone"):
                    problem.undone = False
            raise

    def undo(self) -> None:
        """Restores the earlier files; the journal records this first, in case it is interrupted as
        well."""
        if (self.home / JOURNAL).exists():
            disk.move(self.home / JOURNAL, self.home / UNDO)
        elif not (self.home / UNDO).exists():
            return  # all moves were already made
        self.back()
        disk.remove(self.home / UNDO)

    def _text(self) -> str:
        rows = [
            [self._said(m.home), m.number, self._said(m.path), m.fresh, m.had] for m in self.moves
        ]
        return json.dumps({"moves": rows, "folders": [self._said(f) for f in self.folders]})

    def _said(self, path: Path) -> str:
        """Returns a path relative to the journal's folder if it is below it, because that folder
        may be moved."""
        if path.is_relative_to(self.home):
            return path.relative_to(self.home).as_posix()
        return str(path.absolute())

    @staticmethod
    def read(file: Path, home: Path) -> Journal:
        """Reads a journal. A journal gets its name when it is complete.

        Raises:
            ConfigError: if no writer made the journal; it would move files elsewhere.
        """
        try:
            made: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
            rows = [(home / h, int(n), home / p, f, had) for h, n, p, f, had in made["moves"]]
            found = Journal(home, [Move(*row) for row in rows], [home / f for f in made["folders"]])
        except (ValueError, KeyError, TypeError, AttributeError):
            found = None
        if found is None or not found._is_own():
            raise ConfigError(f"{file}: is no journal of this folder; move it away") from None
        return found

    def _is_own(self) -> bool:
        """Whether all moves stay in folders that refer to this journal."""
        here = str(self.home.absolute())
        homes = [os.path.realpath(home) for home in self.homes]
        for home in self.homes:
            if home != self.home and _text(home / ELSEWHERE) != here:
                return False
        paths = [*(move.path.parent for move in self.moves), *self.folders]
        return all(_is_below(os.path.realpath(path), homes) for path in paths)


def _is_below(path: str, homes: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(home) for home in homes)


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def is_left(home: Path) -> bool:
    """Whether moves of files that are staged in a folder are listed, in it or elsewhere."""
    return _is_listed(home) or other(home) is not None


def _is_listed(home: Path) -> bool:
    return (home / JOURNAL).exists() or (home / UNDO).exists()


def other(home: Path) -> Path | None:
    """The folder whose unfinished journal lists the files that are staged here."""
    said = _text(home / ELSEWHERE)
    if not said or "\0" in said or Path(said) == home.absolute():
        return None
    return Path(said) if _is_listed(Path(said)) else None


def clear(home: Path) -> None:
    """Removes staged files; the lock stays."""
    for folder in (NEW, OLD):
        disk.clear(home / folder)
    for file in (ELSEWHERE, Path(f"{JOURNAL}.part")):
        with suppress(OSError):
            (home / file).unlink(missing_ok=True)
