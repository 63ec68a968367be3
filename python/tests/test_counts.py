"""Texts use the singular for one thing, and notes have a hanging indent."""

import re
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from lightloom.analysis import derived_values
from lightloom.cli import app, console
from lightloom.units import counts, quantities
from lightloom.units.counts import counted

#: Regression: the texts that messages printed for a count of one.
OF_ONE = re.compile(r"\b1 (flow|pair|rack|node|record|circuit|host|slot|dual|interval|cell)s\b")


def test_of_one_there_is_no_plural() -> None:
    assert [counted(n, "flow") for n in (0, 1, 2)] == ["0 flows", "1 flow", "2 flows"]
    assert counted(1, "path leads", "paths lead") == "1 path leads"
    assert counts.shown(iter("abcde")) == "a, b, c and 2 more"


def test_a_plan_for_one_pair_counts_one(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("src,dst,bytes\na,b,5\n")
    (tmp_path / "h.csv").write_text("host,rack\na,r1\nb,r2\n")
    words = ["plan", str(tmp_path / "d.csv"), "--map", str(tmp_path / "h.csv"), "-a", "edmonds"]
    said = CliRunner().invoke(app, words).stdout
    assert "2 nodes, 1 pair, 5 B" in said
    assert "1 record, in units" in said
    assert not OF_ONE.findall(said)


def test_a_number_is_whole_or_has_four_digits_whoever_made_it() -> None:
    assert counted(np.int64(20_000), "flow") == "20,000 flows"
    assert counted(123.456, "slot") == "123.5 slots"
    assert quantities.counted(1, "pair") == "1 pair"
    shown = derived_values.derived({"epoch_slots": 1, "uplinks": 12_000})
    assert shown.split(", ") == ["epochs of 1 slot", "12,000 uplinks"]


NOTE = "note: " + "so many words that they do not fit into a line, " * 3 + "and-a-hyphen"


@pytest.mark.parametrize("width", [40, 64])
def test_a_note_on_a_terminal_hangs_below_its_text(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Console(width=width, force_terminal=True, highlight=False, no_color=True)
    monkeypatch.setattr(console, "out", lambda: terminal)
    console.say(NOTE)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 2
    assert all(len(line) <= width for line in lines)
    assert {line[:6] for line in lines[1:]} == {" " * 6}
    assert " ".join(line.strip() for line in lines) == NOTE
    console.say(NOTE.removeprefix("note: "))
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_a_note_in_a_pipe_is_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "out", lambda: Console(width=40, highlight=False))
    console.say(NOTE)
    assert capsys.readouterr().out == NOTE + "\n"
