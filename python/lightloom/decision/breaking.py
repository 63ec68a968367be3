"""The decision after failures, as data: the goodput of the cheapest fabrics after their worst
failure, and the fabric that is cheapest if every fabric has its own worst failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lightloom.costs.amounts import Range
from lightloom.decision.order import leaders
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.units.intervals import Interval


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


@dataclass(frozen=True)
class NotModelled:
    """The cheapest fabrics whose model has no failures, so that costs are not compared."""

    labels: tuple[str, ...]


@dataclass(frozen=True)
class AfterFailures:
    """The cheapest fabrics without and with failures."""

    keeps: tuple[tuple[str, Kept], ...]
    """Each of the cheapest fabrics, and what it keeps."""
    then: tuple[str, ...]
    """The cheapest fabrics if every fabric has its own worst failure."""
    cost: Range | None
    """The cost of this fabric for each Gb/s delivered, in `currency`, if it is one."""
    currency: str
    falls_out: tuple[str, ...]
    """The fabrics that carry the load without a failure, but not after their worst one."""
    missing: tuple[str, ...]
    """The other fabrics that carry the load and whose model has no failures."""

    @property
    def same(self) -> bool:
        """Whether the same fabrics are the cheapest."""
        return set(self.then) == {label for label, _ in self.keeps}


def broken(purchase: Purchase, kept: Kept) -> Purchase:
    """The purchase at the same price, with the goodput after its worst failure."""
    found = purchase.delivered
    if found is None or kept.share <= 0:
        return replace(purchase, delivered=None, seeds=(), carries=False)
    half = None if found.half_width is None else found.half_width * kept.share
    delivered = Interval(found.mean * kept.share, half, found.n)
    seeds = tuple(seed * kept.share for seed in purchase.seeds)
    return replace(purchase, delivered=delivered, seeds=seeds, carries=kept.carries)


def after_failures(
    purchases: Sequence[Purchase], kept: Mapping[str, Kept]
) -> AfterFailures | NotModelled | None:
    """The goodput that the cheapest fabrics keep, and the cheapest fabric if every fabric has its
    own worst failure; None if no fabric leads, or no failure was simulated.

    Args:
        kept: by label; without fabrics whose model has no failures.
    """
    first = leaders(purchases, CAPITAL)
    if not first or not kept:
        return None
    unknown = [p for p in first if p.label not in kept]
    if unknown:
        return NotModelled(_labels(unknown))
    then = leaders([broken(p, kept[p.label]) for p in purchases if p.label in kept], CAPITAL)
    fall = [p for p in purchases if p.label in kept and p.carries and not kept[p.label].carries]
    return AfterFailures(
        tuple((p.label, kept[p.label]) for p in first),
        _labels(then),
        CAPITAL.value(then[0]) if len(then) == 1 else None,
        first[0].cost.book.currency,
        _labels(fall) if then else (),
        _labels([p for p in purchases if p.label not in kept and p.carries]),
    )


def _labels(purchases: Sequence[Purchase]) -> tuple[str, ...]:
    return tuple(p.label for p in purchases)
