"""The verdict in a sentence that a buyer could act on, and the price that would overturn it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from lightloom.costs.amounts import Range
from lightloom.costs.wording import digits, part, sign, span
from lightloom.decision.lead import (
    Lead,
    Least,
    NoneCarries,
    NoTotal,
    Only,
    PricesDecide,
    Same,
    Times,
    TooShort,
    unsettled,
)
from lightloom.decision.order import leaders, middle, ranked, share
from lightloom.decision.overturns import FARTHEST, Overturn, all_nearest, between, of_unknown
from lightloom.decision.purchases import CAPITAL, POWER, Measure, Purchase
from lightloom.units.formats import seconds
from lightloom.units.intervals import LEVEL

TOLD = 0.05
"""A fabric that carries the load is named if its goodput is below the best by this share."""
NARROW = Fraction(11, 10)
"""A fabric below this multiple of the lowest cost may be the cheapest at other seeds."""
NAMED = 3
"""The most rivals that are named."""


def listed(items: Iterable[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    texts = list(items)
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} {last} {texts[-1]}"


def labels(purchases: Iterable[Purchase]) -> str:
    """The labels of purchases, as a list in a sentence."""
    return listed(p.label for p in purchases)


def title(found: Lead) -> str:
    """Which fabric costs least, in a few words."""
    match found:
        case TooShort():
            what = "window" if found.windowed else "run"
            return f"The {what} is too short to tell which fabric costs least"
        case NoneCarries():
            return "No fabric carries this traffic"
        case NoTotal():
            return "No fabric that carries this traffic has a total price"
        case Only():
            return _title_of_one(found)
    ended = "The run ended before its flows did: " if found.undone else ""
    match found:
        case Same():
            return f"{ended}{listed(found.labels)} cost the same per delivered Gb/s"
        case Times():
            much = f"{_times(found.times)} as {found.cheaper}"
            return f"{ended}{found.dearer} costs {much} per delivered Gb/s"
        case PricesDecide():
            which = listed(found.labels)
            return f"{ended}Prices decide which of {which} costs least per delivered Gb/s"
        case Least():
            some = " of those with prices" if found.some else ""
            return f"{ended}{found.label} costs least per delivered Gb/s{some}"


def _title_of_one(found: Only) -> str:
    cost = per_gbps(found.cost, found.currency)
    if not found.others:
        return f"{found.label} costs {cost}"
    if found.undone:
        return f"{found.label} delivers the most by the end of the run, at {cost}"
    limit = "" if found.limit_s is None else f" within run.limit = {seconds(found.limit_s)}"
    return f"Only {found.label} carries this traffic{limit}, at {cost}"


def per_gbps(cost: Range, currency: str) -> str:
    """A cost for each Gb/s delivered."""
    return f"{span(cost, sign(currency))} per Gb/s delivered"


def verdict(purchases: Sequence[Purchase]) -> str:
    """The sentence: which fabric carries the traffic at the lowest cost, or which ones are level,
    and the price that would change it; then the fabrics that do not carry the traffic, and those
    without a total."""
    first = leaders(purchases, CAPITAL)
    if doubtful := unsettled(purchases):
        if all(p.waited for p in doubtful):
            return (
                f"The last flows on {labels(doubtful)} finished long after the last arrival: the "
                "arrivals are too short for goodput to be the load that is carried, or the load is "
                f"not carried. No fabric is recommended. {_longer(doubtful[0])}"
            )
        does = "carries" if len(doubtful) == 1 else "carry"
        return (
            f"It is not known whether {labels(doubtful)} {does} this load, so no fabric is "
            f"recommended. {_longer(doubtful[0])}"
        )
    late = [p for p in purchases if not p.carries]
    if not first:
        carrying = any(p.carries for p in purchases)
        return _joined(_nobody(purchases), _late(late) if carrying else "")
    rivals = [p for p in ranked(purchases, CAPITAL) if p not in first]
    if len(first) == 1 and not rivals:
        return _alone(purchases, first[0])
    lead = _level_and_undone(first) if len(first) > 1 else _cheapest(first[0], rivals, purchases)
    return _joined(lead, _late(late, undone=bool(first[0].undone)), _no_total(purchases))


def _joined(*sentences: str) -> str:
    """The sentences that are not empty, joined."""
    return " ".join(s for s in sentences if s)


def _level_and_undone(first: Sequence[Purchase]) -> str:
    """Fabrics that are level, and the jobs or flows that they finished if the run ended early."""
    undone = [f"{p.label} finished {p.undone}" for p in first if p.undone]
    return f"{_level(first)} {listed(undone)}." if undone else _level(first)


def _cheapest(winner: Purchase, rivals: Sequence[Purchase], purchases: Sequence[Purchase]) -> str:
    """Which fabric costs least, and the price that would change that."""
    cost = each_delivered(winner, CAPITAL)
    some = ", of those whose parts all have a price" if _without_total(purchases) else ""
    lead = (
        f"{winner.label} {_carries(winner)} at the lowest capital cost{some}, "
        f"{cost}{_but_finished(winner)}"
    )
    found = all_nearest(winner, rivals)
    if found:
        return f"{lead}; {overturn_text(found[0], winner)}."
    return (
        f"{lead}; no price of a single part, up to {FARTHEST} times as high or low, changes that."
    )


def _late(late: Sequence[Purchase], *, undone: bool = False) -> str:
    """The fabrics that do not carry the traffic, and the jobs or flows that each finished; empty
    if there are none. If the cheapest fabric is `undone` as well, they delivered less."""
    if not late:
        return ""
    each = listed(p.label + (f" (finished {p.undone})" if p.undone else "") for p in late)
    one = len(late) == 1
    if undone:
        return f"{each} {'delivers' if one else 'deliver'} less."
    return f"{each} {'does' if one else 'do'} not carry it."


def _no_total(purchases: Sequence[Purchase]) -> str:
    """The fabrics whose cost cannot be compared; empty if there are none."""
    without = _without_total(purchases)
    has = "has" if len(without) == 1 else "have"
    return f"{labels(without)} {has} no total price." if without else ""


def _without_total(purchases: Sequence[Purchase]) -> list[Purchase]:
    """The fabrics with a part without a price, whether they carry the traffic or not."""
    return [p for p in purchases if CAPITAL.unknown(p)]


def _longer(one: Purchase) -> str:
    """The settings that would show whether a fabric carries the load."""
    if one.windowed:
        return "Lengthen run.warm_up and run.measure, or raise run.repeat."
    if one.limit_s is not None:
        return f"Raise or remove run.limit = {seconds(one.limit_s)}, which ended the run."
    return (
        "Raise workload.flows, or play a longer trace, or set run.warm_up and run.measure to judge "
        "a steady state."
    )


def overturn_text(found: Overturn, one: Purchase) -> str:
    """`sirius is cheaper if a tunable transceiver costs less than $320 (the book says …)`."""
    before = sign(one.cost.book.currency)
    side = "less" if found.below else "more"
    unit = "" if found.unit == "piece" else f" a {found.unit}"
    price = span(found.price, before) + unit
    if found.of is not None and found.times is not None:
        price = f"{span(found.times)} times {part(found.of)}, {price}"
    text = f"{found.rival} is cheaper if {part(found.part)} costs {side} than {price}"
    if found.book is None:
        return f"{text} (the book has no price for it)"
    says = span(found.book, before) + unit
    if found.book_times is not None:
        says = f"{span(found.book_times)} times, {says}"
    return f"{text} (the book says {says})"


def amounts(purchases: Sequence[Purchase], measure: Measure) -> str:
    """The cost or power of the best fabric, and those of the others as multiples of it."""
    first, known = leaders(purchases, measure), ranked(purchases, measure)
    if len(known) < 2 or not first:
        return ""
    verb = "costs" if measure is CAPITAL else "draws"
    than = f" as {first[0].label}" if len(first) > 1 or measure is CAPITAL else ""
    each = [
        f"{other.label} {verb} {_times(found)}{than}"
        for other in known
        if other not in first and (found := share(other, first[0], measure)) is not None
    ]
    if len(first) > 1 and measure is CAPITAL and not each:
        return ""  # the verdict states it
    if len(first) > 1:
        lead = f"In {measure.name} {labels(first)} are level"
        return f"{lead}{'; ' + listed(each[:NAMED]) if each else ''}."
    if measure is CAPITAL:  # what it costs itself is in the verdict
        return f"{listed(each[:NAMED])}."
    least = f"{first[0].label} draws the least, {each_delivered(first[0], measure)}"
    return f"{least}; {listed(each[:NAMED])}."


def delivered(purchases: Sequence[Purchase], when: str) -> str:
    """The fabrics that carry the load with a goodput below the best by `TOLD` or more. `when` is
    the part of the run in which goodput was counted."""
    known = [(p, p.delivered.mean) for p in purchases if p.carries and p.delivered is not None]
    if not known:
        return ""
    best, most = max(known, key=lambda pair: pair[1])
    each = [
        f"the goodput of {one.label} is {100 * (1 - mean / most):.0f} % less than that of "
        f"{best.label}"
        for one, mean in known
        if mean < most * (1 - TOLD)
    ]
    if not each:
        return ""
    return f"{when} {listed(each)}. Each fabric's cost is divided by its own goodput."


def unpriced(purchases: Sequence[Purchase]) -> Iterator[str]:
    """The fabrics that have parts without a price, and the price below which each would be the
    cheapest."""
    first = leaders(purchases, CAPITAL)
    for one in _unpriced(purchases):
        missing = CAPITAL.unknown(one)
        lacks = (
            f"{one.label} has no total price: the book has no price for "
            f"{listed(map(part, missing))}"
        )
        found = of_unknown(first[0], one) if first else None
        if found is not None:
            unit = "" if found.unit == "piece" else f" a {found.unit}"
            price = span(found.price, sign(one.cost.book.currency)) + unit
            yield f"{lacks}; it is cheaper than {first[0].label} below {price}."
        elif first and len(missing) == 1:
            yield f"{lacks}; even at a price of 0 for it, it costs more than {first[0].label}."
        else:
            yield f"{lacks}; --price sets one."


def prices(purchases: Sequence[Purchase]) -> Iterator[str]:
    """The prices at which the rivals that the verdict does not name would be the cheapest."""
    first = leaders(purchases, CAPITAL)
    if len(first) != 1:
        return
    found = all_nearest(first[0], ranked(purchases, CAPITAL)[1:])
    for overturn in found[1 : 1 + NAMED]:
        yield f"A price: {overturn_text(overturn, first[0])}."


def power(purchases: Sequence[Purchase]) -> Iterator[str]:
    """The fabric that draws least power, if it is not among the cheapest."""
    cheapest, least = (leaders(purchases, m) for m in (CAPITAL, POWER))
    if len(least) == 1 and cheapest and least[0] not in cheapest:
        yield f"Power, if that decides: {amounts(purchases, POWER)}"


def seeds(purchases: Sequence[Purchase]) -> Iterator[str]:
    """The number of seeds, if the lead is narrow or there is one seed only."""
    first, known = leaders(purchases, CAPITAL), ranked(purchases, CAPITAL)
    if not first or len(known) < 2:
        return
    costs = [(p, share(p, first[0], CAPITAL)) for p in known if p not in first]
    near = [(p, found) for p, found in costs if found is not None and found.low < NARROW]
    number = len(first[0].seeds) or 1
    if number == 1 and not near and len(first) == 1:
        yield "Other seeds: one seed was run, so there is no interval; set run.repeat for several."
        return
    if not near and len(first) < 2:
        return
    rests = f"{number} seed{' was' if number == 1 else 's were'} run"
    each = [f"{p.label} costs {_times(found)} as {first[0].label}" for p, found in near]
    why = listed(each) if each else f"{labels(first)} are level"
    yield f"Other seeds: {rests}; {why}, so their order may differ with other seeds."


def without_load(purchases: Sequence[Purchase]) -> Iterator[str]:
    """The fabrics that do not carry the load but cost less per Gb/s of the servers' links."""
    first = leaders(purchases, CAPITAL)
    late = [p for p in purchases if not p.carries and not p.undone]
    if not first or not late or first[0].undone:  # a run that ended early is no load
        return
    before, most = sign(first[0].cost.book.currency), first[0].cost.per_gbps
    assert most is not None
    each = [
        f"{p.label} ({span(found, before)})"
        for p in late
        if (found := p.cost.per_gbps) is not None and found.high < most.low
    ]
    if each:
        yield (
            f"A lower load: {listed(each)} {'does' if len(each) == 1 else 'do'} not carry this "
            f"load, but {'costs' if len(each) == 1 else 'cost'} less than {first[0].label} "
            f"({span(most, before)}) per Gb/s of the servers' links."
        )


def each_delivered(purchase: Purchase, measure: Measure) -> str:
    """The cost or power per unit of goodput."""
    found = measure.value(purchase)
    assert found is not None
    if measure is POWER:
        return f"{span(found, unit='W')} per Tb/s delivered"
    return per_gbps(found, purchase.cost.book.currency)


def _times(found: Range) -> str:
    """`1.2 to 1.7 times as much`."""
    low, high = (f"{float(end):.2f}" if end < 2 else digits(end) for end in (found.low, found.high))
    return f"{low if low == high else f'{low} to {high}'} times as much"


def _unpriced(purchases: Sequence[Purchase]) -> list[Purchase]:
    """The fabrics that carry the load and have a part without a price."""
    return [p for p in purchases if p.carries and CAPITAL.unknown(p)]


def _level(first: Sequence[Purchase]) -> str:
    """No fabric is cheaper: the cost of each, and the price that decides."""
    before = sign(first[0].cost.book.currency)
    values = [CAPITAL.value(p) for p in first]
    each = [f"{p.label} {span(v, before)}" for p, v in zip(first, values, strict=True) if v]
    lead = f"{labels(first)} are level in capital cost per Gb/s delivered: {listed(each)}"
    found = between(first[0], first[1])
    if found is not None:
        return f"{lead}. Which is cheaper depends on one price: {overturn_text(found, first[0])}."
    if middle(first[1], CAPITAL) <= middle(first[0], CAPITAL) * Fraction(1 + LEVEL):
        return f"{lead}, less than {LEVEL * 100:.0f} % apart."
    return (
        f"{lead}. Their goodput differs between seeds by as much as the costs do; run with more "
        "flows."
    )


def _alone(purchases: Sequence[Purchase], winner: Purchase) -> str:
    """The sentence for a fabric without a rival."""
    cost = each_delivered(winner, CAPITAL)
    if len(purchases) == 1:
        return (
            f"{winner.label} {_carries(winner)} at {cost}{_but_finished(winner)}; there is no "
            "other fabric to compare."
        )
    late = [p for p in purchases if not p.carries]
    if len([p for p in purchases if p.carries]) == 1:
        lead = f"{winner.label} alone carries this traffic, at {cost}"
        if winner.undone:
            lead = f"{winner.label} delivers the most by the end of the run, at {cost}"
        return _joined(f"{lead}; {_left_behind(late, winner)}.", _no_total(purchases))
    lead = f"{winner.label} {_carries(winner)} at {cost}{_but_finished(winner)}."
    return _joined(
        lead,
        *unpriced([p for p in purchases if p is winner or p.carries]),
        _late(late, undone=bool(winner.undone)),
        _no_total(late),
    )


def _carries(one: Purchase) -> str:
    """The verb of a fabric: one with unfinished jobs or flows delivers, it does not carry."""
    return "delivers" if one.undone else "carries this traffic"


def _but_finished(one: Purchase) -> str:
    """The jobs or flows that a fabric finished, if it left some unfinished; otherwise empty."""
    return f", but finished only {one.undone}" if one.undone else ""


def _left_behind(late: Sequence[Purchase], winner: Purchase) -> str:
    """The jobs or flows that fabrics which do not carry the traffic finished, if known."""
    known = [p for p in ((winner, *late) if winner.undone else late) if p.undone]
    rest = [p for p in late if not p.undone]
    said = [f"{p.label} finished {p.undone}" for p in known]
    if rest:
        one = len(rest) == 1
        less = f"{'delivers' if one else 'deliver'} less"
        said.append(f"{labels(rest)} {less if known else 'does not' if one else 'do not'}")
    return listed(said)


def _nobody(purchases: Sequence[Purchase]) -> str:
    """The sentence if no fabric both carries the traffic and has a total price."""
    if not any(p.delivered for p in purchases):
        return "Nothing was delivered, so there is no cost per delivered Gb/s."
    if not any(p.carries for p in purchases):
        return (
            "No fabric carries this traffic, so none is recommended; a lower load would show how "
            "much each fabric carries."
        )
    return "No fabric that carries this traffic has a total. " + " ".join(unpriced(purchases))
