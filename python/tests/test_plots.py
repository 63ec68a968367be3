"""Figures of matplotlib: the data of their lines and cells, and that no figure stays open."""

from __future__ import annotations

import gc
import io
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from pdf_support import words
from view_support import one_seed, three_seeds, took

import lightloom
from lightloom import ConfigError, control
from lightloom.plotting import STYLES
from lightloom.results.result import Comparison

#: Few enough that no rank is thinned out.
TIMES = st.lists(st.none() | st.integers(1, 10**9), min_size=1, max_size=30)
SLACK = 1e-12
"""Rounding of a product of floats; times that are a picosecond apart differ by more."""
EXACTLY: dict[str, float] = {"rel": SLACK, "abs": 0}
SMALL = np.array([[0, 9, 1, 0], [9, 0, 0, 2], [1, 0, 0, 7], [0, 2, 7, 0]])


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return one_seed()


@pytest.fixture(scope="module")
def repeated() -> Comparison:
    return three_seeds()


def curves(axes: Axes) -> list[Line2D]:
    """Returns the curves of fabrics, without arrows at their ends and without rules."""
    return [
        line
        for line in axes.lines
        if line.get_linestyle() != "None" and line.get_marker() not in ("", "None")
    ]


def columns(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def seconds(times_ps: list[int | None]) -> np.ndarray:
    """Returns times in seconds; infinite for unfinished flows."""
    return np.array([np.inf if t is None else t * 1e-12 for t in times_ps])


@settings(deadline=None, max_examples=60)
@given(TIMES)
def test_a_ccdf_is_the_share_that_took_at_least_as_long(times_ps: list[int | None]) -> None:
    result, fct = took("x", times_ps), seconds(times_ps)
    if not np.isfinite(fct).any():
        with pytest.raises(ConfigError, match=r"plot\.fct_ccdf = x: "):
            result.plot.fct_ccdf()
        return
    (axes,) = result.plot.fct_ccdf().axes
    x, y = columns(curves(axes)[0])
    # The fastest 1 % may be left of the figure; of 30 flows this is none.
    assert x == pytest.approx(np.unique(fct[np.isfinite(fct)]), **EXACTLY)
    assert y == pytest.approx([np.mean(fct >= t * (1 - SLACK)) for t in x])
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


@settings(deadline=None, max_examples=60)
@given(TIMES, TIMES)
def test_a_cdf_is_the_share_that_took_no_longer(
    one: list[int | None], other: list[int | None]
) -> None:
    made = Comparison("two", {}, {"a": took("a", one), "b": took("b", other)})
    finished = [fct for t in (one, other) if np.isfinite(fct := seconds(t)).any()]
    if not finished:
        return
    (axes,) = made.plot.fct_cdf().axes
    drawn = curves(axes)
    assert len(drawn) == len(finished)
    first = min(float(fct.min()) for fct in finished)
    for line, fct in zip(drawn, finished, strict=True):
        x, y = columns(line)
        assert np.unique(x) == pytest.approx(np.unique(fct[np.isfinite(fct)]), **EXACTLY)
        for t in np.unique(x):
            assert y[x == t].max() == pytest.approx(np.mean(fct <= t * (1 + SLACK)))
        assert (x >= first * (1 - SLACK)).all()


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(500, 3000))
def test_points_of_thinned_curves_lie_on_the_distribution(seed: int, flows: int) -> None:
    fct = np.random.default_rng(seed).lognormal(14, 2, flows).astype(np.int64) + 1
    result, taken = took("x", fct.tolist()), fct * 1e-12
    x, y = columns(curves(result.plot.fct_ccdf().axes[0])[0])
    assert 100 < x.size <= flows
    assert x[-1] == pytest.approx(taken.max(), **EXACTLY)
    assert y == pytest.approx([np.mean(taken >= t * (1 - SLACK)) for t in x])
    x, y = columns(curves(result.plot.fct_cdf().axes[0])[0])
    assert 100 < x.size <= flows
    assert (x[-1], y[-1]) == (pytest.approx(taken.max(), **EXACTLY), 1)
    # Of flows with equal times, any rank may remain.
    assert all(share > np.mean(taken < t * (1 - SLACK)) for t, share in zip(x, y, strict=True))
    assert all(share <= np.mean(taken <= t * (1 + SLACK)) for t, share in zip(x, y, strict=True))


def test_short_flows_are_those_under_100_kb(comparison: Comparison) -> None:
    flows = comparison.to_pandas().query("fabric == 'clos' and bytes < 100_000")
    fct = (flows["finish_ps"] - flows["arrival_ps"]).dropna().to_numpy(float) * 1e-12
    for line in curves(comparison.plot.fct_ccdf(flows="short").axes[0])[1:]:
        x, y = columns(line)
        assert x.max() == pytest.approx(fct.max(), **EXACTLY)
        assert y.max() <= 1


def test_curves_of_seeds_have_bands(comparison: Comparison, repeated: Comparison) -> None:
    for name in ("fct_cdf", "fct_ccdf", "queues", "goodput", "utilisation"):
        (axes,) = getattr(repeated.plot, name)().axes
        assert len(axes.patches) == 2, name  # one band per fabric
        assert len(curves(axes)) == 2, name
    assert not comparison.plot.goodput().axes[0].patches


@pytest.mark.parametrize(
    "name", ["fct_by_size", "by_load", "fct_cdf", "queues", "goodput", "utilisation"]
)
def test_axes_hold_bands_whole(repeated: Comparison, name: str) -> None:
    for axes in getattr(repeated.plot, name)().axes:
        bottom, top = axes.get_ylim()
        assert axes.patches
        for patch in axes.patches:
            y = patch.get_path().vertices[:, 1]
            assert y.max() < top, axes.get_title(loc="left")
            lowest = bottom if axes.get_yscale() == "log" else np.nextafter(bottom, -1)
            assert y.min() > lowest, axes.get_title(loc="left")


def test_a_band_over_loads_is_the_interval_of_the_table(repeated: Comparison) -> None:
    rows = repeated.to_pandas("loads").query("figure == 'fct.short.p99_us'")
    axes = repeated.plot.by_load().axes[0]
    assert len(axes.patches) == 2
    for patch, (_, found) in zip(axes.patches, rows.groupby("fabric", sort=False), strict=True):
        expected = (found["value"] + found["half_width"]).to_numpy(float) * 1e-6
        ends = [patch.get_path().vertices[i, 1] for i in range(len(expected))]
        assert ends == pytest.approx(expected)
        assert axes.get_ylim()[1] > expected.max()


def test_queues_reach_their_peak(comparison: Comparison) -> None:
    (axes,) = comparison.plot.queues().axes
    (total,) = comparison.plot.queues("all").axes
    for i, (label, result) in enumerate(comparison.results.items()):
        for drawn, column in ((axes, "queued_bytes_worst"), (total, "queued_bytes")):
            _, y = columns(curves(drawn)[i])
            assert np.nanmax(y) == max(result.timeseries[column].to_pylist()), label


def test_many_fabrics_have_a_panel_each_over_time(comparison: Comparison) -> None:
    result = comparison.results["clos"]
    many = Comparison("many", comparison.experiment, {str(i): result for i in range(6)})
    panels = many.plot.goodput().axes
    assert [axes.get_title(loc="left") for axes in panels] == list("012345")
    assert len({axes.get_ylim() for axes in panels}) == 1
    assert len(many.plot.fct_ccdf().axes) == 1


@pytest.mark.parametrize("name", ["by_load", "fct_by_size"])
def test_figures_of_two_panels(comparison: Comparison, name: str) -> None:
    figure = getattr(comparison.plot, name)()
    assert len(figure.axes) == 2
    assert figure._repr_png_()[0].startswith(b"\x89PNG")
    if name == "fct_by_size":
        titles = [axes.get_title(loc="left") for axes in figure.axes]
        assert titles == ["All flows: median", "All flows: 99th percentile"]


@pytest.mark.parametrize("way", ["savefig", "print_figure"])
def test_a_pdf_has_letters_that_can_be_searched(comparison: Comparison, way: str) -> None:
    figure: Any = comparison.plot.fct_ccdf()
    out = io.BytesIO()
    write = figure.savefig if way == "savefig" else figure.canvas.print_figure
    write(out, format="pdf")
    pdf = out.getvalue()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    said = words(pdf)
    assert {"All flows", "flow completion time", *comparison.results} <= set(said)
    assert not any("\0" in text for text in said)


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_saved_figures_have_no_date_and_the_same_bytes(
    comparison: Comparison, kind: str, tmp_path: Path
) -> None:
    made = []
    for number in range(2):
        path = tmp_path / f"{number}.{kind}"
        comparison.plot.fct_cdf().savefig(path)
        made.append(path.read_bytes())
    assert made[0] == made[1]
    assert b"CreationDate" not in made[0]
    assert b"<dc:date>" not in made[0]
    if kind == "svg":
        assert b">flow completion time</text>" in made[0]


def test_a_pdf_of_a_plan_has_letters_that_can_be_searched(tmp_path: Path) -> None:
    plan = lightloom.plan(SMALL, "solstice")
    plan.plot.schedule().savefig(tmp_path / "plan.pdf")
    pdf = (tmp_path / "plan.pdf").read_bytes()
    assert b"/Type3" not in pdf
    assert not any("\0" in text for text in words(pdf))


@pytest.mark.parametrize("name", ["fct_cdf", "queues", "fct_by_size", "by_load"])
@pytest.mark.parametrize("style", ["acm-column", "slide"])
def test_a_style_is_as_wide_and_its_letters_as_large(
    comparison: Comparison, name: str, style: str
) -> None:
    figure: Any = getattr(comparison.plot, name)(style=style)
    sheet = STYLES[style]
    alone = sheet.columns > 1 and len(figure.axes) == 1
    assert figure.get_size_inches()[0] == pytest.approx(sheet.width * (0.58 if alone else 1))
    figure.draw_without_rendering()
    for axes in figure.axes:
        assert axes.xaxis.label.get_size() == sheet.points
        assert {label.get_size() for label in axes.get_yticklabels()} == {sheet.points}


def test_a_style_that_cannot_be_is_refused(comparison: Comparison) -> None:
    with pytest.raises(ConfigError, match=r"style = acm: .*acm-column"):
        comparison.plot.fct_cdf(style="acm")
    with pytest.raises(ConfigError, match="style = slide: "):
        comparison.plot.queues(ax=Figure().subplots(), style="slide")


def test_what_cannot_be_shown_is_refused_with_its_reason(comparison: Comparison) -> None:
    alone = comparison.results["clos"]
    with pytest.raises(ConfigError, match="at several loads; set"):
        alone.plot.by_load()
    with pytest.raises(ConfigError, match="flows = long: "):
        alone.plot.fct_cdf(flows="long")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nodes = best: "):
        alone.plot.queues("best")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="nothing ever waits"):
        took("x", [1, 2]).plot.queues()
    with pytest.raises(ConfigError, match="no such column"):
        took("x", [1, 2]).plot.goodput()
    with pytest.raises(ConfigError, match=r"plot\.schedule = edmonds: "):
        lightloom.plan(SMALL, "edmonds").plot.schedule()


def test_a_run_that_ended_before_anything_waited_is_not_a_network_without_queues() -> None:
    """The runs are a Clos network that ended after 1 us, and a tree, whose flows have rates."""
    cluster = {"racks": 4, "servers_per_rack": 2, "server_rate": "10 Gb/s"}
    workload = {"load": 0.1, "sizes": "web-search", "flows": 20}
    ended = {"seed": 1, "stop": "1 us"}
    for kind, said in (("clos", "nothing waited when it was sampled"), ("tree", "nothing ever")):
        table = {"cluster": cluster, "workload": workload, "run": ended, "fabric": [{"kind": kind}]}
        with pytest.raises(ConfigError, match=said):
            lightloom.run(table).plot.queues()


def test_axes_of_ones_own_are_drawn_on(comparison: Comparison) -> None:
    figure = Figure()
    above, below = figure.subplots(2)
    assert comparison.plot.fct_cdf(ax=above) is figure
    assert comparison.plot.queues(ax=below) is figure
    legend = below.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == list(comparison.results)
    left, right = Figure().subfigures(1, 2)
    assert lightloom.plan(SMALL, "edmonds").plot.circuits(ax=left.subplots()) is right.figure


def test_figures_go_when_nobody_holds_them(comparison: Comparison) -> None:
    plan = lightloom.plan(SMALL, "edmonds")
    for make in (comparison.plot.fct_ccdf, comparison.plot.queues, plan.plot.circuits):
        figure: Any = make()
        figure._repr_png_()
        gone = weakref.ref(figure)
        del figure
        gc.collect()
        assert gone() is None


def test_pyplot_is_not_loaded() -> None:
    script = (
        "import sys, lightloom\n"
        "plan = lightloom.plan([[0, 5], [3, 0]], 'edmonds')\n"
        "plan.plot.circuits()._repr_png_(); plan._repr_html_()\n"
        "assert 'matplotlib' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=120)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["edmonds", "assignment", "hydra", "solstice"]))
def test_cells_of_a_plan_are_what_it_carries(seed: int, algorithm: str) -> None:
    demand = np.random.default_rng(seed).integers(0, 10**9, (6, 6))
    np.fill_diagonal(demand, 0)
    plan = lightloom.plan(demand, algorithm)
    expected = np.zeros((6, 6))
    if plan.schedule is None:
        for row in plan.to_polars("circuits").to_dicts():
            expected[row["a"], row["b"]] += row["bytes"]
            if not row["directed"]:
                expected[row["b"], row["a"]] += row["bytes"]
    else:
        for row in plan.to_polars("slots").to_dicts():
            expected[row["src"], row["dst"]] += row["bytes"]
    (image,) = plan.plot.circuits().axes[0].images
    assert np.array_equal(np.ma.filled(image.get_array(), 0), expected)
    (image,) = plan.plot.demand().axes[0].images
    assert np.array_equal(np.ma.filled(image.get_array(), 0), demand)


def test_the_overview_is_the_picture_of_the_plan() -> None:
    plan = lightloom.plan(SMALL, "edmonds")
    titles = [axes.get_title(loc="left") for axes in plan.plot.overview().axes]
    assert titles[0] == "Demand"
    assert "Circuits" in titles
    taking_turns = control.plan(SMALL, "solstice")
    assert len(taking_turns.plot.schedule().axes) == 3  # slots, their scale, carried bytes


@pytest.mark.parametrize("ax", [3, "axes", np.array([1, 2])])
def test_what_is_no_axes_is_refused(ax: Any, comparison: Comparison) -> None:
    plan = control.plan(SMALL, "edmonds")
    for plot in (comparison.plot.fct_cdf, comparison.plot.goodput, plan.plot.demand):
        with pytest.raises(ConfigError, match="one axes of matplotlib"):
            plot(ax=ax)
