"""The status page and the table of docs/reproduce.md, which are generated from claims and recorded
values."""

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest
from cli_support import ROOT
from test_cli_reproduce import CLAIM
from test_reading_grid import grid

from lightloom.errors import ConfigError
from lightloom.validation import Claims, Estimate, status
from lightloom.validation.record import Recorded, read
from lightloom.validation.scripts import find_validation

FOLDER = find_validation()


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reproduced", ROOT / "scripts/reproduced.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def known() -> list[status.Paper]:
    return status.papers(FOLDER)


def test_page_and_overview_are_as_they_are_made() -> None:
    """After a change of claims or values, run python scripts/reproduced.py."""
    for path, text in maker().made().items():
        assert path.read_text(encoding="utf-8") == text, path


def test_every_claim_is_on_the_page_with_its_verdict(known: list[status.Paper]) -> None:
    page = (ROOT / "docs" / "reproduced.md").read_text(encoding="utf-8")
    rows = [line.split(" | ") for line in page.splitlines() if re.match(r"\| `\S+` \(", line)]
    shown = {(row[0].split("`")[1], row[0].split("(", 1)[1]): row for row in rows}
    claims = [c for p in known for c in p.claims.claim]
    assert len(shown) == len(claims) == len(rows)
    for claim in claims:
        row = shown[claim.id, f"{claim.source})".replace("|", "\\|")]
        assert row[3].startswith(claim.status_text(claim.status)), claim.id
        assert claim.statement.replace("|", "\\|") in row[5]
        if claim.status != "reproduced":
            assert str(claim.reason).replace("|", "\\|") in row[5]


def test_no_status_is_other_than_what_its_value_on_record_comes_to(
    known: list[status.Paper],
) -> None:
    assert [line for paper in known for line in status.contradictions(paper)] == []


def test_all_verdicts_of_a_paper_are_from_one_reading(known: list[status.Paper]) -> None:
    for paper in (p for p in known if p.grid is not None):
        names = {s.name for s in paper.grid.settings()}
        for claim in paper.claims.claim:
            recorded = paper.of(claim)
            assert not set(recorded.readings) & {recorded.reading}
            if set(recorded.readings) & names:
                assert recorded.reading == "chosen"


def test_the_overview_counts_every_claim_once(known: list[status.Paper]) -> None:
    overview = (ROOT / "docs/reproduce.md").read_text(encoding="utf-8")
    (total,) = [line for line in overview.splitlines() if line.startswith("| **all**")]
    counts = [int(n) for n in re.findall(r"\*\*(\d+)\*\*", total)]
    assert sum(counts) == sum(len(paper.claims.claim) for paper in known)


def toy(folder: Path, **changes: object) -> Path:
    """Writes a paper with two claims, one of them measured."""
    folder.mkdir(parents=True)
    lines = ['title = "Toy | Two"']
    for name in ("c0", "c1"):
        fields = {**CLAIM, "id": name, **changes}
        lines += ["[[claim]]", "expect = { value = 2, tolerance = 0.5 }"]
        lines += [f"{k} = {json.dumps(v)}" for k, v in fields.items() if k != "expect"]
    (folder / "claims.toml").write_text("\n".join(lines), encoding="utf-8")
    (folder / "measured.json").write_text(
        json.dumps({"c0": {"value": 2.0, "half_width": 0.1, "runs": 4, "reading": "A"}})
    )
    return folder


def test_a_status_that_the_value_contradicts_is_named(tmp_path: Path) -> None:
    paper = status.Paper.read(toy(tmp_path / "toy"))
    assert status.contradictions(paper) == []
    other = status.Paper.read(toy(tmp_path / "b", status="not reproduced", reason="because"))
    assert status.contradictions(other) == ["b/c0: not reproduced, but reproduced by its value"]


def test_a_row_has_value_interval_verdict_reading_and_reason(tmp_path: Path) -> None:
    changes = {"status": "undecided", "reason": "too few | seeds", "unit": "us", "exact": "no"}
    folder = toy(tmp_path / "toy", **changes)
    values = {"c0": Recorded(Estimate(2.45, 0.1, 4), "A").to_dict()}
    (folder / "measured.json").write_text(json.dumps(values))
    page = status.page([status.Paper.read(folder)])
    row = next(line for line in page.splitlines() if line.startswith("| `c0`"))
    assert "| 2 ± 0.5 us | 2.45 ± 0.1 us (4 seeds) | undecided: 5 more seeds | A |" in row
    assert row.endswith("Two. *Measured: it.* too few \\| seeds |")
    assert "| `c1` (§1) | 2 ± 0.5 us | not on record | undecided | – |" in page


def test_what_is_by_construction_is_counted_apart(tmp_path: Path) -> None:
    paper = status.Paper.read(toy(tmp_path / "toy", basis="set", criterion="ours"))
    head, _, total = status.summary([paper]).splitlines()
    assert (head, total) == ("| | set |", "| **all** | **2** |")
    assert "| Toy | Two | 2 |" in status.page([paper]).splitlines()


@pytest.mark.parametrize("status_", ["ours", "not reproduced"])
def test_what_came_out_by_a_number_of_ours_is_counted_apart(tmp_path: Path, status_: str) -> None:
    changes = {} if status_ == "ours" else {"status": status_, "reason": "Three."}
    words = toy(tmp_path / "toy", basis="ours", criterion="A tenth.", **changes)
    paper = status.Paper.read(words)
    page = status.page([paper])
    assert status.summary([paper]).splitlines()[0] == f"| | {status_} |"
    said = "Of the 2 that are not reproduced, 2 fail a number of ours."
    assert (said in page) == (status_ == "not reproduced")
    assert "reproduced (ours)" in page


def test_other_readings_are_there_where_they_change_a_value(tmp_path: Path) -> None:
    folder = toy(tmp_path / "toy")
    grid(folder)
    here, below = Estimate(2.0, 0.1, 4), Estimate(1.0, 0.1, 4)
    values = {
        "c0": Recorded(here, "chosen", {"stop = drain": below, "both": here}).to_dict(),
        "c1": Recorded(here, "chosen", {"stop = drain": here, "gone": below}).to_dict(),
    }
    (folder / "measured.json").write_text(json.dumps(values))
    page = status.page([status.Paper.read(folder)])
    lines = page.splitlines()
    known = "Measured by other readings, too: `stop = drain`, `both`. Not: `nic = 50 Gb/s`."
    assert known in lines
    chosen, other = "2 ± 0.1 (4 seeds), reproduced", "1 ± 0.1 (4 seeds), **not reproduced**"
    assert f"| `c0` | {chosen} | stop = drain: {other} |" in lines
    assert lines[-1].endswith("these: `c1`.")


def test_values_come_back_as_they_were_recorded(tmp_path: Path) -> None:
    one = Recorded(Estimate(1.5, float("inf"), 1), "chosen", {"drain": Estimate(2.0)})
    (tmp_path / "measured.json").write_text(json.dumps({"c": one.to_dict()}))
    assert read(tmp_path) == {"c": one}
    assert read(tmp_path / "none") == {}
    (tmp_path / "measured.json").write_text('{"c": {"value": 1')
    with pytest.raises(ConfigError, match=r"measured.json: .*by lightloom"):
        read(tmp_path)


def test_a_page_without_marks_is_refused() -> None:
    made = status.inserted("a\n<!-- reproduced -->old<!-- /reproduced -->\nb", "new", "README.md")
    assert made == "a\n<!-- reproduced -->\nnew\n<!-- /reproduced -->\nb"
    for text in ("a", "<!-- reproduced -->", "<!-- /reproduced --> <!-- reproduced -->"):
        with pytest.raises(ConfigError, match=r"README.md = .*: "):
            status.inserted(text, "new", "README.md")


def test_a_paper_that_is_on_record_is_so_in_full() -> None:
    for path in sorted(FOLDER.glob("*/measured.json")):
        values, claims = read(path.parent), Claims.read(path.with_name("claims.toml"))
        assert list(values) == [c.id for c in claims.claim], path
