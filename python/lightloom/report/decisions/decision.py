"""The decision of a comparison: the sentence, its basis, and the changes that would overturn it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lightloom.analysis.findings.headline import cuts, too_short_for
from lightloom.analysis.findings.sentences import cut, explained
from lightloom.analysis.model import Workload
from lightloom.analysis.notes import left_behind
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
from lightloom.decision import breaking, remarks, verdict
from lightloom.decision import sentences as says
from lightloom.decision.lead import unsettled
from lightloom.decision.order import leaders
from lightloom.decision.pareto import behind as pareto
from lightloom.decision.purchases import CAPITAL, POWER
from lightloom.plotting.spec import Figure
from lightloom.results.failures import Resilience
from lightloom.units import quantities

from . import counting, elsewhere, performance, sentences, tables
from .chart import chart
from .headline import headline
from .read import Read, kept_of, read

Found = TypeVar("Found")

BREAKS = (
    "The failure of a grating, a spine or a laser was not simulated; set --worst-failure, or "
    "worst_failure = true in [decision]."
)


@dataclass(frozen=True)
class Decision:
    """The decision about a comparison, as texts and tables."""

    title: str
    sentence: str
    """The fabric that carries the traffic at the lowest cost, and the price that would overturn
    this."""
    facts: tuple[str, ...]
    """Cost and power of the other fabrics, and the distance of the cheapest from the best in
    performance."""
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
    ways = tuple(counting.otherwise(made))
    turned = tuple(sentences.counted_otherwise(way) for way in ways if way.turned)
    broken = _broken(made, dead)
    when = "In the window" if made.windowed else "Over the whole run"
    facts = (
        *_left_behind(made),
        *_said(sentences.told_apart, performance.told_apart(made)),
        *_said(sentences.given_up, performance.behind_best(made)),
        *turned,
        broken,
        says.multiples(remarks.multiples(bought, CAPITAL)),
        says.multiples(remarks.multiples(bought, POWER)),
        says.less_goodput(remarks.less_goodput(bought), when),
        *narrow(made.costs),
        *tiers(made.costs),
        *as_if(made.costs),
        BREAKS if dead is None else "",
    )
    return Decision(
        title=headline(made),
        sentence=says.verdict(verdict.verdict(bought)) + sentences.unless(ways),
        facts=tuple(f for f in facts if f),
        overturned=tuple(o for o in _overturned(made, others) if o),
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
            *map(says.unpriced, verdict.unpriced(bought)),
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
    found = breaking.after_failures(made.purchases, kept)
    if found is None:
        return ""
    other = [label for label in of_fewer_tiers(made.costs) if label in kept]
    return sentences.simulated_tiers(other) + says.after_failures(found)


def _overturned(made: Read, others: Sequence[Read]) -> Iterator[str]:
    """Lists the changes that would make another fabric cheapest: prices, measure, load,
    workload."""
    bought = made.purchases
    yield from map(says.other_price, remarks.other_prices(bought))
    yield from map(says.unpriced, verdict.unpriced(bought))
    yield from _said(says.less_power, remarks.less_power(bought))
    yield from _said(sentences.by_performance, performance.behind_best(made))
    yield from _another_load(made)
    yield sentences.no_other_load(elsewhere.other_loads(made))
    yield from _said(says.other_seeds, remarks.other_seeds(bought))
    yield from (sentences.counted_otherwise(w) for w in counting.otherwise(made) if not w.turned)
    yield from _said(says.lower_load, remarks.lower_load(bought))
    yield sentences.other_runs(elsewhere.other_runs(made, others))


def _said(sentence: Callable[[Found], str], found: Found | None) -> tuple[str, ...]:
    """The sentence of a finding, if there is one."""
    return () if found is None else (sentence(found),)


def _another_load(made: Read) -> tuple[str, ...]:
    """States the loads of the sweep at which another fabric costs least, or at which that is
    open."""
    said = sentences.another_load(elsewhere.other_loads(made))
    return (
        *((said,) if said else ()),
        *_said(sentences.open_loads, elsewhere.open_loads(made)),
    )


def _left_behind(made: Read) -> Iterator[str]:
    """States the traffic that exceeds the links of fabrics that do not carry it, or of which a part
    is not delivered. An overload by all traffic is already evident from the load."""
    short = {p.label for p in made.purchases if not p.carries}
    for fabric in made.workload.fabrics:
        summary = fabric.each[0].summary
        found = summary.get("excess") or summary.get("growing")
        if fabric.label in short and found is not None and found["traffic"] != "all":
            yield f"{fabric.label}: {left_behind(summary)}"


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
