"""Moves that were listed and perhaps not all made, and how they are finished or taken back.

Once the journal is on the disk all files are, too, and the process that finds it makes the missing
moves. If one is refused, the journal becomes one of undoing, and what was there before is
put back. Both can be done again from any point.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lightloom.errors import ConfigError
from lightloom.storage import disk

#: The writer's folder in that of results, and what is in it.
FOLDER = ".lightloom"
LOCK = Path(FOLDER) / "lock"
NEW, OLD = Path(FOLDER) / "new", Path(FOLDER) / "old"
JOURNAL, UNDO = Path(FOLDER) / "journal", Path(FOLDER) / "undo"
#: Where the journal is of files that are staged here, if it is not here.
ELSEWHERE = Path(FOLDER) / "elsewhere"
#: Folders above a result in which its journal may be: those of its label, seed and case.
_ABOVE = 3
#: Seconds that a reader waits for a writer that is moving files, and between looks.
_PATIENCE_S, _PAUSE_S = 30.0, 0.05


@dataclass(frozen=True)
class Move:
    """A file that gets its name, or goes."""

    home: Path
    """The folder whose staging folder has it."""
    number: int
    path: Path
    fresh: bool
    """Whether a file gets this name; else the one that has it goes."""
    had: bool
    """Whether a file had it before."""

    @property
    def new(self) -> Path:
        """Where it is until it gets its name."""
        return self.home / NEW / str(self.number)

    @property
    def old(self) -> Path:
        """Where what had the name before is kept."""
        return self.home / OLD / str(self.number)


@dataclass(frozen=True)
class Journal:
    """All moves of a command."""

    home: Path
    """The folder that the journal is in."""
    moves: Sequence[Move]
    folders: Sequence[Path]
    """Those that are to be made, from the top."""

    @property
    def homes(self) -> list[Path]:
        """The folders that have staged files."""
        return list(dict.fromkeys([self.home, *(move.home for move in self.moves)]))

    def write(self) -> None:
        """Lists the moves: from here on they are made."""
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
        """Makes the moves that are not made yet."""
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
        """Puts back what was there."""
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
            WriteError: if one is refused; `undone` says whether all is as it was.
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
        """Puts back what was there; the journal says so, in case this does not end either."""
        if (self.home / JOURNAL).exists():
            disk.move(self.home / JOURNAL, self.home / UNDO)
        elif not (self.home / UNDO).exists():
            return  # all moves were made before it came to this
        self.back()
        disk.remove(self.home / UNDO)

    def _text(self) -> str:
        rows = [
            [self._said(m.home), m.number, self._said(m.path), m.fresh, m.had] for m in self.moves
        ]
        return json.dumps({"moves": rows, "folders": [self._said(f) for f in self.folders]})

    def _said(self, path: Path) -> str:
        """A path, relative to the journal's folder where it is below: that may be moved."""
        if path.is_relative_to(self.home):
            return path.relative_to(self.home).as_posix()
        return str(path.absolute())

    @staticmethod
    def read(file: Path, home: Path) -> Journal:
        """What was listed. A journal gets its name when it is whole, so it is.

        Raises:
            ConfigError: of a journal that no writer here made: it would move what is elsewhere.
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
        """Whether all that is moved stays in folders that say so themselves."""
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
    """Whether moves of what is staged there are listed, there or elsewhere."""
    return _is_listed(home) or _other(home) is not None


def _is_listed(home: Path) -> bool:
    return (home / JOURNAL).exists() or (home / UNDO).exists()


def _other(home: Path) -> Path | None:
    """The folder whose journal lists what is staged here, if that is not finished."""
    said = _text(home / ELSEWHERE)
    if not said or "\0" in said or Path(said) == home.absolute():
        return None
    return Path(said) if _is_listed(Path(said)) else None


def clear(home: Path) -> None:
    """Removes what was staged; the lock stays."""
    for folder in (NEW, OLD):
        disk.clear(home / folder)
    for file in (ELSEWHERE, Path(f"{JOURNAL}.part")):
        with suppress(OSError):
            (home / file).unlink(missing_ok=True)


def settle_held(home: Path) -> None:
    """Finishes or takes back what a dead process left in a folder, which this one holds.

    Raises:
        WriteError: if the system refuses it.
    """
    if (other := _other(home)) is not None:
        _settle_free(other)
    if (home / UNDO).exists():
        Journal.read(home / UNDO, home).undo()
    elif (home / JOURNAL).exists():
        Journal.read(home / JOURNAL, home).finish()
    clear(home)


def settle(folder: Path) -> None:
    """Finishes or takes back what a dead process left in a folder or one above, for who reads it.

    Raises:
        ConfigError: if a process is writing there just now, and does not end soon.
        WriteError: if the system refuses it.
    """
    here = folder.absolute()
    for home in (here, *list(here.parents)[:_ABOVE]):
        if is_left(home):
            _settle_soon(home)


def release_left(folders: Iterable[Path]) -> None:
    """Settles folders in which a dead process left something of the writer's; what another
    still writes into is left alone."""
    for folder in folders:
        if (folder / FOLDER).is_dir():
            with suppress(ConfigError, OSError):
                _settle_free(folder, patience_s=0.0)
            disk.remove_empty(folder)


def _settle_soon(folder: Path) -> None:
    """Settles a folder, unless the process that writes there ends the moves meanwhile."""
    from lightloom.storage import lock

    until = time.monotonic() + _PATIENCE_S
    while is_left(folder):
        if not lock.is_taken(folder / LOCK) or time.monotonic() > until:
            _settle_free(folder, patience_s=0.0)
        else:
            time.sleep(_PAUSE_S)


def _settle_free(folder: Path, patience_s: float | None = None) -> None:
    """Holds a folder for a moment, which settles it."""
    from lightloom.storage import lock  # which settles what it takes

    lock.take(folder, patience_s=lock.PATIENCE_S if patience_s is None else patience_s)
    lock.release(folder)
