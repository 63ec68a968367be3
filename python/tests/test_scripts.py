"""The verdicts of scripts: an incomplete result is a failure, and no file is omitted."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def faults() -> ModuleType:
    """`scripts/faults.py`."""
    spec = importlib.util.spec_from_file_location("faults", ROOT / "scripts" / "faults.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules["faults"] = made  # where dataclasses look up names
    spec.loader.exec_module(made)
    return made


TABLES = (
    "sweep.json",
    "sweep.parquet",
    "report.html",
    "figures/over-load.svg",
    "rows/1.parquet",
    "record.json",
)


def sweep(seed: int) -> dict[str, object]:
    return {name: f"{name} of {seed}" for name in (*TABLES, f"points/{seed}/summary.json")}


def test_a_sweep_that_lacks_its_page_is_a_failure(faults: ModuleType, tmp_path: Path) -> None:
    command = next(one for one in faults.COMMANDS if one.name == "sweep")
    old, new = sweep(1), sweep(2)
    case = faults.Case(command, tmp_path, old, new, 1.0, 0)
    assert faults.judged(case, old) is None
    assert faults.judged(case, new) is None
    # The old data set remains, with the completed points of the new one and their rows.
    done = {"points/2/summary.json": "points/2/summary.json of 2", "rows.unfinished/2": ""}
    assert faults.judged(case, {**old, **done}) is None
    # After the new data set nothing else remains.
    assert "points/1/summary.json" in faults.judged(
        case, {**new, **{n: of for n, of in old.items() if "points/1/" in n}}
    )
    assert "rows.unfinished/2" in faults.judged(case, {**new, "rows.unfinished/2": ""})
    assert "points/1/summary.json" in faults.judged(
        case, {n: of for n, of in old.items() if "points/1/" not in n}
    )
    for name in TABLES:
        lacking = {n: of for n, of in old.items() if n != name}
        assert name in faults.judged(case, lacking)
        assert name in faults.judged(case, {**old, name: new[name]})
    assert "figures/other.svg" in faults.judged(case, {**old, "figures/other.svg": ""})


def test_every_file_of_the_matchings_is_mutated() -> None:
    script = (ROOT / "scripts" / "mutants.sh").read_text(encoding="utf-8")
    (files,) = re.findall(r'matchings\) echo "\S+ - (.*)" ;;', script)
    mutated = {path for glob in files.split() for one in braced(glob) for path in ROOT.glob(one)}
    algorithms = ROOT / "crates" / "control" / "src" / "algorithms"
    for area in ("matching", "assignment"):
        there = set((algorithms / area).rglob("*.rs"))
        assert there
        assert there <= mutated, there - mutated


def braced(glob: str) -> list[str]:
    """Returns a glob for each word between its braces.

    >>> braced("a/{b,c}.rs")
    ['a/b.rs', 'a/c.rs']
    """
    head, brace, rest = glob.partition("{")
    if not brace:
        return [glob]
    words, _, tail = rest.partition("}")
    return [found for word in words.split(",") for found in braced(f"{head}{word}{tail}")]


def links() -> ModuleType:
    """`scripts/doc_links.py`."""
    spec = importlib.util.spec_from_file_location("doc_links", ROOT / "scripts" / "doc_links.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def message(text: str, code: str | None = "rustdoc::broken_intra_doc_links") -> dict[str, object]:
    found = {"message": text, "code": code and {"code": code}, "spans": []}
    return {"reason": "compiler-message", "message": found}


@pytest.mark.parametrize(
    ("text", "code", "count"),
    [
        ("unresolved link to `B`", "rustdoc::broken_intra_doc_links", 0),
        ("unresolved link to `Bytes`", "rustdoc::broken_intra_doc_links", 1),
        ("unresolved link to `crate::s`", "rustdoc::broken_intra_doc_links", 1),
        ("public documentation links to private `B`", "rustdoc::private_intra_doc_links", 1),
        ("unused variable", "unused_variables", 0),
        ("1 warning emitted", None, 0),
    ],
)
def test_a_unit_is_no_dead_link(text: str, code: str | None, count: int) -> None:
    messages = [{"reason": "compiler-artifact"}, message(text, code)]
    assert len([*links().dead(messages)]) == count
