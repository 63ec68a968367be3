"""The sentences of notes and verdicts: a golden file for each catalogue; each note or statement has
the values of its sentence."""

from __future__ import annotations

import ast
from pathlib import Path
from string import Formatter
from typing import Any

import golden_support
import pytest
from test_report_support import Profile, make_comparison

import lightloom.analysis
from lightloom.analysis import reading
from lightloom.analysis.answers import ANSWERS
from lightloom.analysis.circuits import Finding
from lightloom.analysis.factors import Factor
from lightloom.analysis.findings.kinds import (
    Cut,
    DarkStart,
    FinishesMore,
    LongInterval,
    NoneCarries,
)
from lightloom.analysis.findings.sentences import Told
from lightloom.analysis.note import Note
from lightloom.analysis.ranking import Figure, Score
from lightloom.analysis.statement import Statement
from lightloom.analysis.verdicts.load import At
from lightloom.analysis.wording import SENTENCES

FOLDER = Path(lightloom.analysis.__file__).parent
BITS = 40_000_000_000
(FABRIC,) = reading.read([make_comparison([Profile("sirius")], n=50)])[0].fabrics
SCORE = Score(FABRIC, 1e-5, 0.8e-5, 1.2e-5)
CUT = Cut("a", 1.0, 9, 4, 1)
NUMBERS = {"rate": BITS, "size": BITS, "bytes": BITS, "long": Factor(2.0, 2.2, 2.5)}
"""Values of formats, other than 0.25."""
NUMBERS |= dict.fromkeys(("ratio", "less", "more"), Factor(2.0, 2.2, 2.5))
NUMBERS |= dict.fromkeys(("ends", "plain"), Figure(SCORE, "time"))
LISTS = ("list", "listed", "joined", "semicolon", "and", "or")
FORMS: dict[str, Any] = {
    "title": NoneCarries(("a", "b")),
    "explained": NoneCarries(("a", "b")),
    "jobs": FinishesMore(("a",), {"a": (2, 2), "b": (1, 2)}),
    "cuts": [CUT],
    "left out": CUT,
    "dark": [DarkStart("a", 0.001, 0.5, initial=False)],
    "rarely": [LongInterval("a", Finding("interval", "1 s", "EFFECT", "REMEDY"))],
}
"""Findings, by the form in which a sentence has them."""
PLAIN: dict[str, Any] = {"loads": [0.25, 0.5], "of": "compare.loads"}

CATALOGUES = {
    "notes.txt": (Note, SENTENCES),
    "statements.txt": (Statement, ANSWERS),
}


def names(template: str) -> dict[str, set[str]]:
    """The values that a sentence names, each with its formats."""
    found: dict[str, set[str]] = {}
    for _, name, spec, _ in Formatter().parse(template):
        if name is not None:
            found.setdefault(name, set()).add(spec or "")
            for inner, specs in names(spec or "").items():
                found.setdefault(inner, set()).update(specs)
    return found


def example(template: str, count: int) -> dict[str, Any]:
    """Values for a sentence: counts are `count`, lists have `count` items, other numbers 0.25."""
    return {name: value(name, specs, count) for name, specs in names(template).items()}


def value(name: str, specs: set[str], count: int) -> Any:
    """A value with some formats."""
    if name == "at":
        return At(0.25)
    if specs & set(LISTS):
        return [f"{name.upper()} {i}" for i in range(count)]
    if name == "count" or any(s.endswith(",") or "|" in s for s in specs):
        return count
    known = next((s for s in specs if s), "")
    if known in FORMS:
        return Told(FORMS[known])
    return PLAIN.get(known, NUMBERS.get(known, 0.25)) if known else name.upper()


def made(of: str) -> dict[str, set[str]]:
    """The values with which the package makes notes or statements, by kind."""
    found: dict[str, set[str]] = {}
    for path in FOLDER.rglob("*.py"):
        for scope in scopes(ast.parse(path.read_text(encoding="utf-8"))):
            for call in ast.walk(scope):
                if isinstance(call, ast.Call) and getattr(call.func, "id", "") == of:
                    values = {str(keyword.arg) for keyword in call.keywords}
                    for kind in kinds(call.args[0], scope):
                        assert found.setdefault(kind, values) == values, kind
    return found


def scopes(tree: ast.Module) -> list[ast.AST]:
    """The functions of a module, and its other statements."""
    inside = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    return [*inside, *(n for n in tree.body if isinstance(n, ast.Assign))]


def kinds(named: ast.expr, scope: ast.AST) -> set[str]:
    """The kinds that an expression may be: a constant, or those assigned to a name."""
    assigned = [
        n.value
        for n in ast.walk(scope)
        if isinstance(n, ast.Assign)
        and isinstance(named, ast.Name)
        and getattr(n.targets[0], "id", "") in (named.id, f"{named.id}s", "causes")
    ]
    texts = {
        n.value
        for one in (named, *assigned)
        for n in ast.walk(one)
        if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }
    return texts & {*SENTENCES, *ANSWERS} if assigned else texts


@pytest.mark.parametrize("golden", CATALOGUES)
def test_each_note_has_the_values_of_its_sentence_and_each_sentence_a_note(golden: str) -> None:
    of, catalogue = CATALOGUES[golden]
    given = made(of.__name__)
    assert given.keys() == catalogue.keys()
    for kind, template in catalogue.items():
        assert {*names(template)} <= given[kind], kind


@pytest.mark.parametrize("golden", CATALOGUES)
def test_the_sentences_are_those_of_the_golden_file(golden: str) -> None:
    """To bless a change: LIGHTLOOM_BLESS=1, and look at the difference."""
    of, catalogue = CATALOGUES[golden]
    lines = []
    for kind, template in catalogue.items():
        texts = dict.fromkeys(str(of(kind, **example(template, count))) for count in (1, 3))
        lines += [f"{kind}:", *(f"  {text}" for text in texts)]
    golden_support.golden(golden, lines)
