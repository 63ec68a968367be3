"""Files of results, which get their names together: none is ever half written."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from lightloom import signals

if TYPE_CHECKING:
    import pyarrow as pa


class Staging:
    """Files that get their names together, when the block ends well."""

    def __init__(self) -> None:
        self._files: list[tuple[Path, Path]] = []
        self._stale: list[Path] = []
        self._made: list[Path] = []

    def parquet(self, path: Path, table: pa.Table) -> None:
        """A table, to be written there."""
        import pyarrow.parquet as pq

        self._write(path, lambda part: pq.write_table(table, part, compression="zstd"))

    def json(self, path: Path, value: Any) -> None:
        """A value as JSON."""
        self.text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")

    def text(self, path: Path, text: str) -> None:
        """A text."""
        self._write(path, lambda part: part.write_text(text, encoding="utf-8"))

    def copy(self, path: Path, source: Path) -> None:
        """A copy of a file."""
        self._write(path, lambda part: shutil.copyfile(source, part))

    def absent(self, path: Path) -> None:
        """A file that an earlier result may have left there goes, and its folder if
        nothing is left in it."""
        self._stale.append(path)

    def _write(self, path: Path, write: Callable[[Path], object]) -> None:
        missing = [p for p in (path.parent, *path.parent.parents) if not p.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        self._made += reversed(missing)
        part = path.with_name(f".{path.name}.{os.getpid()}.part")
        self._files.append((part, path))
        signals.note(part)
        write(part)

    def __enter__(self) -> Staging:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            with signals.naming():
                self._name()
            self._close()
            return
        for part, _ in self._files:
            part.unlink(missing_ok=True)
        self._close()
        for directory in reversed(self._made):
            try:
                directory.rmdir()
            except OSError:
                return

    def _name(self) -> None:
        for part, path in self._files:
            part.replace(path)
        for path in self._stale:
            path.unlink(missing_ok=True)
        folders = {path.parent for path in self._stale}
        for folder in sorted(folders, key=lambda f: len(f.parts), reverse=True):
            with suppress(OSError):  # something else is in it
                folder.rmdir()

    def _close(self) -> None:
        for part, _ in self._files:
            signals.forget(part)
