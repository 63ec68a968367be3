"""The sentences of notes: one golden file has all of them; each note has the values of its own."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from string import Formatter
from typing import Any

import lightloom.analysis
from lightloom.analysis.note import Note
from lightloom.analysis.wording import SENTENCES

GOLDEN = Path(__file__).parent / "snapshots" / "notes.txt"
FOLDER = Path(lightloom.analysis.__file__).parent
EXAMPLES: dict[str, Any] = {"events": ["plane 0 fails at 1 ms", "plane 1 fails at 2 ms"]}
"""Values of the sentences that are not numbers; others are their names in capitals."""

BITS = 40_000_000_000


def names(template: str) -> dict[str, str]:
    """The values that a sentence names, each with its last format."""
    found: dict[str, str] = {}
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            found[name] = spec or ""
            found |= names(spec or "")
    return found


def example(template: str, count: int) -> dict[str, Any]:
    """Values for a sentence: counts are `count`, other numbers 0.25."""
    values: dict[str, Any] = {}
    for name, spec in names(template).items():
        is_count = spec.endswith(",") or "|" in spec or (name == "count")
        number = BITS if spec in ("rate", "size") else 0.25 if spec else name.upper()
        values[name] = EXAMPLES.get(name, count if is_count else number)
    return values


def made() -> dict[str, set[str]]:
    """The values with which the package makes notes, by kind."""
    found: dict[str, set[str]] = {}
    for path in FOLDER.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        kinds = {
            node.value
            for assigned in ast.walk(tree)
            if isinstance(assigned, ast.Assign) and getattr(assigned.targets[0], "id", "") == "kind"
            for node in ast.walk(assigned.value)
            if isinstance(node, ast.Constant)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Note":
                named = call.args[0]
                values = {str(keyword.arg) for keyword in call.keywords}
                for kind in [named.value] if isinstance(named, ast.Constant) else kinds:
                    assert found.setdefault(str(kind), values) == values
    return found


def test_each_note_has_the_values_of_its_sentence_and_each_sentence_a_note() -> None:
    given = made()
    assert given.keys() == SENTENCES.keys()
    for kind, template in SENTENCES.items():
        assert {*names(template)} <= given[kind]


def test_the_sentences_are_those_of_the_golden_file() -> None:
    """To bless a change: LIGHTLOOM_BLESS=1, and look at the difference."""
    lines = []
    for kind, template in SENTENCES.items():
        texts = dict.fromkeys(str(Note(kind, **example(template, count))) for count in (1, 3))
        lines += [f"{kind}:", *(f"  {text}" for text in texts)]
    text = "\n".join(lines) + "\n"
    if os.environ.get("LIGHTLOOM_BLESS"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
