"""The fabric that finishes short flows soonest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lightloom.units.bounds import Bound
from lightloom.units.intervals import LEVEL

from ..factors import slower
from ..fair import carrying, unfair
from ..findings.headline import too_short
from ..findings.sentences import Told
from ..model import Fabric, short_p99
from ..ranking import Ranking, Score, labels, rank, score
from ..statement import Statement
from . import each_flow
from .answer import Evidence, Range, Share, Verdict, evidence

FEW_FLOWS = 1000  # with fewer, less than ten flows exceed the 99th percentile


def short_flows(fabrics: Sequence[Fabric], ahead: Sequence[Fabric] = ()) -> Verdict:
    """The verdict on the fabric that finishes short flows soonest, of those that carried the load.

    `ahead` are the fabrics that deliver each flow sooner, if the flows are not a sample.
    """
    question = (
        "Which fabric finishes short flows soonest?"
        if len(fabrics) > 1
        else "How soon do short flows finish?"
    )
    if all(f.short_count == 0 for f in fabrics):
        return Verdict(question, (Statement("no short flow"),))
    shown = short_evidence(fabrics)
    if not any(f.short_finished for f in fabrics):
        return Verdict(question, (Statement("no short flow finished"),), shown)
    scored = [s for f in carrying(fabrics) if (s := short_score(f)) is not None]
    if ahead:
        return short_in_each(question, ahead, scored, shown)
    ranking = rank(scored, "lower")
    short = too_short([s.fabric for s in ranking.leaders], fabrics) if len(fabrics) > 1 else None
    if short is not None:
        return Verdict(question, (Statement("too short", finding=Told(short)),), shown)
    said = (
        *short_lead(ranking),
        *(slower(ranking) if ranking.level else ()),
        *left_out(ranking),
        *ranking.explain_unplaced("time"),
    )
    return Verdict(question, said, shown, short_remarks(fabrics, ranking))


def short_in_each(
    question: str, ahead: Sequence[Fabric], scored: Sequence[Score], shown: tuple[Evidence, ...]
) -> Verdict:
    """The answer if some fabrics deliver each flow sooner than every other one."""
    exact = (Score.exact(s.fabric, s.within) for s in scored)
    ordered = sorted(exact, key=lambda s: (s.fabric not in ahead, s.value))
    ranking = Ranking(tuple(ordered), len(ahead))
    rest = [s.fabric for s in ranking.rest]
    each = (each_flow.sooner(ahead[0], rest),) if rest and len(ahead) == 1 else ()
    return Verdict(question, (*short_lead(ranking), *slower(ranking), *each), shown)


def short_limits(fabric: Fabric) -> Bound | None:
    """The bounds of the 99th percentile of short flows' completion times [s]."""
    return fabric.limits(short_p99(fabric.summary))


def short_score(fabric: Fabric) -> Score | None:
    """The 99th percentile of short flows, with its interval."""
    return score(fabric, short_limits)


def short_value(fabric: Fabric) -> float | None:
    """The 99th percentile of short flows, or its lower bound [s]."""
    found = short_score(fabric)
    return None if found is None else found.value


def short_evidence(fabrics: Sequence[Fabric]) -> tuple[Evidence, ...]:
    """A line for each fabric; bounds are marked."""
    found = [short_score(f) for f in fabrics]
    texts = {s.fabric.label: s.shown("time") for s in found if s is not None}
    return evidence(fabrics, short_value, "time", short_detail, texts=texts)


def short_detail(fabric: Fabric) -> str:
    """The text after a fabric's bar."""
    median = score(fabric, lambda f: f.limits("fct.short.p50_us"))
    return "" if median is None else f"median {median.shown('time')}"


def short_lead(ranking: Ranking) -> tuple[Statement, ...]:
    """The statement on the leading fabric; empty if only bounds are known."""
    if not ranking.level:
        return ()
    first, leaders = ranking.leaders[0], labels(ranking.leaders)
    if len(leaders) == 1:
        alone = len(ranking.scores) + len(ranking.unknown) == 1
        kind = "short flows of one" if alone else "soonest short flows"
        return (Statement(kind, label=leaders[0], p99=first.within),)
    values = sorted(s.within for s in ranking.leaders)
    several = "too few short flows" if ranking.untold else "level short flows"
    return (Statement(several, leaders=leaders, p99=Range(values[0], values[-1], "time")),)


def left_out(ranking: Ranking) -> tuple[Statement, ...]:
    """The statement on the fabrics that are not ranked, and why; empty if all are."""
    each = tuple(map(share_finished, (s.fabric for s in ranking.unfinished)))
    return (Statement("short flows unfinished", each=each),) if each else ()


def share_finished(fabric: Fabric) -> Statement:
    """The number of a fabric's short flows that finished, if it is small."""
    done = fabric.short_finished
    if not done:
        return Statement("none finished", label=fabric.label)
    return Statement("few finished", label=fabric.label, share=done)


def short_remarks(fabrics: Sequence[Fabric], ranking: Ranking) -> tuple[Statement, ...]:
    """Doubts about the verdict."""
    remarks = [*unfair(fabrics)]
    counts = [round((f.short_finished or 0.0) * f.short_count) for f in fabrics]
    fewest = min((n for n in counts if n), default=0)
    if 0 < fewest < FEW_FLOWS:
        remarks.append(Statement("percentile of few", flows=fewest))
    if len(ranking.leaders) > 1 and not ranking.untold:
        remarks.append(Statement("level: intervals", level=LEVEL, source=source(fabrics)))
    elif ranking.rest:
        remarks.append(interval_of_best(ranking.leaders[0], source(fabrics)))
    unfinished = tuple(
        Statement("finished share", label=f.label, share=Share(f.short_finished))
        for f in fabrics
        if (f.short_finished or 0.0) < 1.0
    )
    if unfinished:
        remarks.append(Statement("percentiles are bounds", each=unfinished))
    return tuple(remarks)


def interval_of_best(first: Score, source: str) -> Statement:
    """The interval of the best value."""
    if math.isinf(first.high):
        return Statement("no upper end", source=source)
    if first.low > 0:
        return Statement("interval of best", low=first.low, high=first.high, source=source)
    return Statement("interval of best, from 0", high=first.high, source=source)


def source(fabrics: Sequence[Fabric]) -> str:
    """The basis of an interval."""
    seeds = min((len(f.seeds) for f in fabrics), default=0)
    if seeds < 2:
        return "over the flows of one seed"
    same = all(f.same_flows for f in fabrics)
    return (
        f"over {seeds} seeds, and over the flows of all of them" if same else f"over {seeds} seeds"
    )
