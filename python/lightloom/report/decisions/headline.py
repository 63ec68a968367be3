"""The headline of a decision: cost, performance and power of the fabrics that carry the load."""

from __future__ import annotations

from lightloom.analysis.ranking import together
from lightloom.analysis.verdicts import criteria
from lightloom.analysis.verdicts.margins import margin
from lightloom.costs.amounts import Range
from lightloom.decision import sentences
from lightloom.decision.lead import lead
from lightloom.decision.order import leaders, ranked
from lightloom.decision.purchases import CAPITAL
from lightloom.units.counts import listed

from .leaders import AllLevel, Fastest, LeastPower, SamePower, fastest, least_power
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
    beside = (performance(fastest(made)), power(least_power(made.purchases)))
    return "; ".join(filter(None, (cost, *beside)))


def performance(found: Fastest | AllLevel | None) -> str:
    """Names the fastest fabric, and by how much; empty if unknown."""
    if found is None:
        return ""
    at = AT.get(found.criterion.name)
    if isinstance(found, AllLevel):
        return f"{together(found.leaders)} are level {at}" if at else ""
    label = found.best.fabric.label
    if at is None:
        return f"{label} {found.criterion.wins[0]}"
    than = f" than {found.other.fabric.label}" if found.several else ""
    return f"{label} is {margin(found.criterion, [found.best], found.other)} {at}{than}"


def power(found: LeastPower | SamePower | None) -> str:
    """Names the fabrics that draw the least power, and by how much; empty if unknown."""
    if found is None:
        return ""
    if isinstance(found, SamePower):
        return "the fabrics draw about the same power"
    if len(found.labels) > 1:
        return f"{listed(found.labels)} draw the least power"
    than = "" if found.than is None else f" than {found.than}"
    less = "less" if found.times is None else f"{percent_less(found.times)} less"
    return f"{found.labels[0]} draws {less} power{than}"


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
