"""The fenced blocks of the documentation, and a folder in which they may be run."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from cli_support import ROOT

PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
]
FENCED = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: str
    """Its file, relative to the root."""
    line: int
    """Line of its opening fence."""
    language: str
    text: str
    is_output: bool
    """Whether it follows a block of commands directly."""

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(*languages: str) -> list[Block]:
    """Returns the blocks in one of the languages, of all pages, in their order."""
    return [block for page in PAGES for block in blocks_of(page) if block.language in languages]


def blocks_of(page: Path) -> list[Block]:
    """Those of a page."""
    text, found = page.read_text(encoding="utf-8"), []
    before = 0
    for match in FENCED.finditer(text):
        follows = bool(found) and not text[before : match.start()].strip()
        is_output = follows and found[-1].language == "sh"
        line = text.count("\n", 0, match.start()) + 1
        name = str(page.relative_to(ROOT))
        found.append(Block(name, line, match[2].strip(), match[3], is_output))
        before = match.end()
    return found


def copy_examples(folder: Path) -> None:
    """Copies the examples to a folder."""
    shutil.copytree(ROOT / "examples", folder / "examples")


def only(block: Block, table: dict[tuple[str, str], object]) -> object | None:
    """Returns the entry of a table for a block, by its page and the beginning of the block."""
    keys = [key for key in table if key[0] == block.page and block.text.lstrip().startswith(key[1])]
    assert len(keys) <= 1, f"{block}: {keys}"
    return table[keys[0]] if keys else None


def unused(table: dict[tuple[str, str], object], found: list[Block]) -> list[tuple[str, str]]:
    """Returns the entries that belong to no block."""
    return [
        key
        for key in table
        if not any(b.page == key[0] and b.text.lstrip().startswith(key[1]) for b in found)
    ]
