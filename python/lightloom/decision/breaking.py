"""What breaks, weighed: what the fabric to buy keeps with its worst part dead, and whether another
would be the one to buy if all were judged so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lightloom.costs.wording import digits
from lightloom.decision.order import leaders
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.decision.sentences import each_delivered, labels, listed
from lightloom.units.intervals import Interval

#: A fabric that keeps this share is shown as keeping everything.
WHOLE = 0.9995


@dataclass(frozen=True)
class Kept:
    """What a fabric keeps with its worst part dead."""

    share: float
    """Share of its fault-free goodput [0 to 1]."""
    part: str
    """Which is dead."""
    carries: bool
    """Whether it then delivers about as much of the load as the best of all, so broken, do."""
    all_tried: bool = True
    """Whether each of its parts was tried: else the worst is that of a sample."""


def broken(purchase: Purchase, kept: Kept) -> Purchase:
    """The same fabric at the same price, with its worst part dead."""
    found = purchase.delivered
    if found is None or kept.share <= 0:
        return replace(purchase, delivered=None, seeds=(), carries=False)
    half = None if found.half_width is None else found.half_width * kept.share
    delivered = Interval(found.mean * kept.share, half, found.n)
    seeds = tuple(seed * kept.share for seed in purchase.seeds)
    return replace(purchase, delivered=delivered, seeds=seeds, carries=kept.carries)


def sentence(purchases: Sequence[Purchase], kept: Mapping[str, Kept]) -> str:
    """What those that cost least keep, and who costs least where all have their worst part dead;
    empty if no fabric leads, or nothing was broken.

    Args:
        kept: by label; without those whose model has no failures.
    """
    first = leaders(purchases, CAPITAL)
    if not first or not kept:
        return ""
    unknown = [p for p in first if p.label not in kept]
    if unknown:
        keep = "keeps" if len(unknown) == 1 else "keep"
        return f"What {labels(unknown)} {keep} with a part dead is not modelled, and not weighed."
    missing = [p for p in purchases if p.label not in kept and p.carries]
    told = listed(_keeps(p, kept[p.label]) for p in first)
    weighed = [broken(p, kept[p.label]) for p in purchases if p.label in kept]
    left = f" Of {labels(missing)} it is not modelled." if missing else ""
    then = leaders(weighed, CAPITAL)
    fall = [p for p in purchases if p.label in kept and p.carries and not kept[p.label].carries]
    out = f" {_falls_out(fall)}" if then and fall else ""
    return f"{told[:1].upper()}{told[1:]}. {_weighed(first, then)}{out}{left}"


def _falls_out(purchases: Sequence[Purchase]) -> str:
    """Who carries the load whole and not with its worst part dead."""
    does = "does" if len(purchases) == 1 else "do"
    return f"{labels(purchases)} {does} not carry the load then."


def _keeps(one: Purchase, found: Kept) -> str:
    if found.share >= WHOLE:
        any_part = "any one part" if found.all_tried else "any one part that was tried"
        return f"with {any_part} dead {one.label} keeps its goodput"
    share = digits(Fraction(found.share) * 100)
    worst = "its worst part" if found.all_tried else "the worst of the parts that were tried"
    return f"with {worst} dead ({found.part}) {one.label} keeps {share} % of its goodput"


def _weighed(first: Sequence[Purchase], then: Sequence[Purchase]) -> str:
    """Whether the pick changes if each delivers what it does with its worst part dead."""
    lead = "If that is weighed, each with its worst part dead"
    if not then:
        return f"{lead}, no fabric carries this traffic."
    names = [p.label for p in then]
    costs = f", {each_delivered(then[0], CAPITAL)}" if len(then) == 1 else ""
    if set(names) == {p.label for p in first}:
        still = "it is still the cheapest" if len(then) == 1 else "they are still level"
        return f"{lead}, {still}{costs}."
    if len(then) == 1:
        return f"{lead}, the one to buy is {then[0].label}{costs}."
    return f"{lead}, {labels(then)} are level."
