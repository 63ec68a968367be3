"""The fabric with the lowest latency at the load, and the one with the highest load before it
saturates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lightloom.config import loads
from lightloom.results.saturation import Saturation
from lightloom.units import quantities
from lightloom.units.bounds import Bound
from lightloom.units.quantities import tick_label

from ..factors import less, slower
from ..findings.headline import too_short
from ..findings.sentences import explained, title
from ..model import Fabric, Workload, window_limits
from ..ranking import Ranking, Score, names, rank
from .answer import Verdict, evidence


def latency_at_load(workload: Workload) -> Verdict:
    """The fabric with the lowest mean latency at the load of the experiment."""
    fabrics = workload.fabrics
    load = loads.named(workload.experiment, swept=bool(workload.loads))
    at = "" if load is None else f" at load {tick_label(load, 'share')}"
    question = f"How soon do flows arrive{at}?"
    scores = [s for f in fabrics if (s := score(f)) is not None]
    text = {s.fabric.label: s.shown("time") for s in scores}
    shown = evidence(fabrics, mean, "time", detail, text=text)
    carried = [s for s in scores if is_stable(s.fabric)]
    if not carried:
        return Verdict(question, f"No fabric carries it{at}: queues only grow.", shown)
    ranking = rank(carried, "lower")
    short = too_short([s.fabric for s in ranking.leaders], fabrics) if len(fabrics) > 1 else None
    if short is not None:
        return Verdict(question, f"{title(short)}. {explained(short)}", shown, notes(fabrics))
    lost = [f.label for f in fabrics if not is_stable(f)]
    also = f"{quantities.listed(lost)} cannot carry the load." if lost else ""
    parts = (
        lead(ranking, at, alone=len(fabrics) == 1),
        slower(ranking) if ranking.leaders else "",
        ranking.said_unplaced("time"),
        left_out(ranking),
    )
    return Verdict(question, " ".join(p for p in (*parts, also) if p), shown, notes(fabrics))


def lead(ranking: Ranking, at: str, *, alone: bool) -> str:
    """The fabric with the lowest mean; None if only bounds are known."""
    first = ranking.leaders
    if alone:
        return f"On average in {interval((*first, *ranking.unknown)[0])}{at}."
    if not first:
        return ""
    if ranking.untold:
        each = quantities.listed(f"{s.fabric.label} {s.shown('time')}" for s in first)
        return f"Too few flows to tell which has the lowest mean latency{at}: {each}."
    verb = "has" if len(first) == 1 else "share"
    return f"{names(first)} {verb} the lowest mean latency{at}: {interval(first[0])}."


def left_out(ranking: Ranking) -> str:
    """The fabrics that are not ranked, because flows of the window were unfinished at the end of
    the run."""
    each = [f"{s.fabric.label} ({s.shown('time')})" for s in ranking.unfinished]
    return f"Not ranked, for the flows left unfinished: {quantities.listed(each)}." if each else ""


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


def interval(made: Score) -> str:
    """The latency as `405.0 ± 7.1 ns`, or `more than 405 ns` for a bound."""
    half = (made.high - made.low) / 2
    if made.least:
        return made.shown("time").replace(">", "more than")
    if not half or not math.isfinite(half):
        return quantities.show(made.value, "time")
    return quantities.show_interval(made.value, half, "time")


def detail(fabric: Fabric) -> str:
    """The tail latency; or a note that the figure is not meaningful."""
    if not is_stable(fabric):
        return "not carried"
    if fabric.carriage == "unsettled":
        return "not known whether it carries the load"
    found = window_limits(fabric.window, "p99_us")
    return "" if found is None else f"99 % in {Score.of(fabric, found).shown('time')}"


def notes(fabrics: Sequence[Fabric]) -> tuple[str, ...]:
    """Doubts about the intervals."""
    doubtful = [f.label for f in fabrics if is_stable(f) and (f.window or {}).get("correlated")]
    if not doubtful:
        return ()
    return (
        f"Batches of {quantities.listed(doubtful)} resemble their neighbours: a longer window "
        "is needed for a narrow interval.",
    )


def saturation(workload: Workload) -> Verdict | None:
    """The verdict on the highest load before saturation; None if there was no search."""
    found = [(f, s) for f in workload.fabrics if (s := f.saturation) is not None]
    if not found:
        return None
    scores = [Score(f, s.throughput, s.low, s.high) for f, s in found]
    ranking = rank(scores, "higher")
    first = ranking.leaders
    best = f"{quantities.show(ranking.best, 'share')} of the servers' capacity" if first else ""
    verb = "carries the most" if ranking.level == 1 else "are level"
    lead = f"{names(first)} {verb}: {best}." if first else ""
    if untold := [f.label for f, s in found if not s.is_told]:
        ranking = Ranking((), 0)
        first = ranking.leaders
        lead = (
            f"The windows of the search are too short to tell at which load "
            f"{quantities.listed(untold)} {'saturates' if len(untold) == 1 else 'saturate'}; "
            "lengthen run.warm_up and run.measure."
        )
    elif len(found) == 1:
        lead = f"{names(ranking.leaders)} carries {best}."
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
    unseen = [f.label for f, s in found if s.not_carried is None]
    note = f"{quantities.listed(unseen)} carried the highest load that was tried." if unseen else ""
    wide = ranking.said_unplaced("share")
    answer = " ".join(p for p in (lead, less(ranking) if first else "", wide) if p)
    return Verdict(
        "How much is carried before the network saturates?", answer, shown, (note,) if note else ()
    )


def _width(found: Saturation) -> str:
    """The half-width of a saturation's interval as text."""
    half = found.half_width
    return "no interval: the window is too short" if half is None else f"± {100 * half:.2g} %"
