"""Shows whether the best fabric changes in another comparison, such as one under other physics.

The best fabric is that of the verdict, by the same measures, intervals and rankings. If the verdict
names none, this module names none either, and gives the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lightloom.units import quantities

from . import presets
from .fair import carrying
from .model import Workload
from .ranking import together
from .reading import slots, workload
from .verdicts.criteria import LAST, Criterion, measures

if TYPE_CHECKING:
    from lightloom.results.result import Comparison

under_presets = presets.groups


@dataclass(frozen=True)
class Standing:
    """The fabrics ahead by a measure; without `labels`, `said` gives the reason."""

    labels: tuple[str, ...]
    said: str

    @classmethod
    def of(cls, measure: Criterion, made: Workload) -> Standing:
        """The standing as in the verdict."""
        ranking = measure.ranking(made.fabrics)
        if len(ranking.scores) + len(ranking.unknown) < 2:
            return cls((), uncompared(measure, made))
        if not ranking.level and measure is LAST:
            return cls((), "no fabric is sooner in each flow")
        if not ranking.level and ranking.unplaced:
            return cls((), "intervals too wide to tell")
        if not ranking.level or ranking.untold:
            return cls((), "too few flows arrived to tell")
        labels = tuple(score.fabric.label for score in ranking.leaders)
        if any(score.fabric.is_doubtful for score in ranking.leaders):
            what = "window" if made.measured else "run"
            return cls((), f"the {what} is too short to tell")
        if len(labels) > 1:
            others = ", ahead of the others" if ranking.rest or ranking.unknown else ""
            return cls(labels, f"{together(ranking.leaders)} are level{others}")
        among = " of those that can be ranked" if ranking.unknown else ""
        return cls(labels, f"{labels[0]} best{among}")


def uncompared(measure: Criterion, made: Workload) -> str:
    """Why fewer than two fabrics are ranked; empty if fewer than two have the figure."""
    carried = carrying(made.fabrics)
    if measure.of_carried and len(carried) == 1 and len(made.fabrics) > 1:
        what = "its queue is" if measure.quantity == "bytes" else "its times are"
        return f"only {carried[0].label} carried the load, so {what} not compared"
    if not measure.are_alike([f for f in made.fabrics if measure.read(f) is not None]):
        return "the queues are of different places, so they are not compared"
    held = [f for f in made.fabrics if f.keeps_queue_short]
    if held and measure.quantity == "bytes":
        each = quantities.listed(f"{f.label} has {f.held_back}" for f in held)
        return f"{each}, which keeps its queue short, so queues are not compared"
    return ""


def changes(before: Comparison, after: Comparison, names: tuple[str, str]) -> Iterator[str]:
    """A sentence for each measure that both comparisons have: the leader in each, with the
    comparison called by `names`, or why there is none; and whether the winner changes. A fabric
    without a rival is omitted."""
    if len(before.results) < 2:
        return
    places = slots([before, after])
    first, second = (workload(c, places) for c in (before, after))
    mine, others = measures(first), measures(second)
    there = {m.name for m in others}
    # If one comparison is judged flow by flow, so is the other.
    by_flow = [LAST] if LAST in (*mine, *others) else []
    for measure in (*by_flow, *(m for m in mine if m is not LAST and m.name in there)):
        pair = Standing.of(measure, first), Standing.of(measure, second)
        if all(s.said for s in pair):
            yield sentence(measure.name, *pair, names)


def sentence(measure: str, first: Standing, second: Standing, names: tuple[str, str]) -> str:
    """The leader in each comparison, as a sentence.

    >>> a, b = Standing(("a",), "a best"), Standing(("b",), "b best")
    >>> sentence("goodput", a, a, ("then", "now"))
    'goodput: a best, then and now'
    >>> sentence("goodput", a, b, ("then", "now"))
    'goodput: the winner changes: a best then; b best now'
    >>> sentence("goodput", a, Standing((), "too few flows to tell"), ("then", "now"))
    'goodput: a best then; now too few flows to tell'
    """
    if first.said == second.said:
        return f"{measure}: {first.said}, {names[0]} and {names[1]}"
    both = bool(first.labels and second.labels)
    turned = both and not set(first.labels) & set(second.labels)
    each = (
        f"{s.said} {name}" if s.labels else f"{name} {s.said}"
        for s, name in zip((first, second), names, strict=True)
    )
    return f"{measure}: {'the winner changes: ' * turned}{'; '.join(each)}"


def sentences(group: Sequence[Comparison]) -> list[str]:
    """Whether the winner changes from the first of a group to each other."""
    first, *others = group
    called = [f"under {presets.under(c)}" for c in group]
    return [
        said
        for other, name in zip(others, called[1:], strict=True)
        for said in changes(first, other, (called[0], name))
    ]
