"""Every Python block of the documentation runs, one after another on each page, in a folder with
the examples and the files that the commands before it on the page have written."""

from __future__ import annotations

import ast
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_support import CLOS, ROOT, SIRIUS, SMALL, lightloom, write
from doc_support import Block, blocks, copy_examples, only, unused

import lightloom as api

EXPERIMENT = SMALL.replace("flows = 400", "flows = 60")
SWEEP = """
base = "small.toml"
fabrics = ["sirius"]

[grid]
"workload.load" = [0.2, 0.3]
"fabric.sirius.queue" = [2, 4]
"""
NOT_RUN: dict[tuple[str, str], object] = {
    ("docs/testbed.md", "import time\n\nimport"): "needs root and network namespaces",
    ("docs/testbed.md", "import time\nfrom pathlib"): "the same",
    ("docs/switches.md", "from pygnmi"): "needs a served switch, as test_switch_gnmi has",
    ("README.md", "from pygnmi"): "needs a served switch, as test_switch_gnmi has",
    ("docs/controller.md", "from lightloom.controller.client"): "needs a controller that serves",
    ("CONTRIBUTING.md", ""): "run by test_contributing",
}
"""Blocks of which only the syntax and the imports are tested, with the reason."""


def flows_of_a_run() -> None:
    made("run", "small.toml", "-o", "out", "--fabric", "sirius")


def resilience() -> None:
    made("compare", "small.toml", "-o", "out", "--worst-failure", "--worst-of", "1")


def rows_of_a_sweep() -> None:
    Path("sweep.toml").write_text(SWEEP, encoding="utf-8")
    made("sweep", "sweep.toml", "-o", "out/sweep")


def small_examples() -> None:
    """Gives the small workload to examples that take long."""
    for name in ("clos", "decision"):
        path = Path("examples") / f"{name}.toml"
        text = path.read_text(encoding="utf-8")
        for long, short in (
            ('warm_up = "10 ms"', 'warm_up = "100 us"'),
            ('warm_up = "20 ms"', 'warm_up = "100 us"'),
            ('measure = "20 ms"', 'measure = "100 us"'),
            ("repeat = 3", "repeat = 1"),
            ("repeat = 5", "repeat = 1"),
        ):
            text = text.replace(long, short)
        path.write_text(text, encoding="utf-8")


def trace() -> None:
    Path("trace.csv").write_text("src,dst,bytes,arrival_ps\n0,1,1000,0\n", encoding="utf-8")


BEFORE: dict[str, Callable[[], None]] = {
    "docs/failures.md": resilience,
    "docs/sweeps.md": rows_of_a_sweep,
    "docs/api.md": small_examples,
    "docs/decision.md": small_examples,
    "docs/workloads.md": trace,
    "docs/getting-started.md": flows_of_a_run,
}
"""The names that the blocks of a page need, by page."""


def made(*arguments: str) -> None:
    done = lightloom(*arguments, cwd=Path.cwd())
    assert done.returncode == 0, done.stderr


def given(page: str) -> dict[str, Any]:
    """Returns the names that a page's blocks need."""
    names: dict[str, Any] = {"json": json, "lightloom": api, "__name__": "block"}
    if page == "docs/workloads.md":
        names["result"] = api.run(api.load("small.toml"), "sirius")
    return names


RUN = [block for block in blocks("python") if not only(block, NOT_RUN)]


def test_what_is_not_run_is_there() -> None:
    assert unused(NOT_RUN, blocks("python")) == []


@pytest.mark.parametrize("page", sorted({block.page for block in RUN}))
def test_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    copy_examples(tmp_path)
    write(tmp_path / "small.toml", EXPERIMENT, SIRIUS, CLOS)
    BEFORE.get(page, lambda: None)()
    names = given(page)
    for block in RUN:
        if block.page == page:
            # Numbers the lines of a block as on its page, for the traceback.
            code = "\n" * block.line + block.text
            exec(compile(code, ROOT / block.page, "exec"), names)


@pytest.mark.parametrize("block", [b for b in blocks("python") if only(b, NOT_RUN)], ids=str)
def test_what_a_block_imports_is_there(block: Block) -> None:
    found = 0
    for node in ast.walk(ast.parse(block.text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            assert all(hasattr(module, name.name) for name in node.names)
            found += 1
    assert found
