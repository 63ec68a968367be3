"""The report of a sweep: its figures equal those of the points, and a browser shows them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_support import PHONE, WIDE, chromium, visiting
from cli_support import CLOS, SIRIUS, SMALL, command, lightloom, write
from scipy import stats

from lightloom import ConfigError, compare, load, sweep
from lightloom.report import sweeps as pages
from lightloom.results.verification import verify
from lightloom.simulation import forecasts
from lightloom.sweep.run import longest_first

SWEEP = """
base = "e.toml"
repeat = 3
[grid]
"workload.load" = [0.2, 0.4]
"fabric.sirius.queue" = [2, 4]
"workload.sizes" = ["rpc", { kind = "fixed", size = "2 KB" }]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sweep")
    write(folder / "e.toml", SMALL, SIRIUS, CLOS)
    write(folder / "s.toml", SWEEP)
    done = lightloom("sweep", "s.toml", "-o", "out", "--set", "workload.flows=150", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "report: out/report.html" in done.stdout
    return folder / "out"


def documents(out: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((out / "sweep.json").read_text())["points"]
    return found


def cells(out: Path) -> list[pages.Cell]:
    return pages.gathered([(p["grid"], p["fabric"], p["summary"]) for p in documents(out)])


def test_set_holds_in_every_point(made: Path) -> None:
    assert {p["summary"]["flows_offered"] <= 150 for p in documents(made)} == {True}
    assert json.loads((made / "sweep.json").read_text())["set"] == ["workload.flows=150"]


def test_a_key_that_is_swept_cannot_be_set(tmp_path: Path) -> None:
    write(tmp_path / "e.toml", SMALL, SIRIUS, CLOS)
    study = sweep.read(write(tmp_path / "s.toml", SWEEP))
    study = study.model_copy(update={"set": ["workload.load=0.3"]})
    with pytest.raises(ConfigError, match=r"--set = workload.load=0.3: \[grid\]"):
        sweep.expand(study)


def test_points_are_means_with_students_intervals(made: Path) -> None:
    """Compares with SciPy, from the summaries of the points."""
    for cell in cells(made):
        mine = [
            p["summary"]["load_delivered"]
            for p in documents(made)
            if p["fabric"] == cell.fabric and p["grid"] == cell.values
        ]
        assert len(mine) == 3
        found = cell.figure(pages.LOAD)
        assert found is not None
        low, high = stats.t.interval(0.95, 2, np.mean(mine), stats.sem(mine))
        assert found.low == pytest.approx(low)
        assert found.high == pytest.approx(high)


def test_there_is_a_figure_over_every_swept_axis(made: Path) -> None:
    each = cells(made)
    assert len(each) == 2 * 2 * 2 * 2
    keys = ["workload.load", "fabric.sirius.queue", "workload.sizes"]
    assert pages.axes(each) == keys
    slots: dict[str, int] = {}
    metrics = pages.shown(each)
    figures = [pages.over(key, each, metrics, slots) for key in keys]
    assert [f.title for f in figures if f is not None] == [f"Over {key}" for key in keys]
    first, _, last = figures
    assert first is not None
    assert last is not None
    # Eight lines: two fabrics for two values of each of two other keys.
    panel = first.panels[0]
    assert len(panel.series) == 8
    for series in panel.series:
        assert list(series.x) == [0.2, 0.4]
        assert series.error is not None
    assert last.panels[0].x.names == ("rpc", "fixed 2 KB")
    # A label has the same style in all figures, and no two labels have the same style.
    looks = {(s.label, s.slot) for f in (first, last) for p in f.panels for s in p.series}
    assert len({label for label, _ in looks}) == len({slot for _, slot in looks}) == len(looks)


def test_too_many_lines_are_held_at_the_first_values(made: Path) -> None:
    each = cells(made)
    more = [
        pages.Cell({**cell.values, "more": n}, cell.fabric, cell.summaries)
        for cell in each
        for n in range(3)
    ]
    found = pages.over("workload.load", more, [pages.LOAD], {})
    assert found is not None
    assert [s.label for s in found.panels[0].series] == ["sirius", "clos"]
    assert "first values: queue = 2, sizes = rpc, more = 0." in found.caption


def test_points_that_failed_are_counted(made: Path, tmp_path: Path) -> None:
    points = [(p["grid"], p["fabric"], p["summary"]) for p in documents(made)]
    lost = [(grid, fabric, None) for grid, fabric, _ in points[:1]] + points[1:]
    page = pages.build("<b>", pages.gathered(lost), tmp_path).read_text()
    assert "47, and 1 that" in page
    assert '<th scope="col">Failed</th>' in page
    assert "<b>: sweep" not in page
    pages.build("none", pages.gathered([(g, f, None) for g, f, _ in points]), tmp_path)


@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_the_page_in_a_browser(width: int, made: Path) -> None:
    with chromium() as browser, visiting(browser, width) as visit:
        visit.go(made / "report.html")
        assert (visit.errors, visit.requests) == ([], [])
        assert visit.violations() == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert visit.page.locator("figure[data-figure]").count() == 3
        assert visit.page.locator("tbody tr").count() == 16
        bars = "document.querySelectorAll('.errorbars path, .errorbar').length"
        assert visit.page.evaluate(bars) > 0


def test_what_takes_longest_begins_first_and_is_foretold(tmp_path: Path) -> None:
    """The forecast of points follows their work, and there is no trial for each seed."""
    base = load(write(tmp_path / "e.toml", SMALL, CLOS))
    sizes = [2_000, 200_000, 20_000]
    points = [
        (base.with_overrides([f"workload.flows={n}", f"run.seed={seed}"]), "clos")
        for n in sizes
        for seed in (1, 2)
    ]
    each = forecasts.of_points(points)
    assert [each[2 * i] == each[2 * i + 1] for i in range(3)] == [True] * 3
    assert longest_first([one.seconds for one in each]) == [2, 3, 4, 5, 0, 1]
    together = forecasts.one_by_one(each)
    assert together.memory_at_once(2) == 2 * each[2].memory_bytes
    assert together.memory_at_once(3) == 2 * each[2].memory_bytes + each[4].memory_bytes
    assert together.wall_s(1) == pytest.approx(sum(one.seconds for one in each))
    assert together.wall_s(2) == pytest.approx(sum(one.seconds for one in each[::2]))


def test_a_dry_run_tells_the_points_and_the_longest(made: Path) -> None:
    folder = made.parent
    done = lightloom("sweep", "s.toml", "-o", "out", "--dry-run", "--workers", "4", cwd=folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("estimate: 48 simulations; ")
    assert "4 side by side" in lines[0]
    assert lines[2] == "48 points"
    assert lines[3].startswith("longest point: ")
    assert all("B of memory" in line for line in (lines[0], lines[3]))
    again = ("--set", "workload.flows=150", "--resume", "--dry-run")
    done = lightloom("sweep", "s.toml", "-o", "out", *again, cwd=folder)
    assert "48 points, 48 there" in done.stdout


def test_a_reader_that_goes_away_takes_no_page_along(made: Path) -> None:
    """`sweep … --resume | head -2`: all files are complete before anything is printed."""
    before = {p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file()}
    ours, theirs = os.pipe()
    os.close(ours)
    words = ("sweep", "s.toml", "-o", "out", "--set", "workload.flows=150", "--resume")
    with os.fdopen(theirs, "wb") as closed:
        done = subprocess.run(
            command(*words), cwd=made.parent, stdout=closed, stderr=subprocess.PIPE,
            timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode != 0  # otherwise it printed nothing that could be lost
    assert {p.relative_to(made).as_posix() for p in made.rglob("*") if p.is_file()} == before
    listed = json.loads((made / "record.json").read_text())["files"]
    assert {"report.html", "figures/over-workload-load.svg", "sweep.json"} <= set(listed)
    assert all(verdict.whole for verdict in verify(made))


def test_the_load_drawn_is_told_and_a_windows_figures_are_those_shown() -> None:
    whole = {"load_offered": 0.37, "load_delivered": 0.36, "goodput_normalized": 0.3}
    window = {**whole, "window": {"accepted": 0.35, "mean_us": 2.0, "p99_us": 5.0}}
    runs = [pages.Cell({"a": n}, "clos", [whole]) for n in (1, 2)]
    assert pages.shown(runs) == [pages.LOAD]
    windows = [pages.Cell({"a": n}, "clos", [window]) for n in (1, 2)]
    assert pages.shown(windows) == list(pages.WINDOW[:3])
    page = pages.render("x", runs, pages.shown(runs), [])
    assert '<th scope="col">Offered load (actual)</th><th scope="col">Load delivered</th>' in page
    assert page.count("<td>37.0\u00a0%<") == 2


SATURATED = """
[cluster]
racks = 4
servers_per_rack = 4
server_rate = "10 Gb/s"
[workload]
load = 0.1
sizes = { kind = "fixed", size = "20 KB" }
[[fabric]]
kind = "clos"
label = "full"
[[fabric]]
kind = "clos"
label = "quarter"
oversubscription = 4
oversubscription_at = "rack"
"""
GRID = 'base = "e.toml"\n[grid]\n"workload.load" = [0.1, 0.6]\n'


@pytest.fixture(scope="module")
def saturated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """A sweep of a Clos 4:1, whose racks send other racks at most a quarter of their servers' rate,
    and its printed lines."""
    folder = tmp_path_factory.mktemp("saturated")
    write(folder / "e.toml", SATURATED)
    write(folder / "s.toml", GRID)
    done = lightloom("sweep", "s.toml", "-o", "out", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "out", done.stdout.splitlines()


def test_a_sweep_prints_the_figures_of_its_windows(saturated: tuple[Path, list[str]]) -> None:
    """Bounds occur only at the load that is not carried, which has a mark."""
    out, lines = saturated
    rows = [line for line in lines if line.split()[:1] in (["0.1"], ["0.6"])]
    assert [row.split()[:2] for row in rows] == [
        [load, fabric] for load in ("0.1", "0.6") for fabric in ("full", "quarter")
    ]
    assert [("*" in row, ">" in row) for row in rows] == [(False, False)] * 3 + [(True, True)]
    assert any(line.startswith("* not carried") for line in lines)
    for row, point in zip(rows, documents(out), strict=True):
        assert row.split()[2] == f"{point['summary']['window']['accepted']:.3f}"


def test_the_page_marks_a_load_that_is_not_carried(saturated: tuple[Path, list[str]]) -> None:
    """At an offered load of 0.6, 3 of 15 destinations are in the same rack, and this traffic is
    carried. Of the rest, a quarter of the servers' rate is carried: 0.12 + 0.25."""
    each = cells(saturated[0])
    assert [cell.carriage for cell in each] == ["carried"] * 3 + ["short"]
    accepted = each[3].figure(pages.ACCEPTED)
    assert accepted is not None
    assert accepted.mean == pytest.approx(0.6 * 3 / 15 + 0.25, rel=0.1)
    found = pages.over("workload.load", each, pages.shown(each), {})
    assert found is not None
    assert "known to be carried" in found.caption
    by_title = {panel.title: panel for panel in found.panels}
    hollow = {s.label: s.hollow for s in by_title["Accepted in the window"].series}
    assert hollow == {"full": (), "quarter": (False, True)}
    arrows = {(s.label, *s.x) for s in by_title["Latency in the window, mean"].series if s.arrow}
    assert arrows == {("quarter", 0.6)}
    page = (saturated[0] / "report.html").read_text(encoding="utf-8")
    assert page.count('<span class="which">') >= 1
    assert "not carried</span>" in page


def test_a_load_that_all_fabrics_carry_has_no_marks(saturated: tuple[Path, list[str]]) -> None:
    each = [cell for cell in cells(saturated[0]) if cell.values["workload.load"] == 0.1]
    found = pages.over("workload.load", each, pages.shown(each), {})
    assert found is not None
    assert found.caption == pages.CAPTION


JOBS = """
[cluster]
racks = 8
servers_per_rack = 2
server_rate = "10 Gb/s"
[workload]
jobs = [
  { kind = "all-reduce", name = "a.b", algorithm = "ring", bytes = "1 MB", hosts = 16 },
  { kind = "all-to-all-collective", name = "f", bytes = "1 MB", hosts = 16 },
]
[[fabric]]
kind = "clos"
racks_per_pod = 2
"""


@pytest.mark.parametrize("limit", [None, "3 ms"])
def test_times_of_jobs_are_those_of_compare(limit: str | None, tmp_path: Path) -> None:
    """At 16:1 the first job takes more than 3 ms, and at 2:1 both take less."""
    write(tmp_path / "e.toml", JOBS)
    ratios = [2, 16]
    write(
        tmp_path / "s.toml",
        f'base = "e.toml"\nrepeat = 2\n[grid]\n"fabric.clos.oversubscription" = {ratios}\n',
    )
    ended = [] if limit is None else ["--set", f'run.limit="{limit}"']
    done = lightloom("sweep", "s.toml", "-o", "out", *ended, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    gathered = cells(tmp_path / "out")
    metrics = [m for m in pages.shown(gathered) if m.job]
    assert [m.job for m in metrics] == ["a.b", "f"]
    page = (tmp_path / "out/report.html").read_text()
    for ratio, cell in zip(ratios, gathered, strict=True):
        alone = alone_at(tmp_path / "e.toml", ratio, limit)
        row = next(line for line in done.stdout.splitlines() if line.startswith(f"{ratio}, clos"))
        times = [alone["jobs"][metric.job]["seconds"] for metric in metrics]
        found = [cell.figure(metric) for metric in metrics]
        assert [one.mean if one else None for one in found] == times
        shown = [f"{1e3 * one:.2f} ms" for one in times if one is not None]
        assert all(text in row for text in shown)
        assert ("not begun" in row or "unfinished" in row) == (None in times)
    assert ("<td>unfinished" in page) == (limit is not None)


def alone_at(path: Path, ratio: int, limit: str | None) -> dict[str, Any]:
    """Returns the summary of the fabric by `compare`, at this ratio."""
    ended = [] if limit is None else [f'run.limit="{limit}"']
    made = load(path).with_overrides([f"fabric.clos.oversubscription={ratio}", *ended])
    return dict(compare(made).results["clos"].summary)
