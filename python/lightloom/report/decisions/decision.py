"""The decision of a comparison: the sentence, its basis, and the changes that would overturn it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.analysis import presets
from lightloom.analysis.factors import between, times_text
from lightloom.analysis.findings.headline import cuts, too_short_for
from lightloom.analysis.findings.sentences import cut, explained
from lightloom.analysis.model import Workload
from lightloom.analysis.notes import left_behind
from lightloom.analysis.ranking import names
from lightloom.costs.book import Book
from lightloom.costs.costs import Costs
from lightloom.costs.wording import (
    as_if,
    by_devices,
    fractions,
    idle_tiers,
    lasers,
    left_out,
    narrow,
    of_fewer_tiers,
    part,
    simulated_otherwise,
    tiers,
)
from lightloom.decision import breaking, sentences
from lightloom.decision.lead import unsettled
from lightloom.decision.order import leaders
from lightloom.decision.pareto import behind as pareto
from lightloom.decision.purchases import CAPITAL, POWER, Purchase
from lightloom.plotting.spec import Figure
from lightloom.results.failures import Resilience
from lightloom.units import quantities
from lightloom.units.quantities import tick_label

from . import counting, tables
from .chart import chart
from .headline import headline
from .read import Read, at_loads, kept_of, read

BREAKS = (
    "The failure of a grating, a spine or a laser was not simulated: --worst-failure, or "
    "worst_failure = true in [decision], says."
)


@dataclass(frozen=True)
class Decision:
    """The decision about a comparison, as texts and tables."""

    title: str
    sentence: str
    """The fabric that carries the traffic at the lowest cost, and the price that would overturn
    this."""
    facts: tuple[str, ...]
    """Cost and power of the other fabrics, and how far the cheapest is behind in performance."""
    overturned: tuple[str, ...]
    leaders: tuple[str, ...]
    """The labels of the fabrics that cost least per delivered Gb/s; several if they are level."""
    front: dict[str, list[str]]
    """Label → fabrics that are better than it; empty for fabrics on the Pareto front."""
    costs: Costs
    carrying: tuple[str, ...]
    """The labels of the fabrics that carry the load."""
    figure: Figure | None
    headings: tuple[str, ...]
    rows: tuple[tables.Row, ...]
    bills: tuple[tables.Bill, ...]
    sources: tuple[str, ...]
    """The sources of the prices."""
    windowed: bool
    """Whether the bits priced are those accepted in the window; otherwise those of the whole
    run."""
    unpriced: tuple[str, ...]
    """Fabrics without a total, with the missing price."""
    notes: tuple[str, ...]
    """Costs that the prices leave out."""
    caveats: tuple[str, ...] = ()
    """Sentences that can change the conclusion: other ways to count, failures, unknown prices."""

    @property
    def book(self) -> Book:
        """The price book."""
        return self.costs.book

    def of_label(self, label: str) -> dict[str, Any]:
        """Returns cost and power of one fabric, as [low, high], and its position."""
        return {
            **self.costs.to_json()["fabrics"][label],
            "currency": self.book.currency,
            "carries": label in self.carrying,
            "cheapest": label in self.leaders,
            "pareto_front": self.front.get(label) == [],
        }

    def to_json(self) -> dict[str, Any]:
        """Returns the sentences as plain data."""
        return {
            "title": self.title,
            "sentence": self.sentence.replace(quantities.GLUE, " "),
            "facts": [f.replace(quantities.GLUE, " ") for f in self.facts],
            "overturned": [o.replace(quantities.GLUE, " ") for o in self.overturned],
            "leaders": list(self.leaders),
            "pareto_front": [label for label, others in self.front.items() if not others],
            "prices": {"book": self.book.name, "year": self.book.year},
        }


def decide(
    workloads: Sequence[Workload],
    books: Sequence[Book | None],
    failures: Sequence[Resilience | None] = (),
) -> list[Decision | None]:
    """Returns the decision of each comparison of a report; None if it has no prices.

    Args:
        failures: the single failures of each, if they were requested.

    Raises:
        ConfigError: if a bill cannot be made.
    """
    dead = failures or [None] * len(workloads)
    found = [
        None if book is None else read(w, book) for w, book in zip(workloads, books, strict=True)
    ]
    there = [made for made in found if made is not None]
    return [
        None if made is None else _decision(made, [o for o in there if o is not made], failing)
        for made, failing in zip(found, dead, strict=True)
    ]


def joint(decisions: Sequence[Decision | None], under: str) -> str | None:
    """Returns a common title of several comparisons: the fabric that costs least in every one; None
    if it changes, or if one has no prices."""
    titles = {d.title if d else None for d in decisions}
    if len(titles) != 1:
        return None
    title = titles.pop()
    return f"{title} under {under}" if title and len(decisions) > 1 else title


def _decision(made: Read, others: Sequence[Read], dead: Resilience | None) -> Decision:
    bought = made.purchases
    # If the fabric to buy is not decided, the fabrics on the front are not decided either.
    undecided = bool(unsettled(bought))
    front = {} if undecided else pareto(bought, made.standing)
    turned = tuple(counting.turned(made))
    broken = _broken(made, dead)
    facts = (
        *_left_behind(made),
        _given_up(made),
        *turned,
        broken,
        sentences.amounts(bought, CAPITAL),
        sentences.amounts(bought, POWER),
        sentences.delivered(bought, "In the window" if made.windowed else "Over the whole run"),
        *narrow(made.costs),
        *tiers(made.costs),
        *as_if(made.costs),
        BREAKS if dead is None else "",
    )
    return Decision(
        title=headline(made),
        sentence=sentences.verdict(bought) + counting.unless(made),
        facts=tuple(f for f in facts if f),
        overturned=tuple(_overturned(made, others)),
        leaders=tuple(p.label for p in bought if p in leaders(bought, CAPITAL)),
        front=front,
        costs=made.costs,
        carrying=tuple(p.label for p in bought if p.carries),
        figure=chart(made, front),
        headings=tables.headings(made),
        rows=tuple(tables.rows(made, front)),
        bills=tuple(tables.bills(made)),
        sources=tuple(tables.sources(made)),
        windowed=made.windowed,
        unpriced=tuple(_not_drawn(made)),
        notes=(
            *idle_tiers(made.costs),
            *simulated_otherwise(made.costs),
            *fractions(made.costs),
            *lasers(made.costs),
            *by_devices(made.costs),
            *left_out(made.costs),
            *made.costs.book.notes,
        ),
        caveats=(
            *_remedy(made),
            *_ended_early(made),
            *turned,
            *tiers(made.costs),
            *((broken,) if broken else ()),
            *_another_load(made),
            *sentences.unpriced(bought),
        ),
    )


def _remedy(made: Read) -> tuple[str, ...]:
    """The run that would decide which fabric costs least, if this one is too short."""
    doubtful = {p.label for p in unsettled(made.purchases) if p.unsettled}
    fabrics = made.workload.fabrics
    open_ = [f for f in fabrics if f.label in doubtful]
    short = too_short_for(open_, open_, fabrics)
    return () if short is None else (explained(short),)


def _ended_early(made: Read) -> tuple[str, ...]:
    """States the flows that a limit left out of runs, by which fabrics are priced."""
    said = "" if made.windowed else cut(cuts(made.workload.fabrics))
    return (said,) if said else ()


def _broken(made: Read, dead: Resilience | None) -> str:
    """States the goodput that remains with a failed part; first the fabrics that are simulated with
    other parts than billed."""
    kept = kept_of(made, dead)
    said = breaking.sentence(made.purchases, kept)
    other = [label for label in of_fewer_tiers(made.costs) if label in kept]
    if not said or not other:
        return said
    is_ = "is" if len(other) == 1 else "are"
    bill = "its bill has" if len(other) == 1 else "their bills have"
    return (
        f"{quantities.listed(other)} {is_} broken as simulated, with pods and a core; {bill} two "
        f"tiers (fabric.tiers makes both the same). {said}"
    )


def _overturned(made: Read, others: Sequence[Read]) -> Iterator[str]:
    """Lists the changes that would make another fabric cheapest: prices, measure, load,
    workload."""
    bought = made.purchases
    yield from sentences.prices(bought)
    yield from sentences.unpriced(bought)
    yield from sentences.power(bought)
    yield from _by_performance(made)
    yield from _by_load(made)
    yield from sentences.seeds(bought)
    yield from counting.kept(made)
    yield from sentences.without_load(bought)
    yield from _by_workload(made, others)


def _given_up(made: Read) -> str:
    """States how far the cheapest fabric is behind the best by the figure that judges; if several
    are level in cost, which of them is ahead by it."""
    first = leaders(made.purchases, CAPITAL)
    if len(first) > 1:
        return _told_apart(made, {p.label for p in first})
    found = _behind_best(made)
    if found is None:
        return ""
    cheapest, words = found
    return f"What {cheapest} gives up: {words}."


def _told_apart(made: Read, level: set[str]) -> str:
    """States which of the fabrics that are level in cost is ahead by the figure that judges; else
    empty."""
    criterion = made.criterion
    if criterion is None:
        return ""
    ranking = criterion.ranking(tuple(f for f in made.workload.fabrics if f.label in level))
    if ranking.level != 1 or ranking.unknown or not ranking.rest:
        return ""
    best = ranking.leaders[0]
    each = []
    for other in ranking.rest:
        pair = (other, best) if criterion.better == "lower" else (best, other)
        factor = between(*pair)
        times = "" if factor is None else f", {times_text(factor)} apart"
        each.append(f"{criterion.shown(other)} of {other.fabric.label}{times}")
    return (
        f"Level in cost, they are not in performance: {best.fabric.label} {criterion.wins[0]}: "
        f"{criterion.name} {criterion.shown(best)} against {quantities.listed(each)}."
    )


def _by_performance(made: Read) -> Iterator[str]:
    """States which fabric performs better than the cheapest."""
    found = _behind_best(made)
    if found is not None and made.criterion is not None:
        ranking = made.criterion.ranking(made.workload.fabrics)
        best, some = ranking.leaders, " of those that can be ranked" if ranking.unknown else ""
        wins = made.criterion.wins[len(best) > 1]
        yield f"Performance, if that decides: {names(best)} {wins}{some}."


def _behind_best(made: Read) -> tuple[str, str] | None:
    """The cheapest fabric, and how far it is behind the best; None if it is not behind, or not
    ranked."""
    first, criterion = leaders(made.purchases, CAPITAL), made.criterion
    if len(first) != 1 or criterion is None:
        return None
    ranking = criterion.ranking(made.workload.fabrics)
    own = next((s for s in ranking.rest if s.fabric.label == first[0].label), None)
    if own is None or not ranking.leaders:
        return None
    best = ranking.leaders[0]
    larger, smaller = (own, best) if criterion.better == "lower" else (best, own)
    factor = between(larger, smaller)
    times = "" if factor is None else f", {times_text(factor)} apart"
    words = (
        f"{best.fabric.label} {criterion.wins[0]}: {criterion.name} "
        f"{criterion.shown(best)} against {criterion.shown(own)}{times}"
    )
    return first[0].label, words


def _another_load(made: Read) -> tuple[str, ...]:
    """States the loads of the sweep at which another fabric costs least; empty if there are
    none."""
    turned, _, level = _loads(made)
    said = [f"Another load: {'; '.join((*turned, *level))}."] if turned else []
    return (*said, *_open_loads(made))


def _left_behind(made: Read) -> Iterator[str]:
    """States which traffic is too much for the links of fabrics that do not carry it, or of which a
    part is left behind. An overload of all traffic is plain from the load."""
    short = {p.label for p in made.purchases if not p.carries}
    for fabric in made.workload.fabrics:
        summary = fabric.each[0].summary
        found = summary.get("excess") or summary.get("growing")
        if fabric.label in short and found is not None and found["traffic"] != "all":
            yield f"{fabric.label}: {left_behind(summary)}"


def _open_loads(made: Read) -> Iterator[str]:
    """States the loads of the sweep at which it is open which fabric costs least."""
    if not leaders(made.purchases, CAPITAL):
        return
    open_ = [
        tick_label(load, "share") for load, bought in at_loads(made).items() if unsettled(bought)
    ]
    if open_:
        what = "windows" if made.windowed else "runs"
        at = quantities.listed(open_)
        yield f"At load {at} the {what} are too short to tell which fabric costs least."


def _by_load(made: Read) -> Iterator[str]:
    """States the loads at which another fabric costs least, or that there are none."""
    yield from _another_load(made)
    turned, kept, level = _loads(made)
    if not turned and len(kept) > 1:
        lead = f"Not the load: no other fabric costs less at {quantities.listed(kept)}"
        yield f"{'; '.join((lead, *level))}."


def _loads(made: Read) -> tuple[list[str], list[str], list[str]]:
    """Returns texts about the loads of the sweep: those at which another fabric costs least, those
    at which none does, and which fabrics are then level with the cheapest."""
    here = {p.label for p in leaders(made.purchases, CAPITAL)}
    turned: list[str] = []
    kept: list[str] = []
    level: list[str] = []
    for load, bought in at_loads(made).items():
        there = leaders(bought, CAPITAL)
        if not there or not here:
            continue
        if _keeps(here, {p.label for p in there}):
            kept.append(tick_label(load, "share"))
            level += [f"at {kept[-1]} {said}"] if (said := _beside(there, here)) else []
        else:
            turned.append(f"at {tick_label(load, 'share')} {_lead(there)}")
    return turned, kept, level


def _keeps(here: set[str], there: set[str]) -> bool:
    """Whether one of the cheapest fabrics here is also among the cheapest there; if several are
    level here, False if a single one is cheapest there."""
    return bool(here & there) and not (len(here) > 1 and len(there) == 1)


def _beside(there: Sequence[Purchase], here: set[str]) -> str:
    """Names the fabrics that are level at another load with the cheapest ones; empty if there are
    none."""
    others = [p for p in there if p.label not in here]
    with_ = quantities.listed(p.label for p in there if p.label in here)
    return f"{sentences.labels(others)} {_are(others)} level with {with_}" if others else ""


def _are(bought: Sequence[Purchase]) -> str:
    return "is" if len(bought) == 1 else "are"


def _by_workload(made: Read, others: Sequence[Read]) -> Iterator[str]:
    """States the other workloads or physics of the report under which another fabric costs
    least."""
    here = {p.label for p in leaders(made.purchases, CAPITAL)}
    turned, kept = [], []
    for other in others:
        there = leaders(other.purchases, CAPITAL)
        same = presets.of_one_workload([made.workload, other.workload])
        name = presets.under(other.workload) if same else other.workload.name
        if not there or not here:
            continue
        if _keeps(here, {p.label for p in there}):
            kept.append(name)
        else:
            turned.append(f"under {name} {_lead(there)}")
    if turned:
        yield f"Another workload or other physics: {'; '.join(turned)}."
    elif kept:
        yield f"Not the other runs: no other fabric costs less under {quantities.listed(kept)}."


def _lead(there: Sequence[Purchase]) -> str:
    """Formats `clos costs least` or `a and b are level`."""
    if len(there) > 1:
        return f"{sentences.labels(there)} are level"
    return f"{there[0].label} costs least"


def _not_drawn(made: Read) -> Iterator[str]:
    """Lists the fabrics that are not in the chart, with the reason: no total, or no figure."""
    for one in made.purchases:
        if missing := CAPITAL.unknown(one):
            yield f"{one.label}: the book has no price for {quantities.listed(map(part, missing))}"
        elif one.delivered is None:
            yield f"{one.label}: it delivered nothing"
        elif made.scores and one.label not in made.scores:
            lacks = f"it finished {one.undone}" if one.undone else "it has no such figure"
            yield f"{one.label}: {lacks}"
