"""The first verdict: the leading fabric, its lead, and what would overturn it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statement_support import ahead, each, kinds, lead, values_of
from test_report_support import FOUR, JOB_TIMES, Profile, make_comparison, make_hybrids, overloaded

from lightloom import report
from lightloom.analysis import model, reading
from lightloom.analysis.ranking import LEVEL, Score, apart, rank
from lightloom.analysis.verdicts import all_first, joint
from lightloom.analysis.verdicts.criteria import JOBS, QUEUE, SHORT
from lightloom.results.result import Comparison
from lightloom.units import quantities

LOADS = (0.1, 0.5, 1.0)
Limits = tuple[float, float | None, float | None, float | None]


def limits(value: float, half: float | None = 0.05, *, open_: bool = False) -> dict[str, Any]:
    """Returns a value of flows with its interval."""
    return {
        "low": value,
        "high": None if open_ else value,
        "from": None if half is None else value - half,
        "until": None if half is None or open_ else value + half,
    }


def made(
    p99_us: dict[str, dict[str, Any]], queues: dict[str, float] | None = None, name: str = "paper"
) -> Comparison:
    """Returns fabrics that differ only in these percentiles of short flows."""
    profiles = [Profile(label, queue=(queues or {}).get(label)) for label in p99_us]
    comparison = make_comparison(profiles, n=400, name=name)
    for label, found in p99_us.items():
        summary = comparison.results[label].summary
        summary["fct_bound"]["short"]["p99_us"] = found
        summary["fct_bound"]["long"]["p99_us"] = limits(50.0)
        summary["load_delivered"] = 0.5
    return comparison


def first(*comparisons: Comparison) -> Any:
    return next(iter(report.first(comparisons).values()))


def plain(text: str) -> str:
    return text.replace(quantities.GLUE, " ")


def test_the_best_is_named_with_the_factor_to_each_and_what_another_is_better_at() -> None:
    times = {"sirius": limits(13.0), "clos": limits(10.0), "clos-3to1": limits(27.3)}
    found = first(made(times, {"sirius": 2e4, "clos": 2e5, "clos-3to1": 9e5}))
    assert [x["leaders"] for x in each(found.said[:1], "ahead")] == [("clos",), ("sirius",)]
    best = values_of(found.said, "best figure")
    assert (best["label"], best["figure"]) == ("clos", pytest.approx(10e-6))
    behind = [
        (x["label"], x["figure"], x["by"].factor.value) for x in each(best["behind"], "behind")
    ]
    assert behind == [
        ("sirius", pytest.approx(13e-6), pytest.approx(1.3)),
        ("clos-3to1", pytest.approx(27.3e-6), pytest.approx(2.73)),
    ]
    other = values_of(found.said, "ahead elsewhere")
    assert (other["label"], other["figure"], other["against"]) == ("sirius", 2e4, "clos")
    assert (other["by"].factor.value, other["by"].better) == (pytest.approx(10), "less")
    by = values_of(found.conditions, "leads by")
    assert by == {"leaders": ("sirius",), "measures": (QUEUE.name,)}
    assert found.conditions[-1].kind == "one draw, intervals over flows"


def test_a_bound_is_said_as_one() -> None:
    bound = {**limits(10.0), "high": 10.4}
    found = first(made({"clos": bound, "clos-3to1": limits(27.3)}))
    assert values_of(found.said, "best figure")["figure"] == pytest.approx(10e-6)
    assert plain(found.answer).startswith("clos: 1 % of")
    assert "take more than 10.0 µs" in plain(found.answer)


def test_overlapping_intervals_name_nobody_alone() -> None:
    found = first(made({"a": limits(10.0, 1.0), "b": limits(11.5, 1.0), "c": limits(30.0)}))
    assert lead(found) == ("ahead together", ("a", "b"), SHORT.name)
    level = values_of(found.said, "level figures")
    figures = [(x["label"], x["figure"]) for x in each(level["figures"], "figure of")]
    assert figures == [("a", pytest.approx(10e-6)), ("b", pytest.approx(11.5e-6))]
    (behind,) = each(level["behind"], "behind")
    assert behind["label"] == "c"
    factor = behind["by"].factor
    assert (round(factor.low, 1), round(factor.high, 1)) == (2.4, 3.3)
    assert values_of(found.conditions, "more flows or seeds")["leaders"] == ("a", "b")
    both = first(made({"a": limits(10.0, 1.0), "b": limits(11.5, 1.0)}))
    assert lead(both) == ("level in measure", ("a", "b"), SHORT.name)


def test_a_figure_without_an_interval_puts_nobody_ahead() -> None:
    found = first(made({"a": limits(10.0, None), "b": limits(30.0, None)}))
    assert lead(found) == ("too few flows to lead", (), SHORT.name)
    few = values_of(found.said[-1:], "too few short flows for intervals")
    figures = [(x["label"], x["figure"]) for x in each(few["figures"], "figure of")]
    assert figures == [("a", pytest.approx(10e-6)), ("b", pytest.approx(30e-6))]
    assert "more flows or seeds" not in kinds(found.conditions)


def test_who_did_not_carry_the_load_is_not_praised() -> None:
    """Regression: a starved fabric had the shortest queues, and was named for this."""
    times = {"sirius": limits(33e3), "clos": limits(10.0), "clos-3to1": limits(27.3)}
    comparison = made(times, {"sirius": 2e4, "clos": 2e5, "clos-3to1": 9e5})
    comparison.results["sirius"].summary |= {"load_offered": 0.5, "load_delivered": 0.23}
    for label in ("clos", "clos-3to1"):
        comparison.results[label].summary |= {"load_offered": 0.5, "load_delivered": 0.49}
    found = first(overloaded(comparison, "sirius"))
    assert lead(found) == ahead("clos", SHORT)
    late = values_of(found.said, "less delivered in time")
    assert late == {"label": "sirius", "share": pytest.approx(0.46)}
    assert "sirius" not in [x["label"] for x in each(found.said, "behind")]


def test_a_queue_kept_short_by_a_setting_is_not_praised() -> None:
    times = {"sirius": limits(33.0), "clos": limits(10.0), "clos-3to1": limits(27.3)}
    (workload,) = reading.read([made(times, {"sirius": 2e4, "clos": 2e5, "clos-3to1": 9e5})])
    sirius, *others = workload.fabrics
    held = replace(sirius, held_back="fabric.queue = 4 (raise it to 8)")
    (found,) = all_first([replace(workload, fabrics=(held, *others))]).values()
    assert found is not None
    assert lead(found) == ahead("clos", SHORT)
    behind = values_of(found.said, "behind, held back")
    assert (behind["label"], behind["figure"]) == ("sirius", pytest.approx(33e-6))
    assert behind["setting"] == "fabric.queue = 4"


def test_who_did_not_finish_is_behind_by_its_bound_or_left_out() -> None:
    behind = first(made({"a": limits(10.0), "b": limits(20.06, open_=True)}))
    assert lead(behind) == ahead("a", SHORT)
    late = values_of(behind.said, "behind")
    assert (late["label"], late["by"].factor.bound) == ("b", True)
    assert f"{late['by']}" == "more than 2.0× faster"
    assert "(> 20.0 µs)" in plain(behind.answer)
    unknown = first(made({"a": limits(10.0), "b": limits(4.0, open_=True), "c": limits(20.0)}))
    assert lead(unknown) == ("ahead of those ranked", ("a",), SHORT.name)
    missing = values_of(unknown.conditions, "what did not arrive")
    (late,) = each(missing["each"], "figure in brackets")
    assert late == {"label": "b", "figure": pytest.approx(4e-6)}
    assert any("b (> 4.00 µs)" in plain(x) for x in unknown.overturned)
    none = first(made({"a": limits(10.0, open_=True), "b": limits(4.0, open_=True)}))
    assert lead(none) == ("none known to be ahead", (), SHORT.name)
    assert kinds(none.said[1:]) == ["figures of flows under way"]
    assert plain(none.answer).endswith(": b > 4.00 µs and a > 10.0 µs.")


def test_loads_at_which_another_leads_would_overturn_it() -> None:
    comparison = make_comparison(FOUR[:2], loads=LOADS, n=3000)
    at = {"sirius": (3.0, 10.0, 40.0), "sirius-ideal": (9.0, 20.0, 30.0)}
    for label, values in at.items():
        comparison.results[label].summary["fct_bound"]["short"]["p99_us"] = limits(values[1])
        for summary, value in zip(comparison.loads[label], values, strict=True):
            summary["fct_bound"]["short"]["p99_us"] = limits(value)
    found = first(comparison)
    assert lead(found) == ahead("sirius", SHORT)
    (other,) = each(found.conditions, "leads at load")
    assert other["load"] == 1.0
    leads = values_of([other["leads"]], "leads")
    assert (leads["leaders"], leads["figure"]) == (("sirius-ideal",), pytest.approx(30e-6))
    for summary in comparison.loads["sirius-ideal"]:
        summary["fct_bound"]["short"]["p99_us"] = limits(90.0)
    assert values_of(first(comparison).conditions, "not the load")["loads"] == LOADS


def test_other_workloads_overturn_it_or_not() -> None:
    one = made({"a": limits(1.0), "b": limits(2.0)}, name="one")
    same = made({"a": limits(5.0), "b": limits(7.0)}, name="same")
    turned = made({"a": limits(5.0), "b": limits(3.0)}, name="turned")
    firsts = report.first([one, same])
    said = values_of(firsts["one"].conditions, "not the other")
    assert said == {"what": "workload", "names": ("same",)}
    sooner = SHORT.wins[0]
    assert joint(list(firsts.items())) == f"a {sooner} under both workloads"
    firsts = report.first([one, turned])
    under = values_of(firsts["one"].conditions, "leads under")
    leads = values_of([under["leads"]], "leads")
    assert (under["name"], leads["leaders"]) == ("turned", ("b",))
    assert leads["figure"] == pytest.approx(3e-6)
    assert joint(list(firsts.items())) == f"a {sooner} under one; b {sooner} under turned"
    level = made({"a": limits(5.0, 1.0), "b": limits(5.5, 1.0), "c": limits(9.0)}, name="level")
    first_of = report.first([one, level])
    level = f"a and b {SHORT.wins[1]} (level) under level"
    assert joint(list(first_of.items())) == f"a {sooner} under one; {level}"


def test_seeds_decide_where_there_are_several() -> None:
    """The intervals do not overlap within each run, but they do over the seeds."""

    def workload(second: dict[str, float]) -> model.Workload:
        seeds = [
            reading.read([made({k: limits(v) for k, v in values.items()})])[0]
            for values in ({"a": 10.0, "b": 12.0}, second, {"a": 10.5, "b": 12.5})
        ]
        return replace(
            seeds[0],
            fabrics=tuple(
                replace(f, seeds=tuple(s.fabrics[i] for s in seeds))
                for i, f in enumerate(seeds[0].fabrics)
            ),
        )

    (steady,) = all_first([workload({"a": 10.2, "b": 12.2})]).values()
    assert steady is not None
    assert lead(steady) == ahead("a", SHORT)
    assert not any("Another seed" in x for x in steady.overturned)
    (turning,) = all_first([workload({"a": 13.0, "b": 9.0})]).values()
    assert turning is not None
    assert "are level" in turning.title


def test_circuits_that_were_never_used_would_overturn_it() -> None:
    """Regression: a hybrid led only by its tree, and the verdict did not state this."""
    comparison = made({"clos": limits(10.0), "hybrid": limits(5.0)})
    assert "nothing over circuits" not in kinds(first(comparison).conditions)
    comparison.results["hybrid"].summary["circuit_share"] = 0.0
    dark = values_of(first(comparison).conditions, "nothing over circuits")
    assert dark == {"labels": ("hybrid",)}


def test_jobs_are_judged_by_their_times() -> None:
    found = first(make_hybrids())
    assert JOB_TIMES["tree"]["fft"] is None  # so the tree is behind both
    assert lead(found) == ahead("full", JOBS)
    best = values_of(found.said, "best figure")
    assert (best["label"], best["figure"]) == ("full", pytest.approx(56))
    (behind,) = each(best["behind"], "behind")
    assert (behind["label"], behind["figure"]) == ("c-through", pytest.approx(112))
    assert behind["by"].factor.value == pytest.approx(2)
    done = values_of(found.said, "jobs done")["finding"].done
    assert done == {"tree": (1, 2), "c-through": (2, 2), "full": (2, 2)}


def test_one_fabric_has_no_verdict() -> None:
    assert first(make_comparison(FOUR[:1], n=300)) is None


FABRIC = reading.read([make_comparison(FOUR[:1], n=10)])[0].fabrics[0]
SCORES = st.lists(
    st.tuples(st.floats(1, 100), st.floats(0, 50), st.floats(0, 50), st.booleans()).map(
        lambda t: Score(
            FABRIC, t[0], t[0] - t[1], np.inf if t[3] else t[0] + t[2], open=t[3], least=t[3]
        )
    ),
    min_size=1,
    max_size=6,
)


@given(SCORES, st.sampled_from(["lower", "higher"]))
def test_nobody_is_best_whose_interval_overlaps(scores: list[Score], better: Any) -> None:
    """Compares with the definition, pair by pair: the best has no overlap with any other, and a
    distance of 3 %."""
    best = apart(scores, better)
    for score in scores:
        others = [s for s in scores if s is not score]
        if better == "lower":
            # A bound above the interval is behind, however wide its own interval is.
            clear = all(score.high <= s.low or (s.open and score.high < s.value) for s in others)
            clear &= bool(np.isfinite(score.high))
            clear &= all(score.value * (1 + LEVEL) < s.value for s in others)
        else:
            clear = all(score.low >= s.high for s in others)
            clear &= not any(s.open for s in others)
            clear &= all(s.value * (1 + LEVEL) < score.value for s in others)
        assert (best is score) == (clear and not score.open)


@given(SCORES)
def test_a_ranking_loses_nobody_and_never_leads_with_a_bound(scores: list[Score]) -> None:
    ranking = rank(scores, "lower")
    kept = [id(s) for s in (*ranking.scores, *ranking.unknown)]
    assert sorted(kept) == sorted(map(id, scores))
    assert not any(s.open for s in ranking.leaders)
    for behind in ranking.rest:
        assert behind.value > ranking.best * 1.03 or behind.open
        first = ranking.leaders[0]
        exceeds = behind.open and behind.value > first.high
        assert behind.low >= first.high or first.low >= behind.high or exceeds


@pytest.mark.parametrize("n", [2, 5])
def test_many_behind_are_told_by_the_nearest_and_the_last(n: int) -> None:
    times = {f"f{i}": limits(10.0 * (i + 1)) for i in range(n + 1)}
    behind = values_of(first(made(times)).said[-1:], "best figure")["behind"]
    if n > 3:
        (ends,) = each(behind, "behind, ends")
        assert (ends["near"], ends["far"]) == ("f1", f"f{n}")
        factors = (ends["least"].factor.low, ends["most"].factor.high)
        assert factors == pytest.approx((2, n + 1), rel=0.02)
    else:
        found = [(x["label"], x["by"].factor.value) for x in each(behind, "behind")]
        assert found == [("f1", pytest.approx(2)), ("f2", pytest.approx(3))]
