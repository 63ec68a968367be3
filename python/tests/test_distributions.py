"""Tails of completion times: values compared with counts, and bounds with the times of the finished
run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy import stats
from test_report_support import FOUR, Profile, make_comparison, read

from lightloom.plotting import distributions, figures, style
from lightloom.plotting.axes import draw_ccdf, draw_cdf, flows_of
from lightloom.plotting.distributions import CCDF_POINTS, ccdf, cdf, complementary, share_from

moments = st.integers(1, 40).map(float)
columns = st.lists(st.one_of(moments, st.just(np.nan)), min_size=1, max_size=60).map(np.array)


def by_hand(times: np.ndarray, at: float) -> float:
    """Returns the share of flows that took at least this long, by counting; unfinished flows are
    included."""
    return sum(1 for t in times if np.isnan(t) or t >= at) / len(times)


@given(columns, st.integers(2, 80))
def test_each_point_of_a_tail_is_a_count(times: np.ndarray, points: int) -> None:
    x, y = ccdf(times, points)
    finished = times[np.isfinite(times)]
    assert x.size == y.size <= min(points, np.unique(finished).size)
    assert y == pytest.approx([by_hand(times, at) for at in x])
    assert (np.diff(x) > 0).all()
    assert (np.diff(y) < 0).all()
    assert (y > 0).all()
    if finished.size:
        assert (x[0], x[-1]) == (finished.min(), finished.max())


def test_a_tail_is_one_less_the_rank_over_n() -> None:
    times = np.random.default_rng(3).permutation(np.arange(1.0, 1001.0)) * 1e-6
    x, y = ccdf(times, 1000)
    ranks = np.arange(1000)  # from 0: the number of flows that took less
    np.testing.assert_array_equal(x, np.sort(times))
    np.testing.assert_allclose(y, 1 - ranks / 1000)
    # The cumulative distribution counts the flow itself; except for this, both add up to 1.
    at, no_longer = cdf(times, 480)
    np.testing.assert_allclose(no_longer + y[np.searchsorted(x, at)], 1 + 1 / 1000)


def test_the_thinned_tail_is_as_dense_at_every_decade() -> None:
    x, y = ccdf(np.arange(1.0, 1_000_001.0), CCDF_POINTS)
    np.testing.assert_allclose(y, 1 - (x - 1) / 1e6)
    in_decade = np.histogram(np.log10(y), bins=[-4, -3, -2, -1, 0])[0]
    assert in_decade.min() >= 35
    assert in_decade.max() <= 45


def test_the_tail_of_a_power_law_is_a_line_of_its_slope() -> None:
    """Pareto: P(T ≥ t) = (t / 1 µs)^-1.3."""
    drawn = 1e-6 * (1 + np.random.default_rng(5).pareto(1.3, 200_000))
    x, y = ccdf(drawn, CCDF_POINTS)
    middle = (y < 0.5) & (y > 1e-3)
    assert np.polyfit(np.log(x[middle]), np.log(y[middle]), 1)[0] == pytest.approx(-1.3, abs=0.03)


@given(st.lists(st.tuples(moments, moments), min_size=1, max_size=60))
def test_what_turns_out_lies_between_both_curves(flows: list[tuple[float, float]]) -> None:
    """Each flow has a completion time, and a time after which the run ended."""
    truth, watched = (np.array(column) for column in zip(*flows, strict=True))
    times = np.where(truth <= watched, truth, np.nan)
    least = np.minimum(truth, watched)
    at = np.arange(0.5, 45, 0.5)
    turned_out = np.array([np.mean(truth >= t) for t in at])
    assert (share_from(least, at) <= turned_out + 1e-12).all()
    assert (turned_out <= share_from(times, at) + 1e-12).all()


def test_the_panel_draws_both_curves_where_flows_are_unfinished() -> None:
    times = np.array([1.0, 2.0, 3.0, np.nan, np.nan]) * 1e-6
    least = np.array([1.0, 2.0, 3.0, 2.5, 4.0]) * 1e-6
    panel = complementary("All", flows_of({"a": times, "b": least}, {"a": least}))
    assert panel is not None
    drawn = [(s.label, s.drawn, s.arrow) for s in panel.series]
    assert drawn == [
        ("a", "rule", ""),
        ("a", "line", ""),
        ("b", "line", ""),
        ("a", "dots", "right"),
    ]
    certain, above, _, arrow = panel.series
    assert above.y.tolist() == [1.0, 0.8, pytest.approx(0.6)]
    assert arrow.y.tolist() == [pytest.approx(0.6)]
    assert certain.y == pytest.approx([by_hand(least, at) for at in certain.x])
    # The range is from the youngest unfinished flow to the oldest.
    assert certain.x[0] == pytest.approx(2.5e-6)
    assert certain.x[-1] <= 4e-6
    assert panel.x.limits[1] >= 4e-6
    assert panel.y.scale == panel.x.scale == "log"


def test_a_flow_that_hangs_for_ever_does_not_press_the_others_together() -> None:
    times, least = np.array([1e-6, 2e-6, np.nan]), np.array([1e-6, 2e-6, 10.0])
    panel = complementary("All", flows_of({"a": times}, {"a": least}))
    assert panel is not None
    assert panel.x.limits[1] < 1e-4


def test_a_tail_over_seeds_is_the_mean_with_students_interval() -> None:
    rng = np.random.default_rng(8)
    seeds = [rng.exponential(1e-5, 500) for _ in range(4)]
    parts = tuple(distributions.Flows("a", 0, t, t) for t in seeds)
    of_first = distributions.Flows("a", 0, seeds[0], seeds[0], parts)
    line, band = distributions.tails(of_first, 200)
    for place in (20, 70, 120):
        shares = [by_hand(t, line.x[place]) for t in seeds]
        assert line.y[place] == pytest.approx(np.mean(shares))
        half = stats.t.ppf(0.975, 3) * stats.sem(shares)
        assert band.y[place] - line.y[place] == pytest.approx(half)
    assert line.y[-1] == pytest.approx(1 / 2000)  # the slowest flow


def test_the_tail_stands_beside_the_distribution() -> None:
    made = {f.key: f for f in figures.draw_all(read(make_comparison(FOUR, n=3000)))}
    titles = [p.title for p in made["fct-distribution"].panels]
    assert titles == ["Short flows", "Short flows, tail", "All flows", "All flows, tail"]
    assert made["fct-distribution"].across == 2
    assert "dotted" in made["fct-distribution"].caption
    done = make_comparison([Profile("only")], sizes=np.full(300, 500.0))
    assert "dotted" not in figures.draw_all(read(done))[0].caption


# Axes of one's own


def test_both_are_drawn_on_given_axes() -> None:
    times = {"sirius": [1e-6, 4e-6, 2e-6], "clos": [3e-6, np.nan, 3e-6]}
    axes = Figure().subplots(1, 2)
    assert draw_cdf(axes[0], times, title="Both") is axes[0]
    assert draw_ccdf(axes[1], times) is axes[1]
    assert "Both" in {axes[0].get_title(loc="left"), axes[0].get_title()}
    assert (axes[0].get_xscale(), axes[0].get_yscale()) == ("log", "linear")
    assert (axes[1].get_xscale(), axes[1].get_yscale()) == ("log", "log")
    lines = [line for line in axes[1].get_lines() if len(line.get_xdata())]
    expect = np.array([[1e-6, 1], [2e-6, 2 / 3], [4e-6, 1 / 3]])
    np.testing.assert_allclose(lines[0].get_xydata(), expect)
    assert lines[1].get_xydata().tolist() == [[3e-6, 1]]
    colours = [style.LIGHT[0], style.LIGHT[1]]
    assert [line.get_color() for line in lines[:2]] == colours


def test_a_label_keeps_its_place_in_the_palette() -> None:
    axes = draw_cdf(Figure().subplots(), {"clos": [1e-6, 2e-6]}, slots={"clos": 4})
    assert axes.get_lines()[0].get_color() == style.LIGHT[4]


def test_columns_that_cannot_be_drawn_are_refused() -> None:
    axes = Figure().subplots()
    with pytest.raises(ValueError, match="a, b: no flow"):
        draw_cdf(axes, {"a": [], "b": [np.nan]})
    with pytest.raises(ValueError, match="a has 1 rows"):
        draw_ccdf(axes, {"a": [1e-6, np.nan]}, least={"a": [1e-6]})
