"""The decision page in the report, in the terminal, as JSON and as PDF."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from browser_support import CHROMIUM, PHONE, WIDE, chromium, visiting
from cli_support import CLOS, ROOT, SMALL, lightloom, write

import lightloom as package
from lightloom import report
from lightloom.analysis import reading
from lightloom.analysis.naming import Prose
from lightloom.analysis.ranking import Score
from lightloom.analysis.verdicts.criteria import SHORT
from lightloom.cli import pdf
from lightloom.costs import book as books
from lightloom.costs import wording
from lightloom.report import sheets
from lightloom.report.decisions.read import Read
from lightloom.results.result import Comparison

PRICED = '\n[decision]\nprices = "sirius-2020"\n'
SIRIUS = '\n[[fabric]]\nkind = "sirius"\nuplinks = 4\n'
OPERA = '\n[[fabric]]\nkind = "opera"\n'


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison of three fabrics with prices."""
    folder = tmp_path_factory.mktemp("decision")
    path = write(folder / "e.toml", SMALL, PRICED, SIRIUS, CLOS, OPERA)
    done = lightloom("compare", "--verbose", path, "-o", "out", cwd=folder, COLUMNS="100")
    assert done.returncode == 0, done.stderr
    (folder / "printed.txt").write_text(done.stdout)
    return folder


def squeezed(text: str) -> str:
    return " ".join(text.split())


def test_the_sentence_is_on_the_page_in_the_terminal_and_beside_the_results(made: Path) -> None:
    told = json.loads((made / "out/decision.json").read_text())
    page = (made / "out/report.html").read_text()
    printed = squeezed((made / "printed.txt").read_text())
    prose = Prose({"fabric": [{"kind": kind} for kind in ("sirius", "clos", "opera")]})
    assert f">{prose(told['title'])}</h1>" in page
    assert prose(told["sentence"]) in page
    assert page.index('class="decision"') < page.index('class="facts"')
    for text in (told["title"], told["sentence"], *told["facts"], *told["overturned"]):
        assert squeezed(prose(text)) in printed, text


def test_what_it_says_is_what_the_bills_say(made: Path) -> None:
    """Capital of the bill ÷ bandwidth ÷ goodput, computed by hand from the files."""
    costs = json.loads((made / "out/costs.json").read_text())
    told = json.loads((made / "out/decision.json").read_text())
    summaries = json.loads((made / "out/comparison.json").read_text())
    each = {}
    for label, found in costs["fabrics"].items():
        if found["capital"] is None:
            continue
        goodput = summaries[label]["goodput_normalized"]
        each[label] = [end / found["server_gbps"] / goodput for end in found["capital"]]
        assert found["per_delivered_gbps"] == pytest.approx(each[label])
    assert set(each) == {"sirius", "clos"}
    (leader,) = told["leaders"]
    assert each[leader][1] < min(low for label, (low, _) in each.items() if label != leader)


def test_a_part_without_a_price_is_named_below_the_chart(made: Path) -> None:
    page = (made / "out/report.html").read_text()
    assert "price for a rotor switch." in page
    assert "the chart: opera: " in page
    assert "? </summary>" not in page
    assert re.search(r"Parts of opera: \$[\d.,]+( k)? \+ \?</summary>", page)


def test_every_line_of_the_bills_is_there_with_its_source(made: Path) -> None:
    costs = json.loads((made / "out/costs.json").read_text())
    page = (made / "out/report.html").read_text()
    for row in costs["bill"]:
        assert f"<td>{row['part']}</td>" in page
        assert row["formula"].replace("'", "&#39;") in page
    assert "Sirius, SIGCOMM 2020, §5, fitted</td>" in page


def test_the_columns_of_the_terminal_fit_100(made: Path) -> None:
    lines = (made / "printed.txt").read_text().splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("fabric "))
    assert lines[head].split()[-2:] == ["Gb/s", "Tb/s"]
    rows = lines[head + 1 : head + 4]
    assert [row.split()[0] for row in rows] == ["sirius", "clos", "opera"]
    assert all(len(line) <= 100 for line in lines[head - 2 : head + 4])
    assert rows[2].split()[-2:] == ["-", "-"]


def test_json_has_the_costs_of_each_fabric(made: Path) -> None:
    done = lightloom("compare", made / "e.toml", "--json", cwd=made)
    found = json.loads(done.stdout)
    assert list(found) == ["sirius", "clos", "opera"]
    costs = json.loads((made / "out/costs.json").read_text())["fabrics"]
    assert found["clos"]["cost"]["capital"] == costs["clos"]["capital"]
    # A Clos network of two tiers is sufficient for eight racks.
    assert [x for x in found if found[x]["cost"]["cheapest"]] == ["clos"]
    assert found["opera"]["cost"]["capital"] is None
    assert found["opera"]["cost"]["unpriced"] == "rotor-switch"


def test_python_decides_as_the_command_does(made: Path) -> None:
    loaded = Comparison.load(made / "out")
    (own,) = report.decide([loaded])
    assert own is not None
    assert own.to_json() == json.loads((made / "out/decision.json").read_text())
    (dear,) = report.decide([loaded], [books.load("cthrough-2010")])
    assert dear is not None
    assert dear.title.startswith("clos costs least")
    assert dear.title.endswith("those with prices")
    assert [line.partition(":")[0] for line in dear.unpriced] == ["sirius", "opera"]
    (nothing,) = report.decide([package.compare(made / "e.toml")], [None])
    assert nothing is None


def test_without_prices_the_report_is_as_it_was(made: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    done = lightloom("compare", "--verbose", path, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0
    assert 'class="decision"' not in (tmp_path / "out/report.html").read_text()
    assert not (tmp_path / "out/decision.json").exists()


# PDF


def test_pdf_alone_means_beside_the_report() -> None:
    assert pdf.with_file(["a.toml", "--pdf", "-o", "out"]) == ["a.toml", "--pdf", "", "-o", "out"]
    assert pdf.with_file(["--pdf", "b.PDF", "a.toml"]) == ["--pdf", "b.PDF", "a.toml"]


@pytest.mark.parametrize(
    ("parts", "arguments", "path", "words"),
    [
        ((PRICED,), ("--pdf",), "/nowhere", "none of chromium, chromium-browser, google-chrome"),
        ((), ("--pdf",), None, "add --prices BOOK, or a [decision] table"),
        ((PRICED,), ("--pdf", "--json"), None, "--pdf decision.pdf"),
        ((PRICED,), ("--pdf", "lost/a.pdf"), None, "there is no folder lost"),
    ],
)
def test_pdf_is_refused_before_anything_runs(
    tmp_path: Path, parts: tuple[str, ...], arguments: tuple[str, ...], path: str | None, words: str
) -> None:
    experiment = write(tmp_path / "e.toml", SMALL, *parts, CLOS)
    changes = {} if path is None else {"PATH": path}
    out = () if "--json" in arguments else ("-o", "out")
    done = lightloom("compare", "--verbose", experiment, *arguments, *out, cwd=tmp_path, **changes)
    assert done.returncode == 2
    assert words in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["e.toml"]


@pytest.mark.skipif(CHROMIUM is None, reason="no browser")
def test_the_pdf_has_one_page_a_comparison(made: Path, tmp_path: Path) -> None:
    loaded = Comparison.load(made / "out")
    for several in ([loaded], [loaded, loaded]):
        decided = report.decide(several)
        path = sheets.write(reading.read(several), decided, tmp_path / "d.pdf", sheets.browser())
        found = path.read_bytes()
        assert found.startswith(b"%PDF")
        assert sheets.count_pages(found) == len(several)
        boxes = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", found)
        assert {(round(float(w)), round(float(h))) for w, h in boxes} == {(595, 842)}


def test_pages_are_counted_and_not_their_tree() -> None:
    assert (
        sheets.count_pages(b"<</Type /Pages /Count 2>> <</Type /Page\n>> <</Type/Page/X 1>>") == 2
    )


# In a browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as there:
        yield there


@pytest.mark.parametrize("width", [WIDE, PHONE])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_page_fits_and_nothing_goes_wrong(
    browser: Any, made: Path, width: int, theme: str
) -> None:
    with visiting(browser, width, theme) as visit:
        visit.go(made / "out/report.html")
        for bill in visit.page.locator("details.bill summary").all():
            bill.click()
        assert visit.page.locator("details.bill[open]").count() == 3
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.page.locator(".decision .plot .scatterlayer .text").count() > 0  # stars
        assert visit.errors == []
        assert visit.requests == []
        assert visit.violations() == []


def test_what_lies_to_the_right_of_a_table_fades(browser: Any, made: Path) -> None:
    """Regression: on a phone, a column was cut at the edge as if it were the last."""
    fades = "(box) => getComputedStyle(box).maskImage !== 'none'"
    with visiting(browser, PHONE) as visit:
        visit.go(made / "out/report.html")
        table = visit.page.locator(".across.purchases")
        assert table.evaluate(fades)
        table.evaluate("(box) => box.scrollTo(box.scrollWidth, 0)")
        table.evaluate("() => new Promise((done) => setTimeout(done, 500))")
        assert not table.evaluate(fades)
    with visiting(browser, WIDE) as visit:
        visit.go(made / "out/report.html")
        assert not visit.page.locator(".across.purchases").evaluate(fades)


def test_examples_of_the_documentation_cost_what_papers_say() -> None:
    """HydRA's Table I: $16.696 M + 32 × $0.630 M; the tree counts a cable for each server, where
    the paper has half: $58.765 M + 5,120 × $28."""
    done = lightloom("cost", "examples/hydra-cost.toml", "--bill", "all", "--json", cwd=ROOT)
    found = json.loads(done.stdout)["fabrics"]
    assert found["hydra"]["capital"] == [16_696_320 + 32 * 630_000] * 2
    assert found["tree"]["capital"] == [58_764_800 + 5_120 * 28] * 2
    done = lightloom("cost", "examples/hydra-cost.toml", "--bill", "all", cwd=ROOT)
    assert "of hydra: $36.86 M" in done.stdout
    assert "of tree: $58.91 M" in done.stdout
    assert done.stdout.count("server-transceiver") >= 3


def test_one_command_counts_by_every_reading() -> None:
    done = lightloom("cost", "examples/datacenter-4000-racks.toml", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    for letter in "AFGH":
        assert f"clos by reading {letter}" in done.stdout
    rows = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("ESN ")]
    assert len(rows) == 10
    assert "$377.2 M" in done.stdout
    as_json = lightloom("cost", "examples/datacenter-4000-racks.toml", "--json", cwd=ROOT)
    assert [r["reading"] for r in json.loads(as_json.stdout)["readings"]] == [*"AFGH"]


def test_intervals_that_overlap_put_nobody_behind_whose_middle_is_better() -> None:
    """29 us ± 36 us is level with 4 us ± 1 us, and no reason to exclude the latter."""
    noisy, sound, same = (
        Score(None, value, low, high)  # type: ignore[arg-type]
        for value, low, high in ((29.0, -7.0, 65.0), (4.0, 3.0, 5.0), (4.1, 3.1, 5.1))
    )
    scores = {"noisy": noisy, "sound": sound, "same": same}
    # 10 us ± 2 us is level with 8 us ± 1 us, which costs more and has no star.
    scores |= {
        "cheap": Score(None, 10.0, 8.0, 12.0),  # type: ignore[arg-type]
        "dear": Score(None, 8.0, 7.0, 9.0),  # type: ignore[arg-type]
    }
    made = Read(None, None, (), SHORT, scores)  # type: ignore[arg-type]
    assert made.standing("cheap", "dear") == made.standing("dear", "cheap") == 0
    assert made.standing("noisy", "sound") == -1
    assert made.standing("sound", "noisy") == 0
    assert made.standing("same", "sound") == made.standing("sound", "same") == 0
    assert made.standing("sound", "sound") == 0


def test_a_fabric_that_is_level_and_takes_more_of_all_is_not_on_the_front() -> None:
    """4.4 us ± 0.5 us is level with 4 us ± 0.5 us, although its mean is a tenth higher: the more
    expensive of the two is behind, whichever has the better mean. The true value of a bound can be
    any higher value."""
    level, first = Score(None, 4.4, 3.9, 4.9), Score(None, 4.0, 3.5, 4.5)  # type: ignore[arg-type]
    open_ = Score(None, 4.0, 3.5, math.inf, open=True)  # type: ignore[arg-type]
    scores = {"level": level, "first": first, "open": open_}
    made = Read(None, None, (), SHORT, scores)  # type: ignore[arg-type]
    assert made.standing("level", "first") == made.standing("first", "level") == 0
    assert made.standing("open", "first") == -1


def amounts_of(page: str) -> list[str]:
    """Returns all amounts of the decision's section, its tables and bills: a number, and its unit
    prefix, if any."""
    section = page[page.index('class="decision"') :]
    text = re.sub(
        r"<(script|style|noscript|svg).*?</\1>",
        " ",
        section[: section.index("</section>")],
        flags=re.S,
    )
    cells = re.findall(r"<td>([^<]*)</td>|<p[^>]*>([^<]*)</p>|<li>([^<]*)</li>", text)
    return [
        found.group()
        for cell in cells
        for found in re.finditer(r"[$][\d.,]*\d( [kMG]\b)?|[\d.,]*\d [kMG]?W\b", "".join(cell))
    ]


def test_all_amounts_of_the_page_are_in_one_form(made: Path) -> None:
    """Amounts have three digits; below 100,000 they are written in full, and above with a unit
    prefix."""
    found = amounts_of((made / "out/report.html").read_text())
    assert len(found) > 40
    for text in found:
        number, _, step = text.removeprefix("$").partition(" ")
        figures = number.replace(",", "").replace(".", "").strip("0")
        assert len(figures) <= 3, text
        value = float(number.replace(",", ""))
        if step in ("", "W"):
            assert value < 100_000, text
            grouped = f"{int(value):,}" if value >= 1000 else number
            assert number == grouped, text
        else:
            assert value >= (100 if step.startswith("k") else 1), text
    assert any(text.startswith("$") and "," in text for text in found)


@pytest.mark.parametrize(
    ("number", "shown", "wide"),
    [
        ("0", "0", "0"),
        ("0.0625", "0.0625", "0.0625"),
        ("999.6", "1,000", "999.6"),
        ("1310", "1,310", "1,310"),
        ("95550", "95,600", "95,550"),
        ("99960", "100 k", "99,960"),
        ("377210000", "377 M", "377.2 M"),
    ],
)
def test_an_amount_has_one_form_in_sentences_and_tables(number: str, shown: str, wide: str) -> None:
    exact = Fraction(number)
    assert wording.digits(exact) == shown
    assert wording.amount(exact) == wide


# Unfinished jobs


UNFINISHED = """
[cluster]
racks = 4
servers_per_rack = 2
server_rate = "10 Gb/s"
[workload]
schedule = "in-sequence"
jobs = [
  { kind = "all-to-all-collective", name = "a", exchange = "pairwise", bytes = "1 MB" },
  { kind = "all-to-all-collective", name = "b", exchange = "pairwise", bytes = "8 MB" },
]
[run]
limit = "12 ms"
[decision]
prices = "sirius-2020"
[[fabric]]
kind = "tree"
label = "full"
[[fabric]]
kind = "tree"
label = "half"
oversubscription = 1.2
[[fabric]]
kind = "tree"
label = "tenth"
oversubscription = 10
[[fabric]]
kind = "hybrid"
label = "mirrors that a policy changes each second"
preset = "mesh"
interval = "1 s"
"""


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two fabrics that finish both jobs, one that finishes one job, and one that finishes none and
    has no total. For a job of n bytes, servers send 7 × n ÷ 8 bytes to the seven others, at 10
    Gb/s."""
    folder = tmp_path_factory.mktemp("unfinished")
    path = write(folder / "e.toml", UNFINISHED)
    done = lightloom("compare", path, "-o", "out", cwd=folder, COLUMNS="100")
    assert done.returncode == 0, done.stderr
    (folder / "printed.txt").write_text(done.stdout)
    return folder


MIRRORS = "mirrors that a policy changes each second"


def test_fabrics_that_left_jobs_unfinished_and_those_without_a_total_are_named(
    unfinished: Path,
) -> None:
    told = json.loads((unfinished / "out/decision.json").read_text())
    assert "of those with prices" in told["title"]
    sentence = told["sentence"]
    assert "tenth (finished 1 of 2" in sentence
    assert f"{MIRRORS} (finished 0 of" in sentence
    assert f"{MIRRORS} has no total" in sentence
    rows = (unfinished / "printed.txt").read_text().splitlines()
    marked = [row.split() for row in rows if re.search(r"\(\S+\) +\(\S+\)$", row)]
    # $34.75 ÷ 160 Gb/s ÷ a goodput of 0.141
    assert [(row[0], *row[-2:]) for row in marked] == [("tenth", "(3.08)", "(201)")]
    page = (unfinished / "out/report.html").read_text()
    assert re.findall(r"([\w ]+)</th><td>(\d of 2 jobs)", page)[0] == (" tenth", "1 of 2 jobs")
    assert page.count(", not ranked</td>") == 2  # dollars and watts, only of `tenth`


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_all_columns_of_unfinished_jobs_are_within_reach(
    browser: Any, unfinished: Path, width: int
) -> None:
    """At 1,200 px no column of the decision is cut off; on a phone only its table scrolls."""
    with visiting(browser, width) as visit:
        visit.go(unfinished / "out/report.html")
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        table = visit.page.locator(".across.purchases")
        hidden = table.evaluate("(box) => box.scrollWidth - box.clientWidth")
        assert (hidden > 0) == (width == PHONE)
        assert (visit.errors, visit.violations()) == ([], [])


def test_the_tornado_names_what_it_leaves_out(tmp_path: Path) -> None:
    path = write(tmp_path / "e.toml", SMALL, PRICED, SIRIUS, CLOS, OPERA)
    done = lightloom("cost", path, "--tornado", "t.svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "t.svg leaves out opera" in done.stdout
    assert "price of rotor-switch)" in done.stdout
    assert "opera" not in (tmp_path / "t.svg").read_text()
