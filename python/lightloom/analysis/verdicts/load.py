"""The fabric with the lowest latency at the load, and the one with the highest load before it
saturates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lightloom.config import loads
from lightloom.results.saturation import Saturation
from lightloom.units import quantities
from lightloom.units.bounds import Bound
from lightloom.units.quantities import tick_label

from ..factors import less, slower
from ..findings.headline import too_short
from ..findings.sentences import Told
from ..model import Fabric, Workload, window_limits
from ..ranking import Figure, Ranking, Score, labels, rank
from ..statement import Statement
from .answer import Verdict, evidence


def latency_at_load(workload: Workload) -> Verdict:
    """The fabric with the lowest mean latency at the load of the experiment."""
    fabrics = workload.fabrics
    load = loads.named(workload.experiment, swept=bool(workload.loads))
    at = At(load)
    question = f"How soon do flows arrive{at}?"
    scores = [s for f in fabrics if (s := score(f)) is not None]
    texts = {s.fabric.label: s.shown("time") for s in scores}
    shown = evidence(fabrics, mean, "time", detail, texts=texts)
    carried = [s for s in scores if is_stable(s.fabric)]
    if not carried:
        return Verdict(question, (Statement("queues only grow", at=at),), shown)
    ranking = rank(carried, "lower")
    short = too_short([s.fabric for s in ranking.leaders], fabrics) if len(fabrics) > 1 else None
    if short is not None:
        return Verdict(
            question, (Statement("too short", finding=Told(short)),), shown, remarks(fabrics)
        )
    lost = tuple(f.label for f in fabrics if not is_stable(f))
    said = (
        *lead(ranking, at, alone=len(fabrics) == 1),
        *(slower(ranking) if ranking.leaders else ()),
        *ranking.explain_unplaced("time"),
        *left_out(ranking),
        *([Statement("loads not carried", labels=lost)] if lost else ()),
    )
    return Verdict(question, said, shown, remarks(fabrics))


def lead(ranking: Ranking, at: At, *, alone: bool) -> tuple[Statement, ...]:
    """The fabric with the lowest mean; empty if only bounds are known."""
    first = ranking.leaders
    if alone:
        only = (*first, *ranking.unknown)[0]
        return (Statement("mean latency", mean=Latency(only), at=at),)
    if not first:
        return ()
    if ranking.untold:
        each = tuple(
            Statement("plain figure of", label=s.fabric.label, figure=Figure(s, "time"))
            for s in first
        )
        return (Statement("too few for latency", at=at, each=each),)
    return (Statement("lowest latency", leaders=labels(first), at=at, mean=Latency(first[0])),)


def left_out(ranking: Ranking) -> tuple[Statement, ...]:
    """The fabrics that are not ranked, because flows of the window were unfinished at the end of
    the run."""
    each = tuple(
        Statement("plain figure in brackets", label=s.fabric.label, figure=Figure(s, "time"))
        for s in ranking.unfinished
    )
    return (Statement("flows unfinished", each=each),) if each else ()


def mean(fabric: Fabric) -> float | None:
    """Mean latency in the window [s], or its lower bound."""
    found = window_limits(fabric.window, "mean_us")
    return None if found is None else found.low


def is_stable(fabric: Fabric) -> bool:
    """Whether the window shows that the load was carried."""
    return fabric.carries_window


def score(fabric: Fabric) -> Score | None:
    """The mean latency with its interval, or its bound; None if no flow arrived in the window."""
    half = fabric.latency_error
    found = window_limits(fabric.window, "mean_us")
    return around(fabric, found, math.inf if half is None else half)


def around(fabric: Fabric, found: Bound | None, half: float) -> Score | None:
    """A mean latency with the half-width of its interval, or its known bound."""
    if found is None:
        return None
    if not found.exact:
        return Score.of(fabric, found)
    return Score(fabric, found.low, found.low - half, found.low + half)


@dataclass(frozen=True)
class At:
    """The load at which a figure was measured, as a value of a statement, with the space `after` or
    before it; empty if the traffic has none."""

    load: float | None

    def __format__(self, space: str) -> str:
        if self.load is None:
            return ""
        at = f"at load {tick_label(self.load, 'share')}"
        return f"{at} " if space == "after" else f" {at}"


@dataclass(frozen=True)
class Latency:
    """A mean latency, as a value of a statement: `405.0 ± 7.1 ns`, or `more than 405 ns`."""

    score: Score

    def __format__(self, _: str) -> str:
        half = (self.score.high - self.score.low) / 2
        if self.score.least:
            return self.score.shown("time").replace(">", "more than")
        if not half or not math.isfinite(half):
            return quantities.show(self.score.value, "time")
        return quantities.show_interval(self.score.value, half, "time")


def detail(fabric: Fabric) -> str:
    """The tail latency; or a note that the figure is not meaningful."""
    if not is_stable(fabric):
        return "not carried"
    if fabric.carriage == "unsettled":
        return "not known whether it carries the load"
    found = window_limits(fabric.window, "p99_us")
    return "" if found is None else f"99 % in {Score.of(fabric, found).shown('time')}"


def remarks(fabrics: Sequence[Fabric]) -> tuple[Statement, ...]:
    """Doubts about the intervals."""
    doubtful = [f for f in fabrics if is_stable(f) and (f.window or {}).get("correlated")]
    if not doubtful:
        return ()
    return (Statement("correlated batches", labels=tuple(f.label for f in doubtful)),)


def saturation(workload: Workload) -> Verdict | None:
    """The verdict on the highest load before saturation; None if there was no search."""
    found = [(f, s) for f in workload.fabrics if (s := f.saturation) is not None]
    if not found:
        return None
    details = {
        f.label: f"{_width(s)}; busiest server receives {s.busiest:.3g} × its rate"
        for f, s in found
    }
    shown = evidence(
        [f for f, _ in found],
        lambda f: f.saturation.throughput if f.saturation else None,
        "share",
        lambda f: details[f.label],
    )
    unseen = tuple(f.label for f, s in found if s.not_carried is None)
    highest = (Statement("highest load carried", labels=unseen),) if unseen else ()
    question = "How much is carried before the network saturates?"
    return Verdict(question, saturation_answer(found), shown, highest)


def saturation_answer(found: Sequence[tuple[Fabric, Saturation]]) -> tuple[Statement, ...]:
    """The fabric with the highest load before saturation, and how much less the others carry."""
    if untold := tuple(f.label for f, s in found if not s.is_told):
        return (Statement("search too short", labels=untold),)
    ranking = rank([Score(f, s.throughput, s.low, s.high) for f, s in found], "higher")
    wide = ranking.explain_unplaced("share")
    if not ranking.leaders:
        return wide
    if len(found) == 1:
        kind = "saturation of one"
    else:
        kind = "highest saturation" if ranking.level == 1 else "level saturation"
    lead = Statement(kind, leaders=labels(ranking.leaders), share=ranking.best)
    return (lead, *less(ranking), *wide)


def _width(found: Saturation) -> str:
    """The half-width of a saturation's interval as text."""
    half = found.half_width
    return "no interval: the window is too short" if half is None else f"± {100 * half:.2g} %"
