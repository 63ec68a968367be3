"""The headline of a decision: cost, performance and power of the fabrics that carry the load."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.analysis.ranking import together
from lightloom.analysis.verdicts import criteria
from lightloom.analysis.verdicts.margins import factor
from lightloom.costs.amounts import Range
from lightloom.decision import sentences
from lightloom.decision.lead import lead
from lightloom.decision.order import leaders, ranked, share
from lightloom.decision.purchases import CAPITAL, POWER, Purchase

from .read import Read

#: The name in the headline of each figure that judges; other figures are named by the words of the
#: verdict.
AT = {
    criteria.SHORT.name: "at p99 of short flows",
    criteria.LONG.name: "at p99 of long flows",
    criteria.LATENCY.name: "in mean latency",
    criteria.EVERY.name: "on average, and sooner in every flow",
}


def headline(made: Read) -> str:
    """`sirius and clos cost the same per delivered Gb/s; clos is 100× faster at p99 of short flows;
    sirius draws 17 % less power`; the cost alone if fewer than two fabrics can be compared."""
    cost = sentences.title(lead(made.purchases))
    if not leaders(made.purchases, CAPITAL) or len(ranked(made.purchases, CAPITAL)) < 2:
        return cost
    return "; ".join(filter(None, (cost, performance(made), power(made.purchases))))


def performance(made: Read) -> str:
    """Names the fastest of the fabrics that carry the load, or else of those that cost the least,
    and by how much; empty if unknown."""
    carrying = {p.label for p in ranked(made.purchases, CAPITAL)}
    cheapest = {p.label for p in leaders(made.purchases, CAPITAL)}
    every = _fastest(made, carrying, cheapest)
    return every or (_fastest(made, cheapest, cheapest) if len(cheapest) > 1 else "")


def _fastest(made: Read, labels: set[str], cheapest: set[str]) -> str:
    """The fastest of some fabrics."""
    criterion = made.criterion
    if criterion is None:
        return ""
    ranking = criterion.ranking(tuple(f for f in made.workload.fabrics if f.label in labels))
    at = AT.get(criterion.name)
    if ranking.unknown or not ranking.leaders or ranking.untold:
        return ""
    if not ranking.rest:
        level = at is not None and len(ranking.leaders) > 1
        return f"{together(ranking.leaders)} are level {at}" if level else ""
    if ranking.level > 1:
        return ""
    best = ranking.leaders[0]
    if at is None:
        return f"{best.fabric.label} {criterion.wins[0]}"
    other = next((s for s in ranking.rest if s.fabric.label in cheapest), ranking.rest[0])
    than = f" than {other.fabric.label}" if len(ranked(made.purchases, CAPITAL)) > 2 else ""
    return f"{best.fabric.label} is {factor(criterion, [best], other)} {at}{than}"


def power(purchases: Sequence[Purchase]) -> str:
    """Names the fabric that draws the least power, and by how much; empty if unknown."""
    known, least = ranked(purchases, POWER), leaders(purchases, POWER)
    if len(known) < 2 or not least:
        return ""
    if len(least) == len(known):
        return "the fabrics draw about the same power"
    if len(least) > 1:
        return f"{sentences.labels(least)} draw the least power"
    cheapest = {p.label for p in leaders(purchases, CAPITAL)}
    others = [p for p in known if p is not least[0]]
    other = next((p for p in others if p.label in cheapest), others[0])
    than = f" than {other.label}" if len(known) > 2 else ""
    found = share(other, least[0], POWER)
    less = "less" if found is None else f"{percent_less(found)} less"
    return f"{least[0].label} draws {less} power{than}"


def percent_less(times: Range) -> str:
    """Formats the difference as a percentage of the larger value; `times` is larger ÷ smaller.

    >>> from fractions import Fraction
    >>> percent_less(Range(Fraction(6, 5), Fraction(6, 5)))
    '17 %'
    >>> percent_less(Range(Fraction(10, 9), Fraction(5, 4)))
    '10 to 20 %'
    """
    low, high = (f"{100 * (1 - 1 / float(end)):.0f}" for end in (times.low, times.high))
    return f"{low} %" if low == high else f"{low} to {high} %"
