"""Relative links of committed Markdown lead to files of a checkout, or to pages that `make docs`
builds, which the text then mentions."""

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath

import pytest
from cli_support import ROOT

FENCED = re.compile(r"^ *(```+).*?^ *\1 *$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)|\b(?:href|src)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
#: Paragraphs, and rows of tables.
PART = re.compile(r"\n\s*\n|\n(?=\|)")


@cache
def committed() -> frozenset[str]:
    """Returns the files of a checkout, and their folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    files = listed.stdout.split("\0")[:-1]
    return frozenset(files) | {str(f) for file in files for f in PurePosixPath(file).parents}


def text_of(page: str) -> str:
    """Returns a page without its listings."""
    return FENCED.sub("", (ROOT / page).read_text(encoding="utf-8"))


def links(page: str) -> Iterator[tuple[str, str, str]]:
    """Returns the relative links of a page: target, anchor, and the surrounding text."""
    for part in PART.split(text_of(page)):
        for found in LINK.finditer(re.sub(r"`[^`\n]+`", "", part)):
            target, _, place = (found[1] or found[2]).partition("#")
            if not re.match(r"[a-z]+:", target):
                yield normpath(join(dirname(page), target)) if target else page, place, part


def is_made(target: str) -> bool:
    """Whether `make docs` makes the page: scripts/reference.py that of the
    configuration, scripts/gallery.py that of the examples, cargo those of the crates."""
    crate = re.fullmatch(r"docs/rust/lightloom_(\w+)/index\.html", target)
    if crate is not None:
        return f"crates/{crate[1]}/Cargo.toml" in committed()
    return target in ("docs/configuration.md", "docs/gallery.md")


def anchors(page: str) -> set[str]:
    """Returns the anchors of a page's headings, and of the documented parts of the Python API."""
    bare = (re.sub(r"[^\w\- ]", "", title).lower() for title in HEADING.findall(text_of(page)))
    documented = re.findall(r"^::: (\S+)$", text_of(page), re.MULTILINE)
    return {*(title.replace(" ", "-") for title in bare), *documented}


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="no checkout tells what is committed")
def test_no_link_of_a_checkout_is_dead() -> None:
    pages = sorted(path for path in committed() if path.endswith(".md"))
    assert {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/index.md"} <= {*pages}
    for page in pages:
        for target, place, around in links(page):
            if is_made(target):
                assert "`make docs`" in around, f"{page}: does not say what makes {target}"
                continue
            assert target in committed(), f"{page}: {target} is not there"
            if place and target.endswith(".md"):
                assert place in anchors(target), f"{page}: no place #{place} in {target}"
