"""The output of `reproduce`, compared with a snapshot that a reader can review."""

from pathlib import Path

import pytest
from rich.console import Console

from lightloom.cli import console
from lightloom.cli import verdicts as printing
from lightloom.validation import Claim, Estimate, Verdict, judge

SNAPSHOT = Path(__file__).parent / "snapshots" / "reproduce.txt"


def claim(name: str, script: str, **changes: object) -> Claim:
    fabric, _, figure = script.partition("/")
    values = {
        "id": name,
        "source": "§1",
        "statement": f"What {figure} of {fabric} says is so, in so many words that "
        "they do not fit into a line of a terminal of eighty columns.",
        "command": f"lightloom reproduce {script}",
        "measures": f"what comes out of {fabric}, relative to what goes into it, in sum over "
        "all that take part",
        "expect": {"at_most": 1.25},
        "quick": True,
        "exact": "arithmetic",
        "status": "not judged",
        "reason": "because",
    }
    return Claim.model_validate({k: v for k, v in (values | changes).items() if v is not None})


def several(quick: bool = False) -> list[Verdict]:
    """Returns verdicts on three figures of two papers, with every outcome and every remark."""
    ring, ours = "A Ring of Light (2031)", "criterion"
    return [
        judge("ring", claim("fig01-sooner", "ring/fig01"), Estimate(0.9, 0.02), quick, ring),
        judge("ring", claim("fig01-radix", "ring/fig01"), Estimate(1.428, 0.04), quick, ring),
        judge("ring", claim("fig01-withheld", "ring/fig01", expect=None), None, quick, ring),
        judge("ring", claim("fig02-near", "ring/fig02"), Estimate(1.24, 0.03, 4), quick, ring),
        judge("ring", claim("fig02-lone", "ring/fig02", exact=None), 1.24, quick, ring),
        judge("ring", claim("fig02-long", "ring/fig02", quick=False), 1.0, quick, ring),
        judge(
            "tree",
            claim(
                "table1-seconds",
                "tree/table1",
                unit="s",
                basis="set",
                criterion=ours,
                expect={"value": 280, "tolerance": 5},
            ),
            280.1,
            quick,
            "Trees, Considered (2009)",
        ),
        judge(
            "tree",
            claim("table1-fit", "tree/table1", basis="fitted", criterion=ours),
            1.2,
            quick,
            "Trees, Considered (2009)",
        ),
        judge(
            "tree",
            claim("table1-misfit", "tree/table1", basis="fitted", criterion=ours),
            1.3,
            quick,
            "Trees, Considered (2009)",
        ),
    ]


def printed(
    found: list[Verdict], monkeypatch: pytest.MonkeyPatch, capsys: object, verbose: bool = False
) -> str:
    monkeypatch.setattr(console, "out", lambda: Console(highlight=False, width=80))
    printing.print_verdicts(found, verbose=verbose)
    return str(capsys.readouterr().out)  # type: ignore[attr-defined]


def test_claims_by_paper_and_figure_with_totals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(several(), monkeypatch, capsys) + "\n=== --quick\n\n"
    text += printed(several(quick=True), monkeypatch, capsys)
    text += "\n=== a single figure\n\n" + printed(several()[:3], monkeypatch, capsys)
    shown = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
    # After an intended change: write `shown` to the file, and review it.
    assert shown == SNAPSHOT.read_text(encoding="utf-8")


def test_every_claim_is_counted_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for quick in (False, True):
        table = printed(several(quick), monkeypatch, capsys).splitlines()
        rows = {line.split()[0]: line.split()[1:] for line in table if line and line[0] != " "}
        assert sum(map(int, rows["ring"])) == 6
        assert sum(map(int, rows["tree"])) == 3
        assert [int(n) for n in rows["all"]] == [
            int(a) + int(b) for a, b in zip(rows["ring"], rows["tree"], strict=True)
        ]


FIGURE = "What fig01 of ring says"


def test_of_several_papers_those_that_failed_say_what_was_measured_and_why(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(several(), monkeypatch, capsys)
    assert text.count("measured: ") == text.count("✗ ") - 1 == 2  # one of the totals
    # The recorded status differs, so its reason does not explain the outcome.
    assert "why: " not in text
    every = printed(several(), monkeypatch, capsys, verbose=True)
    assert every.count("measured: ") == len(several())
    assert every.count(FIGURE) == 3


def test_the_reason_on_record_explains_what_came_out_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = claim("fig01-radix", "ring/fig01", status="not reproduced", reason="Mirrors wear.")
    failed = judge("ring", known, 1.4, False, "A Ring of Light (2031)")
    other = judge("tree", claim("table1-x", "tree/table1", reason="Unseen."), 1.0, False, "Trees")
    text = printed([failed, other], monkeypatch, capsys)
    assert "      why: Mirrors wear.\n" in text
    assert "Unseen" not in text


def test_of_a_single_paper_every_claim_says_what_is_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    of_ring = several()[:5]  # of two figures
    text = printed(of_ring, monkeypatch, capsys)
    assert text.count("out of ring, relative") == 5
    assert text.count(FIGURE) == 1  # only for the failed claim
