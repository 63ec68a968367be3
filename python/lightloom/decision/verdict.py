"""The fabric to buy, as data: the finding in the sentence below the title of a decision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from lightloom.costs.amounts import Range
from lightloom.decision.lead import unsettled
from lightloom.decision.order import leaders, middle, ranked
from lightloom.decision.overturns import Overturn, all_nearest, between, of_unknown
from lightloom.decision.purchases import CAPITAL, Purchase
from lightloom.units.intervals import LEVEL


@dataclass(frozen=True)
class Offer:
    """A fabric at its cost."""

    label: str
    cost: Range | None
    """Cost for each Gb/s delivered, in `currency`; None if unknown."""
    currency: str
    finished: str = ""
    """The jobs or flows that it finished, such as `1 of 3 jobs`, if the run ended before the
    last."""


@dataclass(frozen=True)
class Unpriced:
    """A fabric that carries the load and has parts without a price."""

    label: str
    parts: tuple[str, ...]
    than: str | None = None
    """The cheapest fabric, if there is one and a single price is missing."""
    below: Overturn | None = None
    """The price below which it is cheaper than `than`; None if it is dearer at a price of 0."""


@dataclass(frozen=True)
class Unsettled:
    """The window or the run is too short to show whether the cheapest fabrics carry the load."""

    labels: tuple[str, ...]
    waited: bool
    """Whether the last flows finished so late that goodput is not the load that is carried."""
    windowed: bool
    limit_s: float | None
    """run.limit, if it ended the run [s]."""


@dataclass(frozen=True)
class NoneBought:
    """No fabric both carries the traffic and has a total price."""

    why: Literal["nothing delivered", "none carries", "no total"]
    unpriced: tuple[Unpriced, ...] = ()
    late: tuple[Offer, ...] = ()
    """The fabrics that do not carry the traffic, if another does."""


@dataclass(frozen=True)
class Single:
    """One fabric was compared."""

    winner: Offer


@dataclass(frozen=True)
class AloneCarries:
    """Only one fabric carries the traffic."""

    winner: Offer
    late: tuple[Offer, ...]
    without: tuple[str, ...]
    """The fabrics without a total price."""


@dataclass(frozen=True)
class AlonePriced:
    """Several fabrics carry the traffic, but only one of them has a total price."""

    winner: Offer
    unpriced: tuple[Unpriced, ...]
    late: tuple[Offer, ...]
    without: tuple[str, ...]
    """The fabrics without a total price, of those that do not carry the traffic."""


@dataclass(frozen=True)
class Cheapest:
    """One fabric costs least."""

    winner: Offer
    overturn: Overturn | None
    """The price that has to change least for another to be cheaper; None if no single price of a
    part, within a factor of `overturns.FARTHEST`, changes that."""
    late: tuple[Offer, ...]
    without: tuple[str, ...]
    """The fabrics without a total price, whether they carry the traffic or not."""


@dataclass(frozen=True)
class Level:
    """No fabric is certainly cheaper than these."""

    offers: tuple[Offer, ...]
    overturn: Overturn | None
    """The price that decides between the first two."""
    near: bool
    """Whether the first two differ by less than `LEVEL` at prices in the middle of their ranges;
    otherwise their goodput differs between seeds by as much."""
    late: tuple[Offer, ...]
    without: tuple[str, ...]
    """The fabrics without a total price, whether they carry the traffic or not."""


Verdict = Unsettled | NoneBought | Single | AloneCarries | AlonePriced | Cheapest | Level


def verdict(purchases: Sequence[Purchase]) -> Verdict:
    """Finds which fabric carries the traffic at the lowest cost, or which ones are level."""
    if doubtful := unsettled(purchases):
        one = doubtful[0]
        waited = all(p.waited for p in doubtful)
        return Unsettled(_labels(doubtful), waited, one.windowed, one.limit_s)
    first, late = leaders(purchases, CAPITAL), [p for p in purchases if not p.carries]
    if not first:
        return _none_bought(purchases, late)
    rivals = [p for p in ranked(purchases, CAPITAL) if p not in first]
    if len(first) == 1 and not rivals:
        return _alone(purchases, first[0], late)
    offers, without = _offers(late), _labels(_without_total(purchases))
    if len(first) == 1:
        found = all_nearest(first[0], rivals)
        return Cheapest(_offer(first[0]), found[0] if found else None, offers, without)
    near = middle(first[1], CAPITAL) <= middle(first[0], CAPITAL) * Fraction(1 + LEVEL)
    return Level(_offers(first), between(first[0], first[1]), near, offers, without)


def unpriced(purchases: Sequence[Purchase]) -> Iterator[Unpriced]:
    """Finds the fabrics that carry the load and have parts without a price, and the price below
    which each would be the cheapest."""
    first = leaders(purchases, CAPITAL)
    for one in purchases:
        parts = tuple(CAPITAL.unknown(one))
        if not one.carries or not parts:
            continue
        below = of_unknown(first[0], one) if first else None
        than = first[0].label if first and (below or len(parts) == 1) else None
        yield Unpriced(one.label, parts, than, below)


def _none_bought(purchases: Sequence[Purchase], late: Sequence[Purchase]) -> NoneBought:
    carrying = any(p.carries for p in purchases)
    offers = _offers(late) if carrying else ()
    if not any(p.delivered for p in purchases):
        return NoneBought("nothing delivered", late=offers)
    if not carrying:
        return NoneBought("none carries")
    return NoneBought("no total", tuple(unpriced(purchases)), offers)


def _alone(
    purchases: Sequence[Purchase], winner: Purchase, late: Sequence[Purchase]
) -> Single | AloneCarries | AlonePriced:
    """A fabric without a rival."""
    if len(purchases) == 1:
        return Single(_offer(winner))
    if len(purchases) == len(late) + 1:
        without = _labels(_without_total(purchases))
        return AloneCarries(_offer(winner), _offers(late), without)
    missing = tuple(unpriced([p for p in purchases if p.carries]))
    return AlonePriced(_offer(winner), missing, _offers(late), _labels(_without_total(late)))


def _offer(one: Purchase) -> Offer:
    return Offer(one.label, CAPITAL.value(one), one.cost.book.currency, one.undone)


def _offers(purchases: Sequence[Purchase]) -> tuple[Offer, ...]:
    return tuple(_offer(p) for p in purchases)


def _labels(purchases: Sequence[Purchase]) -> tuple[str, ...]:
    return tuple(p.label for p in purchases)


def _without_total(purchases: Sequence[Purchase]) -> list[Purchase]:
    return [p for p in purchases if CAPITAL.unknown(p)]
