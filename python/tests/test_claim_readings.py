"""Claims by each reading of their source: each has one verdict, and none follows a reading that was
fitted to it."""

import json
import tomllib
from pathlib import Path

import pytest
from cli_support import ROOT, lightloom
from rich.console import Console
from test_cli_reproduce import CLAIM, claim

from lightloom.cli import by_reading
from lightloom.costs import readings as fig06
from lightloom.validation import Reading, Readings, Verdict, judge
from lightloom.validation.scripts import load_script

A = Reading("A", "the words, literally", "literal")
B = Reading("B", "the words, and a tenth", "assumed")
F = Reading("F", "what gives these figures", "fitted")


def verdict(name: str, **values: float) -> Verdict:
    read = Readings("A", (A, B, F), {name: values})
    return judge("toy", claim(id=name), read.measured()[name], quick=False, readings=read)


@pytest.mark.parametrize(
    ("judged", "values", "said"),
    [
        ("C", {"A": 1.0}, r"verdict = C: no such reading; name one of \['A', 'B', 'F'\]"),
        ("F", {"A": 1.0, "F": 2.0}, "verdict = F: was fitted, so it is no evidence"),
        ("A", {"B": 1.0}, "c: has a value none by A"),
        ("A", {"A": 1.0, "Z": 2.0}, r"c: has a value by \['Z'\]"),
    ],
)
def test_readings_that_cannot_judge_are_refused(
    judged: str, values: dict[str, float], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        Readings(judged, (A, B, F), {"c": values})


def test_the_verdict_is_from_one_reading_whatever_others_come_to() -> None:
    found = verdict("c", A=9.0, B=2.4, F=2.0)
    assert (found.outcome, found.measured and found.measured.value) == ("not reproduced", 9.0)
    assert [(by.reading.name, by.outcome, by.judged) for by in found.readings] == [
        ("A", "not reproduced", True),
        ("B", "reproduced", False),
        ("F", "reproduced", False),
    ]


def printed(*verdicts: Verdict, explained: bool = False) -> str:
    screen = Console(width=80, highlight=False)
    with screen.capture() as made:
        for part in by_reading.tables(verdicts, 80, explained=explained):
            screen.print(part)
    return made.get()


def test_what_only_a_fitted_reading_meets_is_named() -> None:
    text = printed(verdict("unmet", A=9.0, B=9.0, F=2.0), verdict("met", A=9.0, B=2.0, F=9.0))
    assert "meets: unmet\n" in text
    assert "F: fitted to these" in text
    rows = {row.split()[0]: row for row in text.splitlines() if row.strip()}
    assert rows["unmet"].split() == ["unmet", "2", "±", "0.5", "9", "9", "2", "✓"]
    assert rows["met"].split() == ["met", "2", "±", "0.5", "9", "2", "✓", "9"]
    assert [row.split() for row in text.splitlines()[1:3]] == [
        ["A", "B", "F"],
        ["claim", "expected", "verdict", "fitted"],
    ]
    assert A.what not in text
    explained = printed(verdict("met", A=2.0), explained=True)
    assert "A (the source's words)" in explained
    assert "meets" not in explained


def test_values_that_are_not_judged_have_their_unit_and_no_mark() -> None:
    plain = claim(id="c", unit="ps", expect=None, status="not judged", reason="unsaid")
    read = Readings("A", (A, B), {"c": {"A": 3.4, "B": 7.5}})
    text = printed(judge("toy", plain, 3.4, quick=False, readings=read))
    assert text.splitlines()[2].split() == ["claim", "measured"]
    assert text.splitlines()[3].split() == ["c", "(ps)", "3.4", "7.5"]
    assert "meets" not in text


def test_claims_without_readings_have_no_table() -> None:
    assert printed(judge("toy", claim(), 2.0, quick=False)) == ""


def test_readings_are_in_the_record_of_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "v" / "toy"
    folder.mkdir(parents=True)
    (folder / "one.py").write_text("""
from lightloom.validation import Reading, Readings
from lightloom.validation.study import draw, panel
def measure(quick, workers):
    known = (Reading("A", "plain", "literal"), Reading("F", "as it comes out", "fitted"))
    read = Readings("A", known, {"c": {"A": 9.0, "F": 2.0}})
    data = [panel("t", ("x", [1, 2]), "y", {"a": [1.0, 2.0]})]
    return {"data": data, "claims": {}, "readings": read}
figure = draw
""")
    values = CLAIM | {"status": "not reproduced", "reason": "because"}
    lines = [f"{k} = {json.dumps(v)}" for k, v in values.items() if k != "expect"]
    lines.append("expect = { value = 2, tolerance = 0.5 }")
    (folder / "claims.toml").write_text("\n".join(['title = "Toy"', "[[claim]]", *lines]))
    done = lightloom("reproduce", cwd=tmp_path, LIGHTLOOM_VALIDATION=str(tmp_path / "v"))
    assert done.returncode == 0, done.stderr
    assert "toy/one by reading" in done.stdout
    assert "reading meets: c" in done.stdout
    (record,) = json.loads((tmp_path / "results/reproduce/claims.json").read_text())
    assert record["measured"] == 9.0
    assert record["readings"] == [
        {
            "reading": name,
            "what": what,
            "basis": basis,
            "measured": value,
            "half_width": None,
            "runs": None,
            "outcome": outcome,
            "verdict": name == "A",
        }
        for name, what, basis, value, outcome in (
            ("A", "plain", "literal", 9.0, "not reproduced"),
            ("F", "as it comes out", "fitted", 2.0, "reproduced"),
        )
    ]


def test_the_readings_of_fig_6_say_which_were_fitted() -> None:
    read = load_script(ROOT / "validation", "sirius", "fig06").measure(True, 1)["readings"]
    assert read.verdict == "A"
    data = tomllib.loads(fig06.FILE.read_text(encoding="utf-8"))["reading"]
    assert {r.name: r.basis for r in read.known} == {n: t["basis"] for n, t in data.items()}


def test_the_table_of_the_documentation_is_what_comes_out() -> None:
    """The table of docs/cost.md for Sirius Fig 6: the paper and four readings, with a star for each
    met value."""
    read = load_script(ROOT / "validation", "sirius", "fig06").measure(True, 1)["readings"]
    page = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8")
    rows = [row for row in page.splitlines() if row.startswith(("| power ÷", "| cost ÷"))]
    assert len(rows) == len(read.values) == 5
    for row, values in zip(rows, read.values.values(), strict=True):
        _, _, paper, *shown, _ = (cell.strip() for cell in row.split("|"))
        for cell, value in zip(shown, values.values(), strict=True):
            star = "\\*" if abs(value - float(paper)) <= 0.5 else ""
            assert cell == f"{value:.1f}{star}", row
