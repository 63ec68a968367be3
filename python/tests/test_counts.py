"""One thing is not several."""

import re
from pathlib import Path

from typer.testing import CliRunner

from lightloom import counts
from lightloom.cli import app
from lightloom.counts import counted

#: What messages count, and what they then wrote of one.
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
    assert "1 record, in units of 1 B" in said
    assert not OF_ONE.findall(said)
