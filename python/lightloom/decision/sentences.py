"""The sentences of a decision: its title, the verdict that a buyer could act on, and the remarks
beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from lightloom.costs.amounts import Range
from lightloom.costs.wording import digits, part, sign, span
from lightloom.decision.breaking import AfterFailures, Kept, NotModelled
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
)
from lightloom.decision.overturns import FARTHEST, Overturn
from lightloom.decision.purchases import CAPITAL, POWER, Measure, Purchase
from lightloom.decision.remarks import NAMED, LessGoodput, LowerLoad, Multiples, OtherSeeds
from lightloom.decision.verdict import (
    AloneCarries,
    AlonePriced,
    Cheapest,
    Level,
    NoneBought,
    Offer,
    Single,
    Unpriced,
    Unsettled,
    Verdict,
)
from lightloom.units.counts import listed
from lightloom.units.formats import seconds
from lightloom.units.intervals import LEVEL

WHOLE = 0.9995
"""A fabric that keeps this share is shown as keeping everything."""


def labels(purchases: Iterable[Purchase]) -> str:
    """The labels of purchases, as a list in a sentence."""
    return listed(p.label for p in purchases)


def title(found: Lead) -> str:
    """The title: the fabric that costs least."""
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


def verdict(found: Verdict) -> str:
    """The fabric that carries the traffic at the lowest cost, or those that are level, and the
    price that would change it; then the fabrics that do not carry the traffic, and those without a
    total."""
    match found:
        case Unsettled():
            return _unsettled(found)
        case NoneBought():
            return _joined(_none_bought(found), _late(found.late))
        case Single():
            return f"{_delivers(found.winner)}; there is no other fabric to compare."
        case AloneCarries():
            verb = "alone carries this traffic,"
            if found.winner.finished:
                verb = "delivers the most by the end of the run,"
            lead = f"{found.winner.label} {verb} at {_cost(found.winner)}"
            rest = _left_behind(found.late, found.winner)
            return _joined(f"{lead}; {rest}.", _no_total(found.without))
        case AlonePriced():
            missing = [unpriced(one) for one in found.unpriced]
            late = _late(found.late, undone=bool(found.winner.finished))
            return _joined(f"{_delivers(found.winner)}.", *missing, late, _no_total(found.without))
        case Cheapest():
            late = _late(found.late, undone=bool(found.winner.finished))
            return _joined(_cheapest(found), late, _no_total(found.without))
        case Level():
            late = _late(found.late, undone=bool(found.offers[0].finished))
            return _joined(_level_and_undone(found), late, _no_total(found.without))


def _joined(*sentences: str) -> str:
    """The sentences that are not empty, joined."""
    return " ".join(s for s in sentences if s)


def _unsettled(found: Unsettled) -> str:
    """The fabrics for which the run is too short, and the settings that would show more."""
    names = listed(found.labels)
    if found.waited:
        return (
            f"The last flows on {names} finished long after the last arrival: either the "
            "arrivals are too short for goodput to equal the carried load, or the load is not "
            "carried. No "
            f"fabric is recommended. {_longer(found)}"
        )
    does = "carries" if len(found.labels) == 1 else "carry"
    return (
        f"It is not known whether {names} {does} this load, so no fabric is recommended. "
        f"{_longer(found)}"
    )


def _longer(found: Unsettled) -> str:
    if found.windowed:
        return "Lengthen run.warm_up and run.measure, or raise run.repeat."
    if found.limit_s is not None:
        return f"Raise or remove run.limit = {seconds(found.limit_s)}, which ended the run."
    return (
        "Raise workload.flows, or play a longer trace, or set run.warm_up and run.measure to judge "
        "a steady state."
    )


def _none_bought(found: NoneBought) -> str:
    match found.why:
        case "nothing delivered":
            return "Nothing was delivered, so there is no cost per delivered Gb/s."
        case "none carries":
            return (
                "No fabric carries this traffic, so none is recommended; a lower load would show "
                "how much each fabric carries."
            )
        case "no total":
            lead = "No fabric that carries this traffic has a total."
            return _joined(lead, *(unpriced(one) for one in found.unpriced))


def _cheapest(found: Cheapest) -> str:
    """The fabric that costs least, and the price that would change that."""
    winner = found.winner
    some = ", of those whose parts all have a price" if found.without else ""
    lead = (
        f"{winner.label} {_carries(winner)} at the lowest capital cost{some}, "
        f"{_cost(winner)}{_but_finished(winner)}"
    )
    if found.overturn is not None:
        return f"{lead}; {overturn_text(found.overturn)}."
    return (
        f"{lead}; no change of the price of a single part, by a factor of up to {FARTHEST}, "
        "changes that."
    )


def _level_and_undone(found: Level) -> str:
    """Fabrics that are level, and the jobs or flows that they finished if the run ended early."""
    undone = [f"{one.label} finished {one.finished}" for one in found.offers if one.finished]
    return f"{_level(found)} {listed(undone)}." if undone else _level(found)


def _level(found: Level) -> str:
    """No fabric is cheaper: the cost of each, and the price that decides."""
    each = [f"{one.label} {span(one.cost, sign(one.currency))}" for one in found.offers if one.cost]
    names = listed(one.label for one in found.offers)
    lead = f"{names} are level in capital cost per Gb/s delivered: {listed(each)}"
    if found.overturn is not None:
        return f"{lead}. Which is cheaper depends on one price: {overturn_text(found.overturn)}."
    if found.near:
        return f"{lead}, less than {LEVEL * 100:.0f} % apart."
    return (
        f"{lead}. Their goodput differs between seeds by as much as their costs differ; run with "
        "more flows."
    )


def _late(late: Sequence[Offer], *, undone: bool = False) -> str:
    """The fabrics that do not carry the traffic, and the jobs or flows that each finished; empty
    if there are none. If the cheapest fabric is `undone` as well, they delivered less."""
    if not late:
        return ""
    each = listed(p.label + (f" (finished {p.finished})" if p.finished else "") for p in late)
    one = len(late) == 1
    if undone:
        return f"{each} {'delivers' if one else 'deliver'} less."
    return f"{each} {'does' if one else 'do'} not carry it."


def _left_behind(late: Sequence[Offer], winner: Offer) -> str:
    """The jobs or flows that fabrics which do not carry the traffic finished, if known."""
    known = [p for p in ((winner, *late) if winner.finished else late) if p.finished]
    rest = [p.label for p in late if not p.finished]
    said = [f"{p.label} finished {p.finished}" for p in known]
    if rest:
        one = len(rest) == 1
        less = f"{'delivers' if one else 'deliver'} less"
        said.append(f"{listed(rest)} {less if known else 'does not' if one else 'do not'}")
    return listed(said)


def _no_total(without: Sequence[str]) -> str:
    """The fabrics whose cost cannot be compared; empty if there are none."""
    has = "has" if len(without) == 1 else "have"
    return f"{listed(without)} {has} no total price." if without else ""


def _delivers(one: Offer) -> str:
    """`sirius carries this traffic at $140 per Gb/s delivered`."""
    return f"{one.label} {_carries(one)} at {_cost(one)}{_but_finished(one)}"


def _carries(one: Offer) -> str:
    """The verb of a fabric: one with unfinished jobs or flows delivers, it does not carry."""
    return "delivers" if one.finished else "carries this traffic"


def _but_finished(one: Offer) -> str:
    """The jobs or flows that a fabric finished, if it left some unfinished; otherwise empty."""
    return f", but finished only {one.finished}" if one.finished else ""


def _cost(one: Offer) -> str:
    assert one.cost is not None
    return per_gbps(one.cost, one.currency)


def overturn_text(found: Overturn) -> str:
    """`sirius is cheaper if a tunable transceiver costs less than $320 (the book says …)`."""
    side = "less" if found.below else "more"
    price = _price(found)
    if found.of is not None and found.times is not None:
        price = f"{span(found.times)} times {part(found.of)}, {price}"
    text = f"{found.rival} is cheaper if {part(found.part)} costs {side} than {price}"
    if found.book is None:
        return f"{text} (the book has no price for it)"
    says = _a_unit(found.book, found)
    if found.book_times is not None:
        says = f"{span(found.book_times)} times, {says}"
    return f"{text} (the book says {says})"


def _price(found: Overturn) -> str:
    return _a_unit(found.price, found)


def _a_unit(price: Range, found: Overturn) -> str:
    """A price for the unit of a part: `$3 a Gb/s`."""
    unit = "" if found.unit == "piece" else f" a {found.unit}"
    return span(price, sign(found.currency)) + unit


def multiples(found: Multiples | None) -> str:
    """The cost or power of the best fabric, and those of the others as multiples of it."""
    if found is None:
        return ""
    capital, several = found.measure is CAPITAL, len(found.leaders) > 1
    verb = "costs" if capital else "draws"
    than = f" as {found.leaders[0]}" if several or capital else ""
    each = [f"{label} {verb} {_times(times)}{than}" for label, times in found.others[:NAMED]]
    if not each and (capital or not several):
        return ""  # the verdict states it
    if several:
        lead = f"In {found.measure.name} {listed(found.leaders)} are level"
        return f"{lead}{'; ' + listed(each) if each else ''}."
    if capital:  # its own cost is in the verdict
        return f"{listed(each)}."
    least = f"{found.leaders[0]} draws the least, {_watts(found.least)}"
    return f"{least}; {listed(each)}."


def less_goodput(found: LessGoodput | None, when: str) -> str:
    """The fabrics with less goodput. `when` is the part of the run in which it was counted."""
    if found is None:
        return ""
    each = [
        f"the goodput of {label} is {100 * (1 - share):.0f} % less than that of {found.best}"
        for label, share in found.others
    ]
    return f"{when} {listed(each)}. Each fabric's cost is divided by its own goodput."


def unpriced(one: Unpriced) -> str:
    """The parts without a price, and the price below which the fabric would be the cheapest."""
    missing = listed(map(part, one.parts))
    lacks = f"{one.label} has no total price: the book has no price for {missing}"
    if one.below is not None:
        return f"{lacks}; it is cheaper than {one.than} below {_price(one.below)}."
    if one.than is not None:
        return f"{lacks}; even at a price of 0 for it, it costs more than {one.than}."
    return f"{lacks}; --price sets one."


def other_price(found: Overturn) -> str:
    """A price at which a rival that the verdict does not name would be the cheapest."""
    return f"A price: {overturn_text(found)}."


def less_power(found: Multiples) -> str:
    """The fabric that draws least power, which is not among the cheapest."""
    return f"Power, if that decides: {multiples(found)}"


def other_seeds(found: OtherSeeds) -> str:
    """The number of seeds, and the fabrics whose order may differ with others."""
    one = found.number == 1
    if one and not found.near and len(found.leaders) == 1:
        return "Other seeds: one seed was run, so there is no interval; set run.repeat for several."
    run = f"{found.number} seed{' was' if one else 's were'} run"
    each = [f"{label} costs {_times(times)} as {found.leaders[0]}" for label, times in found.near]
    why = listed(each) if each else f"{listed(found.leaders)} are level"
    return f"Other seeds: {run}; {why}, so their order may differ with other seeds."


def lower_load(found: LowerLoad) -> str:
    """The fabrics that do not carry the load but cost less for the servers' links."""
    before, one = sign(found.currency), len(found.fabrics) == 1
    each = [f"{label} ({span(cost, before)})" for label, cost in found.fabrics]
    return (
        f"A lower load: {listed(each)} {'does' if one else 'do'} not carry this load, but "
        f"{'costs' if one else 'cost'} less than {found.leader} ({span(found.most, before)}) per "
        "Gb/s of the servers' links."
    )


def after_failures(found: AfterFailures | NotModelled) -> str:
    """The goodput that the cheapest fabrics keep, and the cheapest if every fabric has its own
    worst failure."""
    if isinstance(found, NotModelled):
        return (
            f"Failures of {listed(found.labels)} are not modelled, so costs after failures are not "
            "compared."
        )
    told = listed(_keeps(label, kept) for label, kept in found.keeps)
    left = f"Failures of {listed(found.missing)} are not modelled." if found.missing else ""
    return _joined(f"{told}.", _cheapest_then(found), _falls_out(found.falls_out), left)


def _keeps(label: str, found: Kept) -> str:
    if found.share >= WHOLE:
        any_part = "any one part" if found.all_tried else "any one part that was tried"
        return f"{label} keeps its goodput if {any_part} fails"
    share = digits(Fraction(found.share) * 100)
    worst = "its worst part" if found.all_tried else "the worst of the parts that were tried"
    return f"{label} keeps {share} % of its goodput if {worst} fails ({found.part})"


def _cheapest_then(found: AfterFailures) -> str:
    """The cheapest fabrics if every fabric has its own worst failure."""
    lead = "If every fabric has its own worst failure"
    if not found.then:
        return f"{lead}, no fabric carries this traffic."
    still = " still" if found.same else ""
    if found.cost is not None:
        cost = per_gbps(found.cost, found.currency)
        return f"{lead}, {found.then[0]} is{still} the cheapest, at {cost}."
    return f"{lead}, {listed(found.then)} are{still} level in cost."


def _falls_out(fabrics: Sequence[str]) -> str:
    """The fabrics that carry the load without a failure, but not after their worst one."""
    if not fabrics:
        return ""
    does, its = ("does", "its") if len(fabrics) == 1 else ("do", "their")
    return f"{listed(fabrics)} {does} not carry the load after {its} worst failure."


def each_delivered(purchase: Purchase, measure: Measure) -> str:
    """The cost or power per unit of goodput."""
    found = measure.value(purchase)
    assert found is not None
    return _watts(found) if measure is POWER else per_gbps(found, purchase.cost.book.currency)


def _watts(power: Range) -> str:
    return f"{span(power, unit='W')} per Tb/s delivered"


def _times(found: Range) -> str:
    """`1.2 to 1.7 times as much`."""
    low, high = (f"{float(end):.2f}" if end < 2 else digits(end) for end in (found.low, found.high))
    return f"{low if low == high else f'{low} to {high}'} times as much"
