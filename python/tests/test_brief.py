"""The default output of `compare`: the findings of its parts, and one golden file of the text."""

from __future__ import annotations

import os
from contextlib import chdir
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lightloom.analysis.naming import Prose
from lightloom.cli import app, brief
from lightloom.report.decisions import headline
from lightloom.report.page import LEADING

GOLDEN = Path(__file__).parent / "snapshots" / "compare.txt"
EXPERIMENT = """
[cluster]
racks = 8
servers_per_rack = 4
rack_rate = "200 Gb/s"
nic = "uncapped"
[workload]
arrivals = "poisson"
load = 0.4
sizes = "web-search"
pattern = "uniform"
flows = 2000
[run]
seed = 1
[decision]
prices = "sirius-2020"
[[fabric]]
kind = "sirius"
grating_ports = 4
[[fabric]]
kind = "clos"
tiers = 2
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("brief")


@cache
def compared(folder: Path, *options: str) -> tuple[Path, tuple[str, ...]]:
    """A comparison, made once: its folder, and its lines on a terminal of 80 columns."""
    place = folder / str(len(options))
    place.mkdir()
    (place / "e.toml").write_text(EXPERIMENT)
    with chdir(place):
        done = CliRunner(env={"COLUMNS": "80"}).invoke(
            app, ["compare", "e.toml", "-o", "out", *options]
        )
    assert done.exit_code == 0, done.output
    return place / "out", tuple(done.stdout.splitlines())


def printed(folder: Path, *options: str) -> tuple[str, ...]:
    return compared(folder, *options)[1]


def test_the_text_of_a_comparison_is_the_golden_one(folder: Path) -> None:
    """To accept a change, run with LIGHTLOOM_BLESS=1 and review the difference."""
    text = "\n".join(line.rstrip() for line in printed(folder)) + "\n"
    if os.environ.get("LIGHTLOOM_BLESS"):
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("window", [(), ("run.warm_up=1 ms", "run.measure=1 ms")])
def test_one_table_form_and_few_notes(folder: Path, window: tuple[str, ...]) -> None:
    options = [option for value in window for option in ("--set", value)]
    lines = printed(folder, *options)
    first = next(i for i, line in enumerate(lines) if line.startswith("fabric "))
    assert lines[first].split() == [*("fabric", "accepted", "mean", "p99", "p99", "Gb/s", "Tb/s")]
    assert len(lines) <= 40
    assert first <= 6  # the verdict has at most three lines
    deciding = [line for line in lines if line.startswith("note: ")]
    assert 1 <= len(deciding) <= 5
    assert lines[-1] == "report: out/report.html"


def test_verbose_has_what_the_brief_text_leaves_out(folder: Path) -> None:
    short, whole = printed(folder), printed(folder, "--verbose")
    assert len(whole) > len(short)
    assert any(line.startswith("idealised: ") for line in whole)


def test_notes_that_decide_are_all_printed(capsys: pytest.CaptureFixture[str]) -> None:
    brief.print_notes(["a", "b", "c", "d", "a"], ["d", "e", "f"])
    assert capsys.readouterr().out.splitlines() == [
        *("note: a", "note: b", "note: c", "note: d"),
        "2 more notes: --verbose, or the report",
    ]
    brief.print_notes(["a"], ["b", "c", "d"])
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "note: c",
        "1 more note: --verbose, or the report",
    ]
    brief.print_notes([], ["b"])
    assert capsys.readouterr().out.splitlines() == ["note: b"]


def test_names_are_those_of_the_papers_where_the_label_is_the_kind() -> None:
    prose = Prose({"fabric": [{"kind": "rotornet"}, {"kind": "clos", "label": "sirius"}]})
    assert prose("rotornet and sirius, rotornet-2 and preset rotornet.paper") == (
        "RotorNet and sirius, rotornet-2 and preset rotornet.paper"
    )
    assert Prose({})("clos") == "clos"


def test_percent_less_is_that_of_the_smaller() -> None:
    from fractions import Fraction

    from lightloom.costs.amounts import Range

    assert headline.percent_less(Range(Fraction(2), Fraction(4))) == "50 to 75 %"
    assert headline.percent_less(Range(Fraction(100, 83), Fraction(100, 83))) == "17 %"


def test_help_of_plan_has_the_options_of_its_algorithm() -> None:
    def options(*args: str) -> set[str]:
        done = CliRunner(env={"COLUMNS": "80"}).invoke(app, ["plan", *args, "--help"])
        assert done.exit_code == 0
        return {word for word in done.stdout.split() if word.startswith("--")}

    common, bvn, edmonds = options(), options("-a", "bvn"), options("-a", "edmonds")
    assert {"--algorithm", "--port-map", "--diff", "--out"} <= common
    assert not {"--night", "--scaling", "--hysteresis", "--undo"} & common
    assert {"--night", "--scaling", "--undo"} <= bvn
    assert "--hysteresis" in edmonds - bvn
    assert "--scaling" not in edmonds
    assert len(common) < len(edmonds)


def test_the_page_begins_with_fct_and_goodput(folder: Path) -> None:
    out, _ = compared(folder)
    page = (out / "report.html").read_text(encoding="utf-8")
    places = [page.index(f'id="{name}-1"') for name in ("decision", "setup", "data")]
    lead = min(
        page.index(f'id="figure-1-{key}"') for key in LEADING if f'id="figure-1-{key}"' in page
    )
    assert page.index("<h1") < lead < places[0] < places[1] < places[2]
    assert "<h1" in page
    assert "Sirius" in page[page.index("<h1") : page.index("</h1>")]


def test_notes_that_differ_in_numbers_are_one() -> None:
    each = [("a", "47% of 3 arrived"), ("b", "45.5% of 3 arrived"), ("c", "9 more"), ("a", "short")]
    assert list(brief.grouped(each)) == ["a, b: 45.5 to 47% of 3 arrived", "c: 9 more", "a: short"]
