"""Means over seeds: the interval is Student's, and contains the true value as often as it
states."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lightloom.units.intervals import Interval, over_runs, student


@pytest.mark.parametrize("freedom", [*range(1, 40), 99, 100, 999, 9_999])
def test_students_quantile_is_scipys(freedom: int) -> None:
    assert student(freedom) == pytest.approx(stats.t.ppf(0.975, freedom), rel=1e-9)


@given(st.lists(st.floats(-1e9, 1e9), min_size=2, max_size=30))
def test_an_interval_is_scipys(values: list[float]) -> None:
    found = over_runs(values)
    assert found is not None
    assert found.half_width is not None
    scale = stats.sem(values)
    assert found.n == len(values)
    assert found.mean == pytest.approx(np.mean(values), abs=1e-6)
    expect = stats.t.ppf(0.975, len(values) - 1) * scale
    assert found.half_width == pytest.approx(expect, rel=1e-6, abs=1e-6)


def test_an_interval_holds_the_mean_19_times_in_20() -> None:
    drawn = np.random.default_rng(4).normal(3.0, 2.0, size=(4_000, 5))
    found = [over_runs(list(row)) for row in drawn]
    held = sum(f.low <= 3.0 <= f.high for f in found if f is not None)
    # The tolerance is four standard errors of a share of 0.95 in 4,000.
    assert abs(held / 4_000 - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 4_000)


def test_runs_without_the_figure_do_not_count() -> None:
    assert over_runs([None, math.nan]) is None
    assert over_runs([None, 7.0]) == Interval(7.0, None, 1)
    assert over_runs([1.0, None, 3.0]) == over_runs([1.0, 3.0])


def test_intervals_that_touch_overlap_and_a_single_run_tells_nothing_apart() -> None:
    assert Interval(1.0, 0.5, 3).overlaps(Interval(2.0, 0.5, 3))
    assert not Interval(1.0, 0.5, 3).overlaps(Interval(2.0, 0.4, 3))
    assert Interval(1.0, None, 1).overlaps(Interval(9.0, 0.1, 3))
