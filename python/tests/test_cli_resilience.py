"""`compare --worst-failure`: its output, files and forecast, and its section of the page."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import pytest
from cli_support import CLOS, SIRIUS, SMALL, lightloom, write

import lightloom as ll
from lightloom.analysis import reading

IDEAL = '\n[[fabric]]\nkind = "sirius"\nlabel = "ideal"\nmode = "ideal"\nuplinks = 2\n'
WIDE = SIRIUS + 'uplink_plan = "wide"\n'


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Returns its output and its folder."""
    folder = tmp_path_factory.mktemp("worst")
    file = write(folder / "small.toml", SMALL, WIDE, CLOS, IDEAL)
    made = lightloom(
        "compare", "--verbose", file, "--worst-failure", "--worst-of", 3, "-o", "out", cwd=folder
    )
    assert made.returncode == 0, made.stderr
    return made.stdout, folder / "out"


def row(text: str, *beginning: str) -> list[str]:
    """Returns the cells of the line with this beginning."""
    words = r"\s+".join(map(re.escape, beginning))
    found = re.search(rf"^\s*{words}\s.*$", text, re.MULTILINE)
    assert found is not None, beginning
    return re.split(r"\s{2,}", found[0].strip())


def test_the_table_has_the_worst_of_each_kind_beside_the_sound_fabric(
    compared: tuple[str, Path],
) -> None:
    text, out = compared
    saved = json.loads((out / "resilience.json").read_text(encoding="utf-8"))
    clos = saved["fabrics"]["clos"]
    sound = row(text, "clos", "none")
    assert sound[2] == f"{clos['sound']['goodput']:.3f}"
    part = row(text, "core", "switch")
    kind = next(k for k in clos["kinds"] if k["kind"] == "core switch")
    assert part[:2] == ["core switch", "1"]
    assert part[2] == f"{min(run['goodput'] for run in kind['runs']):.3f}"
    assert row(text, "ideal", "not", "modelled")[1] == "not modelled"
    assert max(map(len, text.partition("If one part fails")[2].splitlines())) <= 80
    summary = json.loads((out / "clos" / "summary.json").read_text(encoding="utf-8"))
    assert clos["sound"]["goodput"] == summary["load_delivered"]
    flat = " ".join(text.split())
    assert "worst single failure: " in flat
    assert "ideal: not modelled: " in flat


def test_the_page_has_a_section_of_its_own_with_the_same_figures(
    compared: tuple[str, Path],
) -> None:
    page = (compared[1] / "report.html").read_text(encoding="utf-8")
    section = page.partition('id="failures-1"')[2].partition('id="setup-1"')[0]
    assert '<a href="#failures-1">If one part fails</a>' in page
    saved = json.loads((compared[1] / "resilience.json").read_text(encoding="utf-8"))
    shown = " ".join(re.sub(r"<[^>]*>", " ", section).replace("\u00a0", " ").split())
    for label, fabric in saved["fabrics"].items():
        kept = fabric["worst"]["kept"]
        if fabric["modelled"]:
            assert f"{label} {100 * kept:.1f} % ({fabric['worst']['goodput']})" in shown
        for kind in fabric["kinds"]:
            assert f"{kind['kind']} " in shown
    assert "ideal not modelled" in shown
    comparison = ll.Comparison.load(compared[1])
    assert len(section.split('<th scope="row"')) - 1 == sum(
        1 + len(fabric.kinds) for fabric in comparison.resilience.fabrics.values()
    )


def test_json_has_what_breaks_beside_each_summary(tmp_path: Path) -> None:
    file = write(tmp_path / "small.toml", SMALL, CLOS)
    made = lightloom("compare", file, "--worst-failure", "--worst-of", 1, "--json", cwd=tmp_path)
    found = json.loads(made.stdout)
    assert found["clos"]["worst_failure"]["worst"]["goodput"]
    assert found["clos"]["worst_failure"]["tries"] == 1
    assert list(tmp_path.iterdir()) == [file]
    without = json.loads(lightloom("compare", file, "--json", cwd=tmp_path).stdout)
    assert "worst_failure" not in without["clos"]


def test_the_estimate_says_how_many_runs_it_adds(tmp_path: Path) -> None:
    file = write(tmp_path / "small.toml", SMALL, WIDE, CLOS, IDEAL)
    command = ("compare", file, "--worst-failure", "--worst-of", 3, "--dry-run")
    told = json.loads(lightloom(*command, "--json", cwd=tmp_path).stdout)
    loaded = ll.load(file)
    done: list[str] = []
    from lightloom.failures.search import Search

    made = ll.compare(
        loaded,
        worst_failure=Search(3),
        progress=lambda label, now, end, _: done.append(label) if now == end == 1.0 else None,
    )
    runs = sum(
        len(kind.runs) for fabric in made.resilience.fabrics.values() for kind in fabric.kinds
    )
    assert told["failing"] == runs == sum(label.endswith(" dead") for label in set(done))
    assert told["simulations"] == 3 + runs
    text = lightloom(*command, cwd=tmp_path).stdout
    assert f"{3 + runs} simulations, {runs} of" in text
    plain = json.loads(lightloom("compare", file, "--dry-run", "--json", cwd=tmp_path).stdout)
    assert plain["failing"] == 0
    assert plain["simulations"] == 3


def test_what_an_earlier_comparison_left_goes_with_it(tmp_path: Path) -> None:
    file = write(tmp_path / "small.toml", SMALL, CLOS)
    lightloom("compare", file, "--worst-failure", "--worst-of", 1, "-o", "out", cwd=tmp_path)
    assert (tmp_path / "out" / "resilience.json").exists()
    lightloom("compare", file, "-o", "out", cwd=tmp_path)
    assert not (tmp_path / "out" / "resilience.json").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--worst-of", 3), "--worst-of = 3: no failure is simulated; add --worst-failure"),
        (("--worst-failure", "--worst-of", 0), "--worst-of = 0: must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused(
    tmp_path: Path, arguments: tuple[object, ...], said: str
) -> None:
    file = write(tmp_path / "small.toml", SMALL, CLOS)
    made = lightloom("compare", "--verbose", file, *arguments, "-o", "out", cwd=tmp_path)
    assert (made.returncode, made.stdout) == (2, "")
    assert said in made.stderr
    assert not (tmp_path / "out").exists()


def test_the_table_of_the_experiment_asks_for_it_and_its_prices_count_switches(
    tmp_path: Path,
) -> None:
    book = 'schema = 1\nextends = "sirius-2020"\nname = "small-boxes"\n'
    book += '[part.switch]\nports = 4\nrate = "100 Gb/s"\nsource = "x"\nyear = 2026\nprice = 1\n'
    (tmp_path / "boxes.toml").write_text(book, encoding="utf-8")
    table = '\n[decision]\nprices = "boxes.toml"\nworst_failure = true\n'
    file = write(tmp_path / "small.toml", SMALL, CLOS, "core_switches = 1\n", table)
    made = lightloom("compare", "--verbose", file, "--worst-of", 1, "-o", "out", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    saved = json.loads((tmp_path / "out" / "resilience.json").read_text(encoding="utf-8"))
    # 8 racks of 100 Gb/s in 4 pods: 200 Gb/s below and above an aggregation switch, 4 ports of a
    # box.
    aggregation, core = saved["fabrics"]["clos"]["switches"]
    book = "its bill at the prices of small-boxes"
    assert aggregation.startswith("aggregation switches: 1 a")
    assert aggregation.endswith(book)
    assert core.startswith("core switches: 1, ")
    assert (
        lightloom(
            "compare",
            "--verbose",
            file,
            "--set",
            "decision.worst_failure=false",
            "-o",
            "out",
            cwd=tmp_path,
        ).returncode
        == 0
    )
    assert not (tmp_path / "out" / "resilience.json").exists()
    assert ll.compare(file, worst_failure=False).resilience is None
    assert ll.compare(file).resilience.tries == 8


def test_the_page_for_print_says_what_is_kept(compared: tuple[str, Path]) -> None:
    from lightloom import report
    from lightloom.costs import book as books
    from lightloom.report import sheets

    comparison = ll.Comparison.load(compared[1])
    decided = report.decide([comparison], [books.load()])[0]
    said = report.broken(comparison)
    page = sheets.html([(reading.read([comparison])[0], decided, said)], [""], 9.5)
    assert "<h2>If one part fails</h2>" in page
    assert said.startswith("Kept of the load")
    assert escape(said) in page
    assert "If one part fails" not in sheets.html(
        [(reading.read([comparison])[0], decided, "")], [""], 9.5
    )


def test_the_documentation_shows_what_its_example_prints(tmp_path: Path) -> None:
    """Compares the table of docs/failures.md line by line."""
    root = Path(__file__).parents[2]
    shown = (root / "docs/failures.md").read_text(encoding="utf-8").split("```")[3].strip("\n")
    example = root / "examples/worst-failure.toml"
    made = lightloom("compare", "--verbose", example, "--worst-failure", "-o", "out", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    printed = [line.rstrip() for line in made.stdout.splitlines()]
    missing = [line for line in shown.splitlines() if line.rstrip() not in printed]
    assert not missing
