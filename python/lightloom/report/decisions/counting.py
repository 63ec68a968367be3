"""Whether the pick is another where boxes are bought whole, of a book that counts by share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lightloom.decision import sentences
from lightloom.decision.order import leaders
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.economics import pricing

from .read import Read


def whole(made: Read) -> Iterator[str]:
    """Who costs least by whole boxes; nothing where no bill has a part of one."""
    book = made.costs.book
    here = leaders(made.purchases, CAPITAL)
    if book.counting != "share" or not here:
        return
    if not any(line.shared for p in made.purchases for line in p.cost.lines):
        return
    by_box = replace(book, counting="whole")
    bought = [
        replace(p, cost=pricing.of_network(p.label, p.cost.network, by_box)) for p in made.purchases
    ]
    there = leaders(bought, CAPITAL)
    if there:
        yield f"{_said(here, there)}, {_each(there)}."


def _said(here: list[Purchase], there: list[Purchase]) -> str:
    named, before = sentences.labels(there), {p.label for p in here}
    if {p.label for p in there} == before:
        still = "still costs least" if len(there) == 1 else "are still level"
        return f"Not the counting: if boxes are bought whole, not by share, {named} {still}"
    does = "costs least" if len(there) == 1 else "are level"
    return f"Whole boxes: if they are bought whole, not by share, {named} {does}"


def _each(there: list[Purchase]) -> str:
    each = [f"{sentences.each_delivered(p, CAPITAL)}" for p in there]
    if len(there) == 1:
        return each[0]
    return sentences.listed(f"{p.label} {text}" for p, text in zip(there, each, strict=True))
