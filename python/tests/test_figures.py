"""Figures for papers are as wide as a column, legible, and have equal bytes each time."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

import matplotlib
import numpy as np
import pytest
from cli_support import CLOS, SIRIUS, SMALL, lightloom, write
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.markers import MarkerStyle
from pdf_support import words
from test_report_support import FOUR, Profile, make_comparison, make_hybrids, read

from lightloom import ConfigError, plotting
from lightloom.plotting import backend_matplotlib, files, style, styles
from lightloom.plotting.figures import draw_all
from lightloom.plotting.spec import Axis, Figure, Panel, Series

EIGHT = tuple(Profile(f"fabric number {i}", base_us=1.5 + i, queue=1e4 * 3**i) for i in range(8))
POINTS_PER_INCH = 72


@pytest.fixture(scope="module")
def column(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four fabrics in an ACM column."""
    out = tmp_path_factory.mktemp("figures")
    made = make_comparison(FOUR, loads=(0.1, 0.5, 1.0), n=3000)
    written = plotting.write([made], out, "acm-column")
    assert sorted(written) == sorted((out / "acm-column").iterdir())
    return out / "acm-column"


def test_a_column_has_a_file_for_each_panel(column: Path) -> None:
    names = {path.stem for path in column.iterdir()}
    assert names == {
        *("fct-distribution-short-flows", "fct-distribution-short-flows-tail"),
        *("fct-distribution-all-flows", "fct-distribution-all-flows-tail"),
        *("fct-by-size-median", "fct-by-size-99th-percentile"),
        *("by-load-short-flows-99th-percentile", "by-load-load-delivered"),
        *("queues-worst-node", "queues-all-nodes-together"),
        *("traffic-goodput", "traffic-link-utilisation"),
    }
    assert len(list(column.iterdir())) == 3 * len(names)


def test_every_file_is_as_wide_as_the_column(column: Path) -> None:
    wide = 3.33 * POINTS_PER_INCH
    for path in column.glob("*.svg"):
        assert ET.fromstring(path.read_bytes()).get("width") == f"{wide:g}pt"
        box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", path.with_suffix(".pdf").read_bytes())
        assert box is not None
        assert float(box[1]) == pytest.approx(wide)
        header = path.with_suffix(".png").read_bytes()[:24]
        assert int.from_bytes(header[16:20]) == round(3.33 * backend_matplotlib.PNG_DPI)


def test_letters_are_of_eight_points(column: Path) -> None:
    for path in column.glob("*.svg"):
        sizes = set(re.findall(r"(?:font:|font-size:)[^;\"]*?([\d.]+)px", path.read_text()))
        assert sizes
        assert min(float(size) for size in sizes) >= 8, path.name
        assert max(float(size) for size in sizes) <= 8.5, path.name


def test_no_file_says_when_or_by_whom_it_was_made(column: Path) -> None:
    for path in column.iterdir():
        content = path.read_bytes()
        for word in (b"CreationDate", b"ModDate", b"<dc:", b"Creator", b"tEXt", b"tIME"):
            assert word not in content, (path, word)
        assert b"/Type3" not in content  # publishers refuse fonts of this type


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("fct-by-size-median", "All flows: median"),
        ("fct-by-size-99th-percentile", "All flows: 99th percentile"),
        ("queues-worst-node", "Queue at the worst node"),
        ("queues-all-nodes-together", "Queues of all nodes together"),
        ("fct-distribution-short-flows-tail", "Short flows, tail"),
    ],
)
def test_a_panel_alone_says_what_it_shows(column: Path, name: str, title: str) -> None:
    assert title in words((column / f"{name}.pdf").read_bytes())
    assert f">{title}</text>" in (column / f"{name}.svg").read_text()


SCRIPT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_report_support import FOUR, make_comparison
from lightloom import plotting
for path in plotting.write([make_comparison(FOUR[:1], n=300)], Path(sys.argv[2]), "acm-column"):
    print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
"""


def test_the_same_comparison_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    said = []
    for number in ("1", "2"):
        command = [sys.executable, "-c", SCRIPT, Path(__file__).parent, tmp_path / number]
        done = subprocess.run(
            list(map(str, command)),
            env=os.environ | {"PYTHONHASHSEED": number},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        said.append(done.stdout)
    assert said[0] == said[1]
    assert said[0].count(".pdf ") >= 8


def test_fabrics_have_the_colours_of_the_page(column: Path) -> None:
    text = (column / "fct-distribution-all-flows-tail.svg").read_text()
    for slot in range(4):
        assert f"stroke: {style.LIGHT[slot]}" in text


def test_fabrics_are_told_apart_without_colour() -> None:
    (figure, *_) = draw_all(read(make_comparison(EIGHT, n=300)))
    looks = []
    canvas = backend_matplotlib.draw(figure, styles.STYLES["acm-column"])
    for line in canvas.axes[0].get_lines()[:8]:
        looks.append((line.get_marker(), line._unscaled_dash_pattern[1]))  # type: ignore[attr-defined]
    assert len({marker for marker, _ in looks}) == 8
    assert len({str(dash) for _, dash in looks}) == 8


@pytest.mark.parametrize("name", ["acm-column", "acm-text", "slide"])
def test_nothing_is_cut_off_and_no_labels_meet(name: str) -> None:
    sheet = plotting.find(name)
    long = Profile("a network whose name has forty letters..", "sirius", finished=0.9)
    workload = read(make_comparison([long, *EIGHT[:5]], loads=(0.1, 0.5), n=2000))
    drawn = (*draw_all(workload), *draw_all(read(make_hybrids())))
    for figure in drawn:
        for part in files.parts_of(figure, sheet.columns):
            legible(part, sheet)


def legible(part, sheet) -> None:
    """Checks that all texts are within the figure, and that those of an axis do not overlap."""
    with matplotlib.rc_context(backend_matplotlib.settings(sheet)):
        canvas = backend_matplotlib.draw(part, sheet)
        pen = FigureCanvasAgg(canvas)
        pen.draw()
    whole = canvas.bbox
    for axes in canvas.axes:
        for axis in (axes.xaxis, axes.yaxis):
            shown = [t for t in axis.get_ticklabels() if t.get_visible() and t.get_text()]
            boxes = [t.get_window_extent() for t in shown]
            for a, b in pairwise(boxes):
                assert not a.overlaps(b), (part.key, [t.get_text() for t in shown])
            for box in [*boxes, *[axis.label.get_window_extent()] * bool(axis.label.get_text())]:
                assert box.x0 >= whole.x0 - 1, part.key
                assert box.x1 <= whole.x1 + 1, part.key
                assert box.y0 >= whole.y0 - 1, part.key
                assert box.y1 <= whole.y1 + 1, part.key
        title = axes.get_window_extent()
        assert title.width > 0.3 * whole.width / sheet.across(part), part.key


def test_widths_are_those_of_the_templates() -> None:
    """\\columnwidth and \\textwidth of acmart (sigconf) and IEEEtran [pt of TeX]."""
    templates = {
        "acm-column": 241.14749,
        "acm-text": 506.295,
        "ieee-column": 252.0,
        "ieee-text": 516.0,
    }
    for name, points in templates.items():
        wide = styles.STYLES[name].width
        assert 0.99 * points / 72.27 < wide <= points / 72.27, name


def test_across_a_page_two_panels_stand_side_by_side() -> None:
    (_, figure, *_) = draw_all(read(make_comparison(FOUR, n=3000)))
    parts = list(files.parts_of(figure, 2))
    assert [p.key for p in parts] == [
        "fct-distribution-short-flows",
        "fct-distribution-all-flows",
    ]
    assert [len(p.panels) for p in parts] == [2, 2]


def test_panels_of_one_title_have_files_of_their_own() -> None:
    (_, figure, *_) = draw_all(read(make_comparison(FOUR, n=300)))
    same = replace(figure, panels=tuple(replace(p, title="Ω") for p in figure.panels))
    keys = [p.key for p in files.parts_of(same, 1)]
    assert keys == [f"fct-distribution-panel-{i}" for i in range(1, 5)]


def test_many_fabrics_have_a_panel_each_on_the_same_axes() -> None:
    made = {f.key: f for f in draw_all(read(make_comparison(EIGHT, n=300)))}
    assert {"queues", "queues-all", "traffic", "traffic-utilisation"} <= set(made)
    few = {f.key: f for f in draw_all(read(make_comparison(EIGHT[:4], n=300)))}
    for key in ("queues", "traffic"):
        panels = made[key].panels
        assert [p.title for p in panels] == [p.label for p in EIGHT]
        assert len({(p.x.limits, p.y.limits, p.y.scale) for p in panels}) == 1
        assert [len(p.series) for p in panels] == [1] * 8
        together = few[key].panels[0].series
        for alone, panel in zip(together, panels, strict=False):
            np.testing.assert_array_equal(alone.x, panel.series[0].x)
            # A logarithmic axis has no zero.
            known = np.isfinite(panel.series[0].y)
            np.testing.assert_array_equal(alone.y[known], panel.series[0].y[known])
            assert (alone.y[~known] == 0).all()
        top = max(float(np.nanmax(p.series[0].y)) for p in panels)
        assert panels[0].y.limits[1] >= top  # room for the largest value


def test_an_unknown_style_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mean acm-column"):
        plotting.write([make_comparison(n=30)], tmp_path, "acm")
    assert not list(tmp_path.iterdir())


# The command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--figures", "acm-colum", "-o", "out"),
            "error: --figures = acm-colum: no such style; did you mean acm-column? choose one of "
            "acm-column, acm-text, ieee-column, ieee-text, slide\n",
        ),
        (("--figures", "slide,", "-o", "out"), "error: --figures = : no such style; choose one"),
        (
            ("--figures", "slide", "--json"),
            "error: --figures = slide: --json alone writes nothing; add -o DIR\n",
        ),
    ],
)
def test_a_bad_style_is_refused_before_anything_runs(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    # This number of flows takes minutes.
    file = write(tmp_path / "x.toml", SMALL.replace("400", "40000000"), CLOS)
    done = lightloom("compare", file, *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    assert [p.name for p in tmp_path.iterdir()] == ["x.toml"]


def test_compare_draws_each_style_once_beside_the_report(tmp_path: Path) -> None:
    file = write(tmp_path / "x.toml", SMALL, SIRIUS, CLOS)
    done = lightloom(
        *("compare", file, "--figures", "slide, acm-column,slide", "-o", "out"), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()[-3:]
    assert lines[0].startswith("report: ")
    assert lines[1:] == ["figures: out/figures/slide", "figures: out/figures/acm-column"]
    made = tmp_path / "out" / "figures"
    kinds = {p.suffix for p in (made / "acm-column").iterdir()}
    assert kinds == {".svg", ".png", ".pdf"}
    assert (made / "fct-distribution.svg").exists()  # the figures of the page remain
    assert (made / "slide" / "fct-distribution-all-flows.pdf").exists()


@pytest.mark.parametrize("towards", ["up", "right"])
def test_a_bound_is_drawn_as_an_arrow(towards: Literal["up", "right"]) -> None:
    """The outline of the arrow is longer in its own direction, and its head is wider than its
    shaft, which is true of no letter."""
    series = Series("a", np.ones(1), np.ones(1), 0, drawn="dots", arrow=towards)
    axis = Axis("", "number", "linear", (0.0, 2.0))
    canvas = backend_matplotlib.draw(
        Figure("k", "Title", "", (Panel("Panel", axis, axis, (series,)),))
    )
    (line,) = (line for line in canvas.axes[0].lines if line.get_marker() not in ("", "None"))
    marker = MarkerStyle(line.get_marker())
    outline = marker.get_path().transformed(marker.get_transform()).vertices
    along, across = outline.T if towards == "right" else outline.T[::-1]
    assert np.ptp(along) > 2 * np.ptp(across)
    assert np.abs(across[along > 0]).max() > 2 * np.abs(across[along < 0]).max()
    assert across[along.argmax()] == pytest.approx(0.0)


@pytest.mark.filterwarnings("error")
def test_letters_that_the_font_lacks_are_drawn_without_warnings() -> None:
    """In an SVG they are letters, which a browser draws in another font."""
    lacking = "网络 शुभ"
    series = Series(lacking, np.arange(2.0), np.ones(2), 0)
    axis = Axis("x", "number", "linear", (0.0, 2.0))
    figure = Figure("k", "Title", "", (Panel(lacking, axis, axis, (series,)),))
    svg, png = backend_matplotlib.render(figure, "k")
    assert lacking in svg.decode()
    assert png.startswith(b"\x89PNG")
    assert set(files.render(figure, "k", styles.STYLES["slide"])) == {"svg", "png", "pdf"}
    with pytest.warns(UserWarning, match="other"), backend_matplotlib.drawing({}):
        warnings.warn("other", UserWarning, stacklevel=1)


def test_one_note_names_the_labels_with_boxes(tmp_path: Path) -> None:
    file = write(tmp_path / "x.toml", SMALL, SIRIUS, CLOS, 'label = "网络"\n')
    done = lightloom("compare", file, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Glyph" not in done.stderr
    notes = [line for line in done.stdout.splitlines() if "boxes" in line]
    assert len(notes) == 1
    assert "网络: DejaVu Sans lacks" in notes[0]
    assert backend_matplotlib.with_lacking_letters(["sirius", "µ → é", "शुभ"]) == ["शुभ"]
