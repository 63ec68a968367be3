"""No text calls a fabric whose interval is as wide as its value soonest, level or faster.

Regression, from a run in which sirius took 575 ± 585 µs.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statement_support import ahead, lead, values_of
from test_level import cards, plain, under, workload
from test_report_support import Profile, make_comparison

from lightloom import report
from lightloom.analysis import table, winners
from lightloom.analysis.ranking import Score, is_level, rank
from lightloom.analysis.verdicts.criteria import SHORT

SAME = {"sirius": [0.37] * 3, "clos-3to1": [0.37] * 3}
#: Means of 575 ± 585 µs (Student's t of 3 seeds) and of 9.4 ± 0.2 µs.
WIDE = {"sirius": [339.6, 575.0, 810.4], "clos-3to1": [9.3, 9.4, 9.5]}


def first(times: dict[str, list[float]]) -> object:
    return next(iter(report.first([under("ideal", SAME, times)]).values()))


def test_a_wide_interval_is_not_level_with_the_best() -> None:
    """The only other fabric does not lead either."""
    found = first(WIDE)
    assert lead(found) == ("none known to be ahead", (), SHORT.name)
    said = plain(found.answer)
    assert said.count("575 ± 580 µs") == 1
    assert "faster" not in said
    assert "evel" not in said
    assert found.leaders == ()
    assert values_of(found.said, "too wide") == {"labels": ("sirius",)}
    assert values_of(found.conditions, "unplaced may lead") == {"labels": ("clos-3to1", "sirius")}


def test_one_is_ahead_of_what_is_ranked_beside_a_wide_interval() -> None:
    best, wide, behind = (
        Score(FABRIC, value, value - half, value + half)
        for value, half in ((9.4, 0.2), (575.0, 585.0), (700.0, 1.0))
    )
    ranking = rank([best, wide, behind], "lower")
    assert ranking.leaders == (best,)
    assert ranking.rest == (behind,)
    assert ranking.unplaced == (wide,)
    # Its value is better, so it may lead.
    assert rank([replace(wide, value=9.0, low=-1.0, high=20.0), best, behind], "lower").level == 0


def test_cards_badges_and_winners_have_the_same_rule() -> None:
    made = under("ideal", SAME, WIDE)
    card = plain(cards(made)["Which fabric finishes short flows soonest?"].answer)
    assert "too wide to place" in card
    assert "level" not in card
    rows = {r.name: r for _, rs in table.groups(workload(made)) for r in rs}
    assert not any(cell.best for cell in rows["Short flows, 99th percentile"].cells)
    (line,) = (s for s in winners.sentences([made, made]) if "short" in s)
    assert "too wide to tell" in line


def test_all_too_wide_name_nobody() -> None:
    both = {"sirius": WIDE["sirius"], "clos-3to1": [300.0, 560.0, 830.0]}
    found = first(both)
    assert lead(found) == ("none known to be ahead", (), SHORT.name)
    assert plain(found.answer).count("too wide to place") == 1
    card = cards(under("ideal", SAME, both))["Which fabric finishes short flows soonest?"]
    assert "too wide to place" in card.answer


def test_a_wide_interval_that_is_apart_is_behind() -> None:
    apart = {"sirius": [300e3, 500e3, 700e3], "clos-3to1": [9.3, 9.4, 9.5]}
    found = first(apart)
    assert lead(found) == ahead("clos-3to1", SHORT)


(FABRIC,) = workload(make_comparison([Profile("a")], n=50)).fabrics
SCORES = st.builds(
    lambda value, half: Score(FABRIC, value, value - half * value, value + half * value),
    st.floats(1.0, 100.0),
    st.floats(0.0, 3.0),
)


@pytest.mark.parametrize("better", ["lower", "higher"])
@given(st.lists(SCORES, min_size=2, max_size=6))
def test_nobody_wide_leads_beside_another_within_it(better: str, scores: list[Score]) -> None:
    ranking = rank(scores, better)
    assert len(ranking.scores) + len(ranking.unknown) == len(scores)
    for leader in ranking.leaders:
        others = [s for s in scores if s is not leader]
        assert not (leader.wide and any(is_level(leader, s) for s in others))
    # A fabric that is behind is certainly behind the best.
    for one in ranking.rest:
        assert not is_level(ranking.leaders[0], one)
