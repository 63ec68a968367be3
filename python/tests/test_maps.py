"""Maps for newcomers stay correct: files named in ARCHITECTURE.md, CONTRIBUTING.md and the first
lines of a folder's `mod.rs` exist, and a folder's map names all of its files."""

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from cli_support import ROOT

CRATES = ROOT / "crates"
#: Paths of sources in the text; a name without a folder may be in any folder.
NAMED = re.compile(r"`((?:[\w-]+/)*[\w-]+\.(?:rs|py))`|`((?:[\w-]+/)+)`")
#: Files and folders in the two columns of ARCHITECTURE's listing.
LISTED = re.compile(r"^  (?! )(\S+(?:\.rs|/)) |   (\w+(?:\.rs|/)) ", re.MULTILINE)
#: Files of the examples of CONTRIBUTING.md, which a reader writes.
EXAMPLES = {"threshold.rs", "threshold.py", "oracles.py", "test_broken_wires.py"}


def first_lines(source: Path) -> str:
    """Returns the documentation at the start of a Rust file."""
    lines = source.read_text(encoding="utf-8").splitlines()
    return "\n".join(line[3:] for line in lines if line.startswith("//!"))


def maps() -> list[Path]:
    """Returns the files whose first lines are a table of the modules in their folder."""
    table = re.compile(r"^ \| (?:file|module|where) \|", re.MULTILINE)
    return sorted(head for head in CRATES.glob("*/src/**/*.rs") if table.search(first_lines(head)))


def modules(head: Path) -> Iterator[str]:
    """Returns the modules that a file declares, except tests."""
    declared = re.compile(r"^(#\[cfg\(test\)\]\n)?(?:pub(?:\([^)]*\))? )?mod (\w+);", re.MULTILINE)
    for test, name in declared.findall(head.read_text(encoding="utf-8")):
        if not test:
            yield name


def stands_somewhere(path: str) -> bool:
    """Whether a source of this name, or with this end of its path, is in the tree."""
    *folders, name = path.rstrip("/").split("/")
    roots = [ROOT / "crates", ROOT / "python", ROOT / "validation", ROOT / "benches"]
    if (ROOT / path).exists():
        return True
    tail = "/".join([*folders, name])
    return any(
        found.as_posix().endswith("/" + tail) for root in roots for found in root.rglob(name)
    )


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md", "docs/internals.md"])
def test_what_a_page_names_is_there(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {one or folder for one, folder in NAMED.findall(text)}
    assert len(named) > 5
    assert {name for name in named - EXAMPLES if not stands_somewhere(name)} == set()


def test_the_listing_of_crates_is_there() -> None:
    """Checks the listing in which ARCHITECTURE.md names the files of `crates/control` and of
    hybrids."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (listing,) = re.findall(
        r"^```\n(crates/control/src/\n.*?)^```$", text, re.DOTALL | re.MULTILINE
    )
    here, missing, seen = ROOT, [], 0
    for line in listing.splitlines():
        if line.startswith("crates/"):
            here = ROOT / line.strip()
            assert here.is_dir(), line
            continue
        for names in LISTED.findall(line):
            name = names[0] or names[1]
            seen += 1
            if not (here / name).exists():
                missing.append(f"{here.relative_to(ROOT)}/{name}")
    assert seen > 10
    assert missing == []


def test_a_map_names_every_file_of_its_folder() -> None:
    found = maps()
    assert len(found) > 15
    unnamed = [
        f"{head.relative_to(ROOT)}: {name}"
        for head in found
        for name in modules(head)
        if not re.search(rf"\b{name}\b", first_lines(head))
    ]
    assert unnamed == []


def test_the_map_of_sirius_names_every_file() -> None:
    """Sirius has one map for all its folders: each file is in it, or in the map of its own
    folder."""
    folder = CRATES / "fabrics/src/sirius"
    above = first_lines(folder / "mod.rs")
    unnamed = []
    for source in folder.rglob("*.rs"):
        path = source.relative_to(folder)
        if source.name == "mod.rs" or {"tests", "tests.rs"} & set(path.parts):
            continue
        heads = [source.parent / "mod.rs", source.parent.with_suffix(".rs")]
        known = above + "".join(first_lines(head) for head in heads if head.exists())
        if not re.search(rf"\b{source.stem}\b", known):
            unnamed.append(str(path))
    assert unnamed == []


def test_what_the_map_of_sirius_names_is_there() -> None:
    named = {
        one or folder
        for one, folder in NAMED.findall(first_lines(CRATES / "fabrics/src/sirius/mod.rs"))
    }
    assert len(named) > 20
    assert {name for name in named if not stands_somewhere(name)} == set()


def test_the_map_of_python_names_every_module() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^In `python/lightloom`:\n\n(.*?)\n\n", text, re.DOTALL | re.MULTILINE)
    named = [one or folder for one, folder in NAMED.findall(table)]
    package = ROOT / "python/lightloom"
    there = [path.name for path in package.glob("*.py") if not path.name.startswith("__")]
    there += [f"{path.parent.name}/" for path in package.glob("*/__init__.py")]
    assert sorted(named) == sorted(there)


def test_the_glossary_names_modules_that_are_there() -> None:
    """`engine::flows` is a file or folder of that crate, and `sirius::relay` of that fabric."""
    text = (ROOT / "docs/internals.md").read_text(encoding="utf-8")
    glossary = text[text.index("## Terms and the modules that hold them") :]
    named = {*re.findall(r"`((?:[a-z_]+::)+[a-z_]+)`", glossary)}
    assert len(named) > 15
    missing = []
    for path in named:
        first, *rest = path.split("::")
        crate = CRATES / first / "src"
        at = (crate if crate.is_dir() else CRATES / "fabrics/src" / first).joinpath(*rest)
        if not (at.is_dir() or at.with_suffix(".rs").is_file()):
            missing.append(path)
    assert missing == []


def test_modules_of_the_controller_need_each_other_without_circles() -> None:
    """Imports under `TYPE_CHECKING` and in functions count as well."""
    package = "lightloom.controller"
    needs: dict[str, set[str]] = {}
    for file in (ROOT / "python/lightloom/controller").glob("*.py"):
        found = needs.setdefault(file.stem, set())
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == package:
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{package}."):
                found.add(str(node.module).removeprefix(f"{package}."))
    TopologicalSorter(needs).prepare()
    assert "service" in needs["overview"]
