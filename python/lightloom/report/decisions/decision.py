"""The decision of a comparison: the sentence, what it rests on, what would overturn it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.analysis import presets
from lightloom.analysis.factors import between, times_text
from lightloom.analysis.findings.headline import too_short
from lightloom.analysis.findings.sentences import explained
from lightloom.analysis.model import Workload
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
    """What a buyer should know of a comparison."""

    title: str
    sentence: str
    """Who carries the traffic at the lowest cost, and which price would overturn that."""
    facts: tuple[str, ...]
    """What the others cost and draw, what the cheapest gives up."""
    overturned: tuple[str, ...]
    leaders: tuple[str, ...]
    """Who costs least for each Gb/s delivered: several where they are level."""
    front: dict[str, list[str]]
    """Label → those that are better than it; empty on the Pareto front."""
    costs: Costs
    carrying: tuple[str, ...]
    """Who carries the load."""
    figure: Figure | None
    headings: tuple[str, ...]
    rows: tuple[tables.Row, ...]
    bills: tuple[tables.Bill, ...]
    sources: tuple[str, ...]
    """Who says what parts cost."""
    windowed: bool
    """Whether a bit per second is priced as accepted in the window; else over the whole run."""
    unpriced: tuple[str, ...]
    """Who has no total, and for want of which price."""
    notes: tuple[str, ...]
    """What the prices leave out."""
    caveats: tuple[str, ...] = ()
    """Sentences that can change the conclusion: other ways to count, failures, unknown prices."""

    @property
    def book(self) -> Book:
        """The prices."""
        return self.costs.book

    def of_label(self, label: str) -> dict[str, Any]:
        """What one fabric costs and draws, money and watts as [low, high], and where it stands."""
        return {
            **self.costs.to_json()["fabrics"][label],
            "currency": self.book.currency,
            "carries": label in self.carrying,
            "cheapest": label in self.leaders,
            "pareto_front": self.front.get(label) == [],
        }

    def to_json(self) -> dict[str, Any]:
        """The sentences, as plain data."""
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
    """The decision of each comparison of a report; None where it has no prices.

    Args:
        failures: what breaks of each, where that was looked for.

    Raises:
        ConfigError: if bills cannot be made of one.
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
    """The title over several comparisons, which are called so together: who costs least in all;
    None where that changes, or not all have prices."""
    titles = {d.title if d else None for d in decisions}
    if len(titles) != 1:
        return None
    title = titles.pop()
    return f"{title} under {under}" if title and len(decisions) > 1 else title


def _decision(made: Read, others: Sequence[Read], dead: Resilience | None) -> Decision:
    bought = made.purchases
    # Where it is not told who is the one to buy, it is not told who is on the front either.
    undecided = bool(sentences.unsettled(bought))
    front = {} if undecided else pareto(bought, made.standing)
    turned = tuple(counting.turned(made))
    broken = _broken(made, dead)
    facts = (
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
            *turned,
            *tiers(made.costs),
            *((broken,) if broken else ()),
            *_another_load(made),
            *sentences.unpriced(bought),
        ),
    )


def _remedy(made: Read) -> tuple[str, ...]:
    """The run that tells which fabric costs least, where this one is too short."""
    doubtful = {p.label for p in sentences.unsettled(made.purchases) if p.unsettled}
    fabrics = made.workload.fabrics
    short = too_short([f for f in fabrics if f.label in doubtful], fabrics)
    return () if short is None else (explained(short),)


def _broken(made: Read, dead: Resilience | None) -> str:
    """What fabrics keep with a part dead; first, whose broken network is not the one billed."""
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
    """What would make another the one to buy: prices, another measure, load or workload."""
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
    """How far the cheapest is behind the best by the figure that judges; of several that are level,
    who of them is ahead by it."""
    first = leaders(made.purchases, CAPITAL)
    if len(first) > 1:
        return _told_apart(made, {p.label for p in first})
    found = _behind_best(made)
    if found is None:
        return ""
    cheapest, words = found
    return f"What {cheapest} gives up: {words}."


def _told_apart(made: Read, level: set[str]) -> str:
    """The fabric of those level in cost that is ahead by the figure that judges; or empty."""
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
    """Who is better than the cheapest."""
    found = _behind_best(made)
    if found is not None and made.criterion is not None:
        ranking = made.criterion.ranking(made.workload.fabrics)
        best, some = ranking.leaders, " of those that can be ranked" if ranking.unknown else ""
        wins = made.criterion.wins[len(best) > 1]
        yield f"Performance, if that decides: {names(best)} {wins}{some}."


def _behind_best(made: Read) -> tuple[str, str] | None:
    """The cheapest, and in words how far it is behind; None where it is not, or nobody is."""
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
    """At which loads of the sweep another costs least; empty if there is none."""
    turned, _, level = _loads(made)
    return (f"Another load: {'; '.join((*turned, *level))}.",) if turned else ()


def _by_load(made: Read) -> Iterator[str]:
    """The same, or that none does."""
    yield from _another_load(made)
    turned, kept, level = _loads(made)
    if not turned and len(kept) > 1:
        lead = f"Not the load: no other fabric costs less at {quantities.listed(kept)}"
        yield f"{'; '.join((lead, *level))}."


def _loads(made: Read) -> tuple[list[str], list[str], list[str]]:
    """Of the loads of the sweep, at which another costs least, at which none does, and who is level
    there with those that cost least at the load of the comparison."""
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
    """Whether one of those that cost least here costs least there, too; of several that are level
    here, whether not one alone does."""
    return bool(here & there) and not (len(here) > 1 and len(there) == 1)


def _beside(there: Sequence[Purchase], here: set[str]) -> str:
    """Who, at another load, is level with those that cost least here; empty if there is none."""
    others = [p for p in there if p.label not in here]
    with_ = quantities.listed(p.label for p in there if p.label in here)
    return f"{sentences.labels(others)} {_are(others)} level with {with_}" if others else ""


def _are(bought: Sequence[Purchase]) -> str:
    return "is" if len(bought) == 1 else "are"


def _by_workload(made: Read, others: Sequence[Read]) -> Iterator[str]:
    """Under which other workloads or physics of the report another costs least."""
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
    """`clos costs least`; `a and b are level`."""
    if len(there) > 1:
        return f"{sentences.labels(there)} are level"
    return f"{there[0].label} costs least"


def _not_drawn(made: Read) -> Iterator[str]:
    """Who is not in the chart, and why: without a total, or without the figure that judges."""
    for one in made.purchases:
        if missing := CAPITAL.unknown(one):
            yield f"{one.label}: the book has no price for {quantities.listed(map(part, missing))}"
        elif one.delivered is None:
            yield f"{one.label}: it delivered nothing"
        elif made.scores and one.label not in made.scores:
            lacks = f"it finished {one.undone}" if one.undone else "it has no such figure"
            yield f"{one.label}: {lacks}"
