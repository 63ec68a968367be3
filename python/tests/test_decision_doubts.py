"""Doubts about a decision: seeds, loads at which another fabric is level, and bills that count
shares of boxes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from decision_support import BOOK, bought
from economics_support import network

from lightloom.costs import book as books
from lightloom.costs import lanes, pricing, wording
from lightloom.decision import remarks, sentences
from lightloom.decision.purchases import CAPITAL, POWER
from lightloom.report.decisions import counting, decision, elsewhere
from lightloom.report.decisions import sentences as ours


def test_a_narrow_lead_says_on_how_many_seeds_it_rests() -> None:
    one = bought("one", seeds=(0.40, 0.50, 0.60), switch=100)
    close = bought("close", seeds=(0.38, 0.475, 0.57), switch=100)
    found = remarks.other_seeds([one, close])
    assert found is not None
    assert (found.number, found.leaders, [label for label, _ in found.near]) == (
        *(3, ("one",)),
        ["close"],
    )
    ((_, times),) = found.near
    assert float(times.low) == pytest.approx(1 / 0.95)
    assert "close costs 1.05 times" in sentences.other_seeds(found)
    assert remarks.other_seeds([one, bought("far", switch=200)]) is None
    assert remarks.other_seeds([one]) is None


def test_who_is_level_at_another_load_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """No other fabric costs less at 10 %, but two fabrics are level there."""
    one = bought("one", switch=100)
    level, behind = bought("two", switch=101), bought("two", switch=200)
    monkeypatch.setattr(elsewhere, "at_loads", lambda _: {0.1: (one, level), 0.5: (one, behind)})
    read: Any = SimpleNamespace(purchases=(one, behind))
    found = elsewhere.other_loads(read)
    assert (found.turned, [there.others for there in found.kept]) == ((), [("two",), ()])
    said = ours.no_other_load(found).replace("\u00a0", " ")
    assert "at 10 % and" in said
    assert "two is level with" in said


def test_nothing_is_compared_with_the_best_where_no_window_tells_who_carries_the_load() -> None:
    """Regression: this was an IndexError after the simulation."""
    both = [replace(bought(label, switch=100), unsettled=True) for label in ("one", "two")]
    for measure in (CAPITAL, POWER):
        assert remarks.multiples(both, measure) is None


def of_bills(counting_: str = "share") -> Any:
    book = replace(BOOK, counting=counting_)
    cost = {
        kind: pricing.of_network(kind, network(kind, **more), book)
        for kind, more in (("clos", {"tiers": 3}), ("sirius", {"uplinks": 8}))
    }
    some = bought("x", switch=1)
    purchases = tuple(replace_cost(some, label, found) for label, found in cost.items())
    return SimpleNamespace(purchases=purchases, costs=SimpleNamespace(book=book, fabrics=cost))


def replace_cost(one: Any, label: str, cost: Any) -> Any:
    return replace(one, label=label, cost=cost)


def test_bills_by_share_say_so_and_who_leads_by_whole_boxes() -> None:
    """Computed by hand, with the opposite order in a book that counts whole boxes."""
    read = of_bills()
    (note,) = wording.fractions(read.costs)
    assert note.startswith("fractions of switch: ")
    whole = of_bills("whole")
    first = decision.leaders(whole.purchases, decision.CAPITAL)
    (said,) = [text for text in told(read) if "boxes" in text]
    assert all(f"{sentences.each_delivered(p, decision.CAPITAL)}" in said for p in first)
    assert all(p.label in said for p in first)
    assert list(wording.fractions(whole.costs)) == []
    (back,) = [text for text in told(whole) if "boxes" in text]
    by_share = decision.leaders(read.purchases, decision.CAPITAL)
    assert "boxes came in every" in back
    assert all(f"{sentences.each_delivered(p, decision.CAPITAL)}" in back for p in by_share)


def told(read: Any) -> list[str]:
    return [ours.counted_otherwise(way) for way in counting.otherwise(read)]


def test_a_laser_for_each_uplink_is_what_it_costs_by_hand() -> None:
    """128 uplinks of 50 Gb/s: 16 transceivers of $450 to $656 with one laser for eight uplinks.

    Counted separately: 16 transceivers without a laser, $336 to $375, and 128 lasers of $75 to
    $320.
    """
    read = of_bills()
    sirius = read.costs.fabrics["sirius"]
    assert lanes.together(sirius) == 8
    own = lanes.apart(sirius)
    assert own.capital is not None
    assert sirius.capital is not None
    assert own.capital.low - sirius.capital.low == 16 * 336 + 128 * 75 - 16 * 450
    assert own.capital.high - sirius.capital.high == 16 * 375 + 128 * 320 - 16 * 656
    # 9 W and 128 lasers of 3 to 5 W, instead of 12 to 14 W.
    assert own.power is not None
    assert sirius.power is not None
    assert own.power.low - sirius.power.low == 16 * 9 + 128 * 3 - 16 * 12
    assert own.power.high - sirius.power.high == 16 * 9 + 128 * 5 - 16 * 14
    assert lanes.together(own) == 1
    assert lanes.apart(own) is own
    assert lanes.apart(read.costs.fabrics["clos"]) is read.costs.fabrics["clos"]


def test_who_costs_least_with_a_laser_for_each_uplink_is_said() -> None:
    read = of_bills()
    (said,) = [text for text in told(read) if "laser of its own" in text]
    bought = [replace_cost(p, p.label, lanes.apart(p.cost)) for p in read.purchases]
    assert {p.label for p in decision.leaders(bought, decision.CAPITAL)} == {"clos", "sirius"}
    (sirius,) = decision.leaders(read.purchases, decision.CAPITAL)
    assert sirius.label == "sirius"
    assert said.startswith("Lasers: if each uplink ")
    assert " one for 8, " in said
    assert " are level, " in said
    assert "laser for each uplink" in ours.unless(counting.otherwise(read))
    (clos,) = [p for p in read.purchases if p.label == "clos"]
    read.purchases = (clos,)
    assert ours.unless(counting.otherwise(read)) == ""
    (note,) = wording.lasers(read.costs)
    assert note.startswith("sirius: 8 uplinks ")
    assert "sirius-2020" in note


def test_a_book_by_whole_boxes_has_nothing_to_say() -> None:
    assert books.load("hydra-2013").counting == "whole"
