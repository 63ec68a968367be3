"""Values with their confidence intervals: arithmetic, verdicts, and plots."""

from math import inf, sqrt

import numpy as np
import pytest
from scipy import stats

from lightloom.validation import Claim, Estimate, Expectation, judge
from lightloom.validation.estimate import across, least, most, pooled
from lightloom.validation.study import Runs, draw, panel


def window(
    mean: float,
    width: float,
    *,
    offered: float | None = None,
    stable: bool = True,
    correlated: bool = False,
) -> dict[str, object]:
    return {
        "window": {
            "mean_us": mean,
            "half_width_us": width,
            "offered": mean / 10 if offered is None else offered,
            "offered_half_width": width / 10,
            "accepted": mean / 10,
            "accepted_half_width": width / 10,
            "stable": stable,
            "correlated": correlated,
        }
    }


def test_the_interval_across_runs_covers_the_mean_as_often_as_it_says() -> None:
    drawn = np.random.default_rng(1).exponential(size=(4000, 25))
    found = [across(list(row)) for row in drawn]
    covered = np.mean([abs(e.value - 1) <= e.half_width for e in found])
    # Means of 25 exponentials are skewed: somewhat less than 95 %.
    assert 0.90 < covered < 0.955
    assert across([1.0]).half_width == inf


def test_the_interval_of_a_ratio_is_what_draws_of_both_show() -> None:
    a, b = Estimate(3.0, 0.2), Estimate(2.0, 0.1)
    ratio = a.over(b)
    draws = np.random.default_rng(2).normal(size=(2, 200_000)) / stats.norm.ppf(0.975)
    drawn = (a.value + draws[0] * a.half_width) / (b.value + draws[1] * b.half_width)
    assert ratio.value == pytest.approx(1.5)
    assert ratio.half_width == pytest.approx(1.96 * np.std(drawn), rel=0.02)
    assert a.apart(b).value == pytest.approx(0.5)
    assert Estimate(0.0).apart(Estimate(0.0)).value == 0


def test_independent_runs_narrow_the_interval() -> None:
    found = pooled([Estimate(1.0, 0.2), Estimate(3.0, 0.2)])
    assert found.value == 2
    assert found.half_width == pytest.approx(0.2 / sqrt(2))
    assert most([Estimate(1, 0.1), Estimate(2, 0.3)]) == Estimate(2, 0.3)
    assert least([Estimate(1, 0.1), Estimate(2, 0.3)]) == Estimate(1, 0.1)
    assert Estimate(2, 0.1).times(-3) == Estimate(-6, pytest.approx(0.3))
    assert Estimate(2, 0.1).minus(0.5) == Estimate(1.5, 0.1)
    assert Estimate(1.8, 0.1).off(2) == Estimate(pytest.approx(0.1), 0.05)


@pytest.mark.parametrize(
    ("expect", "value", "outcome"),
    [
        ({"value": 2, "tolerance": 0.5}, 2.2, "reproduced"),
        ({"value": 2, "tolerance": 0.5}, 2.45, "undecided"),
        ({"value": 2, "tolerance": 0.5}, 2.55, "undecided"),
        ({"value": 2, "tolerance": 0.5}, 2.65, "not reproduced"),
        ({"at_most": 1}, 0.89, "reproduced"),
        ({"at_most": 1}, 1.05, "undecided"),
        ({"at_most": 1}, 1.2, "not reproduced"),
        ({"at_least": 1}, 0.95, "undecided"),
        ({"at_least": 1}, 0.8, "not reproduced"),
        ({"above": 1}, 1.2, "reproduced"),
        ({"above": 1}, 1.0, "undecided"),
        ({"above": 1}, 0.8, "not reproduced"),
        ({"below": 1}, 0.8, "reproduced"),
        ({"below": 1}, 1.2, "not reproduced"),
        # Neither end of the interval meets it, but values between them do.
        ({"value": 2, "tolerance": 0.05}, 2.0, "undecided"),
    ],
)
def test_only_an_interval_all_on_one_side_is_judged(
    expect: dict[str, float], value: float, outcome: str
) -> None:
    assert Expectation.model_validate(expect).judge(Estimate(value, 0.1)) == outcome


def test_relative_to_nothing_any_value_may_be_it() -> None:
    runs = Runs({"a": [{"x": 1.0}, {"x": 2.0}], "b": [{"x": 0.0}, {"x": 1.0}]})
    found = runs.paired("a", "b", "x")
    assert Expectation(at_least=-1e9).judge(found) == "undecided"
    assert runs.paired("b", "a", "x").value == 0.25


def test_a_verdict_keeps_the_interval() -> None:
    claim = Claim.model_validate(
        {
            "id": "c",
            "source": "§1",
            "statement": "Two.",
            "command": "lightloom reproduce toy/one",
            "measures": "it",
            "expect": {"at_most": 2},
            "status": "reproduced",
        }
    )
    plain = judge("toy", claim, Estimate(1.5, 0.2), quick=False).to_dict()
    assert (plain["measured"], plain["half_width"]) == (1.5, 0.2)
    assert judge("toy", claim, 1.5, quick=False).to_dict()["half_width"] is None


def test_windows_of_several_seeds_are_one_figure() -> None:
    runs = Runs(
        {"a": [window(1.0, 0.2), window(3.0, 0.2)], "full": [window(9.0, 1.0, stable=False)]}
    )
    assert runs.latency("a") == Estimate(2.0, pytest.approx(0.2 / sqrt(2)), 2)
    assert runs.latency("full") is None
    lacking = {"a": [window(3.0, 0.1, offered=0.32)] * 2, "b": [window(3.0, 0.1, offered=0.305)]}
    assert Runs(lacking).latency("a") is None
    assert Runs(lacking).latency("b") is not None
    assert runs.accepted("full") == Estimate(0.9, 0.1, 1)
    assert runs.across("a", "window.mean_us").value == 2


def test_of_correlated_batches_the_scatter_of_seeds_counts_if_it_is_wider() -> None:
    means = [1.0, 2.0, 3.0]
    narrow = Runs({"a": [window(m, 0.1, correlated=m == 2) for m in means]})
    assert narrow.latency("a") == across(means)
    wide = Runs({"a": [window(m, 9.0, correlated=True) for m in means]})
    assert wide.latency("a") == Estimate(2.0, pytest.approx(9 / sqrt(3)), 3)
    few = Runs({"a": [window(m, 0.1, correlated=True) for m in means[:2]]})
    assert few.latency("a") == Estimate(1.5, pytest.approx(0.1 / sqrt(2)), 2)


def test_intervals_and_theory_are_drawn() -> None:
    data = panel(
        "t",
        ("x", [1, 2, 3]),
        "y",
        {"a": [Estimate(1, 0.1), None, Estimate(3, 0.2)], "b": [1.0, 2.0, 3.0]},
        theory={"a": ([1, 2, 3], [1, 2, None]), "most": ([1, 3], [4, 4])},
        log_y=True,
    )
    assert data["half_widths"]["a"] == [0.1, 0.0, 0.2]
    (axes,) = draw([data]).axes
    labels = axes.get_legend_handles_labels()[1]
    assert sorted(labels) == ["a", "b", "most", "theory"]
    # The points of "a" are not joined, its theory is; error bars are drawn only for "a".
    joined = {line.get_label(): line.get_linestyle() for line in axes.lines}
    assert joined["most"] == "--"
    (bars, _) = axes.containers
    assert bars.has_yerr
    assert bars.lines[0].get_linestyle() == "None"
