"""The fabric that finishes short flows soonest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lightloom.units import quantities
from lightloom.units.bounds import Bound
from lightloom.units.intervals import LEVEL

from ..factors import slower
from ..fair import carrying, unfair
from ..findings.headline import too_short
from ..findings.sentences import explained, title
from ..model import Fabric, short_p99
from ..ranking import Ranking, Score, names, rank, score
from . import each_flow
from .answer import Evidence, Verdict, evidence

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
        return Verdict(
            question, "The workload has no flow under 100 KB, so this run has no answer."
        )
    shown = short_evidence(fabrics)
    if not any(f.short_finished for f in fabrics):
        return Verdict(question, "No short flow finished, so this run has no answer.", shown)
    scored = [s for f in carrying(fabrics) if (s := short_score(f)) is not None]
    if ahead:
        return short_in_each(question, ahead, scored, shown)
    ranking = rank(scored, "lower")
    short = too_short([s.fabric for s in ranking.leaders], fabrics) if len(fabrics) > 1 else None
    if short is not None:
        return Verdict(question, f"{title(short)}. {explained(short)}", shown)
    parts = (
        *(short_lead(ranking), slower(ranking) if ranking.level else ""),
        *(left_out(ranking), ranking.said_unplaced("time")),
    )
    answer = " ".join(p for p in parts if p)
    return Verdict(question, answer, shown, tuple(short_notes(fabrics, ranking)))


def short_in_each(
    question: str, ahead: Sequence[Fabric], scored: Sequence[Score], shown: tuple[Evidence, ...]
) -> Verdict:
    """The answer if some fabrics deliver each flow sooner than every other one."""
    exact = (Score.exact(s.fabric, s.within) for s in scored)
    ordered = sorted(exact, key=lambda s: (s.fabric not in ahead, s.value))
    ranking = Ranking(tuple(ordered), len(ahead))
    rest = [s.fabric for s in ranking.rest]
    each = each_flow.said(ahead[0], rest) if rest and len(ahead) == 1 else ""
    parts = (short_lead(ranking), slower(ranking), each)
    return Verdict(question, " ".join(part for part in parts if part), shown)


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
    text = {s.fabric.label: s.shown("time") for s in found if s is not None}
    return evidence(fabrics, short_value, "time", short_detail, text=text)


def short_detail(fabric: Fabric) -> str:
    """The text after a fabric's bar."""
    median = score(fabric, lambda f: f.limits("fct.short.p50_us"))
    return "" if median is None else f"median {median.shown('time')}"


def short_lead(ranking: Ranking) -> str:
    """The sentence on the leading fabric; empty if only bounds are known."""
    if not ranking.level:
        return ""
    first = ranking.leaders[0]
    if len(ranking.leaders) == 1:
        value = quantities.show(first.within, "time")
        if len(ranking.scores) + len(ranking.unknown) == 1:
            return f"Of {first.fabric.label} alone, 99 % of short flows finish within {value}."
        return f"{first.fabric.label}: 99 % of its short flows finish within {value}."
    values = sorted(s.within for s in ranking.leaders)
    low, high = quantities.show(values[0], "time"), quantities.show(values[-1], "time")
    within = low if low == high else f"{low} to {high}"
    if ranking.untold:
        return f"Too few flows to tell: 99 % of short flows finish within {within}."
    return f"{names(ranking.leaders)} are level: 99 % of their short flows finish within {within}."


def left_out(ranking: Ranking) -> str:
    """Names the fabrics that are not ranked, and why."""
    each = [f"{s.fabric.label} ({share_finished(s.fabric)})" for s in ranking.unfinished]
    return (
        f"Not ranked, for the short flows left unfinished: {quantities.listed(each)}."
        if each
        else ""
    )


def share_finished(fabric: Fabric) -> str:
    """The number of a fabric's short flows that finished, if it is small."""
    done = fabric.short_finished
    return f"only {quantities.show(done, 'share')}" if done else "none finished"


def short_notes(fabrics: Sequence[Fabric], ranking: Ranking) -> list[str]:
    """Doubts about the verdict."""
    notes = [line] if (line := unfair(fabrics)) else []
    counts = [round((f.short_finished or 0.0) * f.short_count) for f in fabrics]
    fewest = min((n for n in counts if n), default=0)
    if 0 < fewest < FEW_FLOWS:
        notes.append(
            f"A 99th percentile of {quantities.counted(fewest, 'short flow')} rests on "
            f"its few slowest."
        )
    if len(ranking.leaders) > 1 and not ranking.untold:
        notes.append(
            f"Level: less than {LEVEL * 100:.0f} % apart, or with overlapping 95 % intervals "
            f"({source(fabrics)})."
        )
    elif ranking.rest:
        notes.append(interval_note(ranking.leaders[0], source(fabrics)))
    unfinished = [f for f in fabrics if (f.short_finished or 0.0) < 1.0]
    if unfinished:
        parts = [
            f"{f.label} finished {quantities.show(f.short_finished, 'share')}" for f in unfinished
        ]
        notes.append(
            f"{quantities.listed(parts)} of the short flows. A percentile marked > is a lower "
            "bound: it includes unfinished flows, each counted with its waiting time so far."
        )
    return notes


def interval_note(first: Score, source: str) -> str:
    """The interval of the best value."""
    low = quantities.show(first.low, "time") if first.low > 0 else "0"
    if math.isinf(first.high):
        return f"The best has no upper end of a 95 % interval: too few flows ({source})."
    return f"95 % interval of the best: {low} to {quantities.show(first.high, 'time')} ({source})."


def source(fabrics: Sequence[Fabric]) -> str:
    """The basis of an interval."""
    seeds = min((len(f.seeds) for f in fabrics), default=0)
    if seeds < 2:
        return "over the flows of one seed"
    same = all(f.same_flows for f in fabrics)
    return (
        f"over {seeds} seeds, and over the flows of all of them" if same else f"over {seeds} seeds"
    )
