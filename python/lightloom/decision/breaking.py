"""The decision after failures: the goodput of the cheapest fabrics after their worst failure, and
the fabric that is cheapest if every fabric has its own worst failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from lightloom.costs.wording import digits
from lightloom.decision.order import leaders
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.decision.sentences import each_delivered, labels
from lightloom.units.counts import listed
from lightloom.units.intervals import Interval

#: A fabric that keeps this share is shown as keeping everything.
WHOLE = 0.9995


@dataclass(frozen=True)
class Kept:
    """The goodput of a fabric after its worst failure."""

    share: float
    """Share of its fault-free goodput [0 to 1]."""
    part: str
    """The failed part."""
    carries: bool
    """Whether it still carries the load, compared with the other fabrics after their failures."""
    all_tried: bool = True
    """Whether every part was tried; if not, the worst is that of a sample."""


def broken(purchase: Purchase, kept: Kept) -> Purchase:
    """The purchase at the same price, with the goodput after its worst failure."""
    found = purchase.delivered
    if found is None or kept.share <= 0:
        return replace(purchase, delivered=None, seeds=(), carries=False)
    half = None if found.half_width is None else found.half_width * kept.share
    delivered = Interval(found.mean * kept.share, half, found.n)
    seeds = tuple(seed * kept.share for seed in purchase.seeds)
    return replace(purchase, delivered=delivered, seeds=seeds, carries=kept.carries)


def sentence(purchases: Sequence[Purchase], kept: Mapping[str, Kept]) -> str:
    """The goodput that the cheapest fabrics keep, and the cheapest fabric if every fabric has its
    own worst failure; empty if no fabric leads, or no failure was simulated.

    Args:
        kept: by label; without fabrics whose model has no failures.
    """
    first = leaders(purchases, CAPITAL)
    if not first or not kept:
        return ""
    unknown = [p for p in first if p.label not in kept]
    if unknown:
        return (
            f"Failures of {labels(unknown)} are not modelled, so costs after failures are not "
            "compared."
        )
    missing = [p for p in purchases if p.label not in kept and p.carries]
    told = listed(_keeps(p, kept[p.label]) for p in first)
    weighed = [broken(p, kept[p.label]) for p in purchases if p.label in kept]
    left = f" Failures of {labels(missing)} are not modelled." if missing else ""
    then = leaders(weighed, CAPITAL)
    fall = [p for p in purchases if p.label in kept and p.carries and not kept[p.label].carries]
    out = f" {_falls_out(fall)}" if then and fall else ""
    return f"{told}. {_weighed(first, then)}{out}{left}"


def _falls_out(purchases: Sequence[Purchase]) -> str:
    """The fabrics that carry the load without a failure, but not after their worst one."""
    does, its = ("does", "its") if len(purchases) == 1 else ("do", "their")
    return f"{labels(purchases)} {does} not carry the load after {its} worst failure."


def _keeps(one: Purchase, found: Kept) -> str:
    if found.share >= WHOLE:
        any_part = "any one part" if found.all_tried else "any one part that was tried"
        return f"{one.label} keeps its goodput if {any_part} fails"
    share = digits(Fraction(found.share) * 100)
    worst = "its worst part" if found.all_tried else "the worst of the parts that were tried"
    return f"{one.label} keeps {share} % of its goodput if {worst} fails ({found.part})"


def _weighed(first: Sequence[Purchase], then: Sequence[Purchase]) -> str:
    """Whether another fabric is the cheapest if every fabric has its own worst failure."""
    lead = "If every fabric has its own worst failure"
    if not then:
        return f"{lead}, no fabric carries this traffic."
    names = [p.label for p in then]
    still = " still" if set(names) == {p.label for p in first} else ""
    if len(then) == 1:
        cost = each_delivered(then[0], CAPITAL)
        return f"{lead}, {names[0]} is{still} the cheapest, at {cost}."
    return f"{lead}, {labels(then)} are{still} level in cost."
