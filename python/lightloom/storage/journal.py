"""Moves of files to their final names, all of which are made or undone.

The files that are replaced get a second name before the journal is on the disk; the journal is
removed when all moves are made. A process that finds a journal undoes its moves, which can be
repeated from any point.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lightloom.errors import ConfigError
from lightloom.storage import disk

#: The writer's folder in the folder of a result, and its contents.
FOLDER = ".lightloom"
LOCK, JOURNAL = Path(FOLDER) / "lock", Path(FOLDER) / "journal"
NEW, OLD = Path(FOLDER) / "new", Path(FOLDER) / "old"


@dataclass(frozen=True)
class Move:
    """A file that is moved to its final name, or removed."""

    home: Path
    """The folder whose staging folder contains the file."""
    number: int
    path: Path
    fresh: bool = True
    """Whether a file is moved to this name; otherwise the file of this name is removed."""
    had: bool = False
    """Whether a file has this name before the moves."""

    @property
    def new(self) -> Path:
        """The path of the file before the move."""
        return self.home / NEW / str(self.number)

    @property
    def old(self) -> Path:
        """The second name of the replaced file."""
        return self.home / OLD / str(self.number)


@dataclass(frozen=True)
class Journal:
    """The moves of a command inside one folder."""

    home: Path
    moves: Sequence[Move]
    folders: Sequence[Path]
    """The folders that must be made, outermost first."""

    def write(self) -> None:
        """Keeps the files that are replaced, and writes the list of moves to the disk."""
        disk.make(self.home / OLD)
        for move in self.moves:
            if move.had:
                disk.double(move.path, move.old, move.path)
        disk.flush(self.home / OLD)
        rows = [[m.number, os.path.relpath(m.path, self.home), m.had] for m in self.moves]
        folders = [os.path.relpath(folder, self.home) for folder in self.folders]
        text = json.dumps({"moves": rows, "folders": folders})
        part = self.home / f"{JOURNAL}.part"
        disk.discard(part)
        disk.write(part, lambda out: out.write(text.encode()), self.home)
        disk.move(part, self.home / JOURNAL)
        disk.flush(self.home / FOLDER)

    def make_moves(self) -> None:
        """Makes the moves. The journal stays, so that they can be undone."""
        for folder in self.folders:
            disk.make(folder)
        for move in self.moves:
            if move.fresh:
                disk.move(move.new, move.path)
            else:
                disk.remove(move.path)
        self._flush()

    def undo(self) -> None:
        """Restores the earlier files and removes the journal."""
        for move in self.moves:
            if os.path.lexists(move.old):
                disk.move(move.old, move.path)
            elif not (move.had or os.path.lexists(move.new)):
                disk.remove(move.path)
        self._flush()
        for folder in reversed(self.folders):
            disk.remove_empty(folder)
        disk.remove(self.home / JOURNAL)

    def commit(self) -> None:
        """Removes the journal: the moves are final."""
        disk.remove_for_good(self.home / JOURNAL)

    def _flush(self) -> None:
        for folder in {move.path.parent for move in self.moves}:
            if folder.is_dir():
                disk.flush(folder)

    @staticmethod
    def read(home: Path) -> Journal:
        """Reads the journal of a folder.

        Raises:
            ConfigError: if no writer made the journal; it would move files elsewhere.
        """
        try:
            made = json.loads((home / JOURNAL).read_text(encoding="utf-8"))
            moves = [
                Move(home, int(n), home / path, had=bool(had)) for n, path, had in made["moves"]
            ]
            found = Journal(home, moves, [home / folder for folder in made["folders"]])
            own = home.resolve()
            paths = [*(move.path.parent for move in moves), *found.folders]
            if all(path.resolve().is_relative_to(own) for path in paths):
                return found
        except (ValueError, KeyError, TypeError):
            pass
        raise ConfigError(f"{home / JOURNAL}: is no journal of this folder; move it away")


def is_left(home: Path) -> bool:
    """Whether moves of a folder are listed that perhaps were not all made."""
    return (home / JOURNAL).exists()


def clear(home: Path) -> None:
    """Undoes the moves that a dead process left in a folder, and removes its temporary files."""
    if is_left(home):
        Journal.read(home).undo()
    for folder in (NEW, OLD):
        shutil.rmtree(home / folder, ignore_errors=True)
    disk.discard(home / f"{JOURNAL}.part")
