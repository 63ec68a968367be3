"""Who answers soonest at the load, and who carries most before it saturates."""

from __future__ import annotations

from collections.abc import Sequence

from .. import units
from ..factors import less, slower
from ..model import Fabric, Workload, figure, microseconds
from ..ranking import Score, names, rank
from ..spec import tick_label
from .answer import Verdict, evidence


def latency_at_load(workload: Workload) -> Verdict:
    """Whose packets arrive soonest at the load of the experiment."""
    fabrics = workload.fabrics
    load = figure(workload.experiment, "workload.load")
    at = "" if load is None else f" at load {tick_label(load, 'share')}"
    question = f"How soon do flows arrive{at}?"
    shown = evidence(fabrics, mean, "time", detail)
    carried = [f for f in fabrics if is_stable(f) and mean(f) is not None]
    if not carried:
        return Verdict(question, f"No fabric carries it{at}: queues only grow.", shown)
    ranking = rank([score(f) for f in carried], "lower")
    first = ranking.leaders
    verb = "has" if len(first) == 1 else "share"
    lead = f"{names(first)} {verb} the lowest mean latency{at}: " if first else ""
    lead += f"{interval(first[0])}." if first else ""
    lost = [f.label for f in fabrics if not is_stable(f)]
    also = f"{units.listed(lost)} cannot carry the load." if lost else ""
    parts = (
        lead if len(fabrics) > 1 else f"On average in {interval(first[0])}{at}.",
        slower(ranking) if first else "",
        ranking.said_unplaced("time"),
    )
    return Verdict(question, " ".join(p for p in (*parts, also) if p), shown, notes(fabrics))


def mean(fabric: Fabric) -> float | None:
    """Mean latency in the window [s]."""
    return microseconds(fabric.window or {}, "mean_us")


def is_stable(fabric: Fabric) -> bool:
    """Whether the load was carried."""
    return bool((fabric.window or {}).get("stable"))


def score(fabric: Fabric) -> Score:
    """The mean latency with its interval."""
    value = mean(fabric) or 0.0
    half = microseconds(fabric.window or {}, "half_width_us") or 0.0
    return Score(fabric, value, value - half, value + half)


def interval(made: Score) -> str:
    """`405 ns ± 7.1 ns`."""
    half = (made.high - made.low) / 2
    if not half:
        return units.show(made.value, "time")
    name, size = units.step_for(half, "time")
    return f"{units.show(made.value, 'time')} ± {half / size:.2g}{units.GLUE}{name}"


def detail(fabric: Fabric) -> str:
    """The tail; or that the figure means little."""
    if not is_stable(fabric):
        return "not carried"
    return f"99 % in {units.show(microseconds(fabric.window or {}, 'p99_us'), 'time')}"


def notes(fabrics: Sequence[Fabric]) -> tuple[str, ...]:
    """What weakens the intervals."""
    doubtful = [f.label for f in fabrics if is_stable(f) and (f.window or {}).get("correlated")]
    if not doubtful:
        return ()
    return (
        f"Batches of {units.listed(doubtful)} resemble their neighbours: the interval is too "
        "narrow; a longer warm-up or window would tell.",
    )


def saturation(workload: Workload) -> Verdict | None:
    """Who carries most before it saturates; None if nobody looked."""
    found = [(f, s) for f in workload.fabrics if (s := f.saturation) is not None]
    if not found:
        return None
    scores = [
        Score(f, s.throughput, s.throughput - s.half_width, s.throughput + s.half_width)
        for f, s in found
    ]
    ranking = rank(scores, "higher")
    first = ranking.leaders
    best = f"{units.show(ranking.best, 'share')} of what all servers could send" if first else ""
    verb = "carries the most" if ranking.level == 1 else "are level"
    lead = f"{names(first)} {verb}: {best}." if first else ""
    if len(found) == 1:
        lead = f"{names(ranking.leaders)} carries {best}."
    details = {
        f.label: f"± {100 * s.half_width:.2g} %; busiest server hears {s.busiest:.3g} × its rate"
        for f, s in found
    }
    shown = evidence(
        [f for f, _ in found],
        lambda f: f.saturation.throughput if f.saturation else None,
        "share",
        lambda f: details[f.label],
    )
    unseen = [f.label for f, s in found if s.not_carried is None]
    note = f"{units.listed(unseen)} carried the highest load that was tried." if unseen else ""
    wide = ranking.said_unplaced("share")
    answer = " ".join(p for p in (lead, less(ranking) if first else "", wide) if p)
    return Verdict(
        "How much is carried before the network saturates?", answer, shown, (note,) if note else ()
    )
