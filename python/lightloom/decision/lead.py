"""The fabric that leads in cost, as data: the finding in the title of a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from lightloom.costs.amounts import Range
from lightloom.decision.order import cheapest, leaders, middle, share
from lightloom.decision.overturns import between
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.units.intervals import LEVEL


@dataclass(frozen=True)
class TooShort:
    """A window or a run is too short to tell which fabric costs least."""

    windowed: bool
    """Whether it is the window."""


@dataclass(frozen=True)
class NoneCarries:
    """No fabric carries the traffic."""


@dataclass(frozen=True)
class NoTotal:
    """No fabric that carries the traffic has a total price."""


@dataclass(frozen=True)
class Only:
    """Only one fabric was compared, or only one carries the traffic."""

    label: str
    cost: Range
    """Cost for each Gb/s delivered, in `currency`."""
    currency: str
    others: bool = False
    """Whether others were compared."""
    undone: bool = False
    """Whether the run ended before the fabric had finished."""
    limit_s: float | None = None
    """run.limit, if it ended the run of another [s]."""


@dataclass(frozen=True)
class Same:
    """The cheapest fabrics cost the same, and no single price decides between them."""

    labels: tuple[str, ...]
    undone: bool
    """Whether the run ended before any of them had finished."""


@dataclass(frozen=True)
class Times:
    """The prices determine which of two fabrics is cheaper."""

    dearer: str
    """The fabric that costs more at prices in the middle of their ranges."""
    cheaper: str
    times: Range
    """Cost of the dearer one ÷ that of the cheaper one."""
    undone: bool
    """Whether the run ended before either had finished."""


@dataclass(frozen=True)
class PricesDecide:
    """The prices determine which of several fabrics is cheaper."""

    labels: tuple[str, ...]
    undone: bool
    """Whether the run ended before any of them had finished."""


@dataclass(frozen=True)
class Least:
    """One fabric costs least."""

    label: str
    undone: bool
    """Whether the run ended before it had finished."""
    some: bool
    """Whether others have no total price."""


Lead = TooShort | NoneCarries | NoTotal | Only | Same | Times | PricesDecide | Least


def lead(purchases: Sequence[Purchase]) -> Lead:
    """Finds which fabric leads in cost."""
    first = leaders(purchases, CAPITAL)
    carrying = [p for p in purchases if p.carries]
    if doubtful := unsettled(purchases):
        return TooShort(doubtful[0].windowed)
    if not carrying:
        return NoneCarries()
    if not first:
        return NoTotal()
    if len(carrying) == 1:
        return _only(first[0], purchases)
    if len(first) > 1:
        return _several(first)
    some = any(CAPITAL.unknown(p) for p in purchases)
    return Least(first[0].label, bool(first[0].undone), some)


def unsettled(purchases: Sequence[Purchase]) -> list[Purchase]:
    """The cheapest fabrics whose window or run is too short to show whether they carry the load, or
    at which goodput."""
    return [p for p in cheapest(purchases, CAPITAL) if p.unsettled or p.waited]


def _only(one: Purchase, purchases: Sequence[Purchase]) -> Only:
    cost = CAPITAL.value(one)
    assert cost is not None
    limits = [p.limit_s for p in purchases if not p.carries and p.limit_s is not None]
    return Only(
        one.label,
        cost,
        one.cost.book.currency,
        others=len(purchases) > 1,
        undone=bool(one.undone),
        limit_s=limits[0] if limits else None,
    )


def _several(first: Sequence[Purchase]) -> Same | Times | PricesDecide:
    """The finding for fabrics that are level in cost; with the cost ratio, if the prices decide
    between two."""
    labels, undone = tuple(p.label for p in first), all(p.undone for p in first)
    nearly = middle(first[0], CAPITAL) * Fraction(1 + LEVEL)
    if all(between(first[0], p) is None and middle(p, CAPITAL) <= nearly for p in first[1:]):
        return Same(labels, undone)
    if len(first) == 2 and (times := share(first[1], first[0], CAPITAL)) is not None:
        return Times(first[1].label, first[0].label, times, undone)
    return PricesDecide(labels, undone)
