"""The source of a demand: a file, or standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lightloom.errors import ConfigError
from lightloom.storage import reading

STANDARD_INPUT = "-"
Line = tuple[int, str]
"""The line's number, from 1, and its text."""


@dataclass(frozen=True)
class Source:
    """A file or standard input."""

    name: str
    """The name in messages."""
    path: Path | None
    """The path of the file; None for standard input."""

    @property
    def ending(self) -> str:
        """The ending of its name in lower case, such as ".csv"; empty for standard input."""
        return "" if self.path is None else self.path.suffix.lower()

    @cached_property
    def content(self) -> bytes:
        """The whole content.

        Raises:
            OSError: if the file cannot be read.
        """
        if self.path is None:
            return reading.whole_of(sys.stdin.buffer, self.name)
        return reading.whole(self.path, reading.DATA)

    @property
    def head(self) -> bytes:
        """The first bytes, enough to recognise the format."""
        return self.content[:64]

    def lines(self) -> Iterator[Line]:
        """Yields the lines that are neither empty nor comments (`# …`), without line ends.

        Raises:
            ConfigError: if the content is not UTF-8.
        """
        file = io.TextIOWrapper(io.BytesIO(self.content), encoding="utf-8-sig")
        try:
            for number, line in enumerate(file, 1):
                if line.strip() and not line.lstrip().startswith("#"):
                    yield number, line.rstrip("\n")
        except UnicodeDecodeError:
            raise ConfigError(f"{self.name}: not UTF-8; save it as UTF-8") from None

    def first(self) -> str:
        """The first such line; empty if there is none."""
        return next((line for _, line in self.lines()), "")


def source_of(path: str | Path) -> Source:
    """Returns the source that a command line names: a path, or "-"."""
    if str(path) == STANDARD_INPUT:
        return Source("standard input", None)
    return Source(str(path), Path(path))
