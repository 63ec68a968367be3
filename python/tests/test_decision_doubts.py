"""What a buyer should doubt of a decision: seeds, loads at which another is level, and bills that
count a share of a box."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from decision_support import BOOK, bought
from economics_support import network

from lightloom.decision import sentences
from lightloom.economics import book as books
from lightloom.economics import pricing, words
from lightloom.report.decisions import counting, made


def test_a_narrow_lead_says_on_how_many_seeds_it_rests() -> None:
    one = bought("one", seeds=(0.40, 0.50, 0.60), switch=100)
    close = bought("close", seeds=(0.38, 0.475, 0.57), switch=100)
    (said,) = sentences.seeds([one, close])
    assert said == (
        "Other seeds: this rests on 3 seeds; close costs 1.05 times as much as one, so other "
        "seeds may order them otherwise."
    )
    assert list(sentences.seeds([one, bought("far", switch=200)])) == []
    assert list(sentences.seeds([one])) == []


def test_who_is_level_at_another_load_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody else costs less at 10 %, and yet two are level there."""
    one = bought("one", switch=100)
    level, behind = bought("two", switch=101), bought("two", switch=200)
    monkeypatch.setattr(made, "at_loads", lambda _: {0.1: (one, level), 0.5: (one, behind)})
    read: Any = SimpleNamespace(purchases=(one, behind))
    (said,) = made._by_load(read)
    assert said.replace("\u00a0", " ") == (
        "Not the load, as far as it was tried: nobody else costs less at 10 % and 50 %; "
        "at 10 % two is level with one."
    )


def of_bills(counting_: str = "share") -> Any:
    from dataclasses import replace

    book = replace(BOOK, counting=counting_)
    cost = {
        kind: pricing.of_network(kind, network(kind, **more), book)
        for kind, more in (("clos", {}), ("sirius", {"uplinks": 8}))
    }
    some = bought("x", switch=1)
    purchases = tuple(replace_cost(some, label, found) for label, found in cost.items())
    return SimpleNamespace(purchases=purchases, costs=SimpleNamespace(book=book, fabrics=cost))


def replace_cost(one: Any, label: str, cost: Any) -> Any:
    from dataclasses import replace

    return replace(one, label=label, cost=cost)


def test_bills_by_share_say_so_and_who_leads_by_whole_boxes() -> None:
    """By hand: whole boxes are the same bill in a book that counts so."""
    read = of_bills()
    (note,) = words.fractions(read.costs)
    assert note.startswith("fractions of switch: a share of a machine that others use")
    (said,) = counting.whole(read)
    whole = of_bills("whole")
    leader = made.leaders(whole.purchases, made.CAPITAL)[0]
    assert sentences.each_delivered(leader, made.CAPITAL) in said
    assert leader.label in said
    assert "boxes" in said
    assert list(words.fractions(whole.costs)) == []
    assert list(counting.whole(whole)) == []


def test_a_book_by_whole_boxes_has_nothing_to_say() -> None:
    assert books.load("hydra-2013").counting == "whole"
