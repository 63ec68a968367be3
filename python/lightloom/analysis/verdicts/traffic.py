"""The fabric that delivers most, and the cost of oversubscription."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lightloom.config import loads
from lightloom.units import quantities
from lightloom.units.intervals import LEVEL
from lightloom.units.quantities import tick_label

from ..factors import Factor, between, less
from ..fair import carrying
from ..model import Fabric, LoadPoint, Workload
from ..ranking import Figure, Score, is_level, labels, rank
from ..statement import Statement
from . import load as window
from .answer import COMPLETE, Evidence, Verdict, evidence
from .criteria import LONG, carried_at
from .each_flow import is_sooner_in_each, mean_time
from .jobs import BARS, all_jobs
from .latency import short_limits, short_score

OVERSUBSCRIPTION = "What does oversubscription cost?"

LEFT_INSIDE = 0.95  # below this, the load delivered depends on the run's length
AS_ASKED = 0.02  # a load drawn within this is the requested one


def most_traffic(workload: Workload) -> Verdict | None:
    """The verdict on the fabric that delivers most of the highest load while flows arrive; None for
    jobs and for flows without a load, whose goodput only depends on the bytes and the time of the
    last byte."""
    has_load = any(f.get("load_delivered") is not None for f in workload.fabrics)
    if closed_loop(workload) or not (has_load or workload.loads):
        return None
    many = len(workload.fabrics) > 1
    points = highest(workload)[1]
    question = "Which carries the most traffic" if many else "How much traffic does it carry"
    question += " at the highest load?" if workload.loads else "?"
    scored = [s for f, p in points if (s := carried_at(f, p)) is not None]
    if not scored:
        return Verdict(question, (Statement("no load delivered"),))
    shown = traffic_evidence(points)
    return Verdict(question, traffic_answer(workload, scored), shown, traffic_notes(workload))


def traffic_answer(workload: Workload, scored: Sequence[Score]) -> tuple[Statement, ...]:
    """The fabrics that deliver most at the highest load, or that each delivers all of it."""
    load, points = highest(workload)
    when, many = Drawn(load, drawn_at(points)), len(workload.fabrics) > 1
    whole = [share for _, p in points if (share := through(p)) is not None]
    if whole and len(whole) == len(points) and min(whole) >= COMPLETE:
        label, share = scored[0].fabric.label, min(whole)
        if share == 1:
            kind = "all delivered by each" if many else "all delivered by one"
            return (Statement(kind, when=when, label=label),)
        almost = "nearly all delivered by each" if many else "nearly all delivered by one"
        return (Statement(almost, when=when, label=label, share=share),)
    ranking = rank(scored, "higher")
    wide = ranking.explain_unplaced("share")
    if not ranking.level:
        return (Statement("at load", when=when), *wide)
    if len(scored) > 1 and ranking.level > 1:
        each = tuple(
            Statement("figure of", label=s.fabric.label, figure=Figure(s, "share"))
            for s in ranking.leaders
        )
        lead = Statement("level load", when=when, leaders=labels(ranking.leaders), each=each)
    else:
        of = "load of one" if len(scored) == 1 else "highest load"
        best = ranking.leaders[0]
        lead = Statement(of, when=when, label=best.fabric.label, share=Figure(best, "share"))
    return (lead, *less(ranking), *wide)


def highest(workload: Workload) -> tuple[float | None, list[tuple[Fabric, LoadPoint]]]:
    """The highest load of the sweep, or the run itself without a sweep: the requested load, and
    each fabric at it."""
    if workload.loads:
        top = workload.loads[-1]
        return top, [(f, p) for f in workload.fabrics for p in f.sweep if p.load == top]
    load = main_load(workload)
    return load, [(f, whole_run(f, load)) for f in workload.fabrics]


@dataclass(frozen=True)
class Drawn:
    """The requested load and the load drawn, as a value of a statement; the latter is named if it
    differs."""

    asked: float | None
    drawn: float | None

    def __format__(self, _: str) -> str:
        drawn = "" if self.drawn is None else quantities.show(self.drawn, "share")
        if self.asked is None:
            return f"At load {drawn} drawn" if drawn else "In this run"
        at = f"At load {tick_label(self.asked, 'share')}"
        if self.drawn is None or abs(self.drawn / self.asked - 1) < AS_ASKED:
            return at
        return f"{at} asked for, {drawn} drawn,"


def drawn_at(points: Sequence[tuple[Fabric, LoadPoint]]) -> float | None:
    """The load drawn, which is the same for every fabric."""
    return next((p.drawn for _, p in points if p.drawn is not None), None)


def through(point: LoadPoint) -> float | None:
    """Share of the load drawn that was delivered while flows arrived; for flows without a load,
    share of the bytes offered."""
    if point.drawn and point.carried is not None:
        return min(1.0, point.carried / point.drawn)
    return point.delivered


def whole_run(fabric: Fabric, load: float | None) -> LoadPoint:
    """The run itself as a point of a sweep."""
    return LoadPoint(
        load or 0.0,
        fabric.get("load_offered"),
        short_limits(fabric),
        fabric.carried,
        fabric.delivered,
        fabric.finished,
        seeds=tuple(whole_run(seed, load) for seed in fabric.seeds),
        goodput=fabric.get("goodput_normalized"),
    )


def traffic_evidence(points: Sequence[tuple[Fabric, LoadPoint]]) -> tuple[Evidence, ...]:
    """Load delivered as bars, with the share of the offered bytes as detail."""
    by_label = {f.label: p for f, p in points}
    places = quantities.percent_places(through(p) for _, p in points)

    def detail(fabric: Fabric) -> str:
        share = through(by_label[fabric.label])
        return "" if share is None else f"{quantities.show(share, 'share', places)} of the offer"

    return evidence([f for f, _ in points], lambda f: by_label[f.label].carried, "share", detail)


def traffic_notes(workload: Workload) -> tuple[Statement, ...]:
    """The properties of the run, besides the fabric, on which the load delivered depends."""
    return (*drawn_notes(workload), *leftover_notes(workload))


def leftover_notes(workload: Workload) -> tuple[Statement, ...]:
    """Note that traffic in flight at the last arrival does not count as delivered; its share is
    larger if the arrivals are shorter."""
    shares = [share for _, p in highest(workload)[1] if (share := through(p)) is not None]
    return (Statement("bytes in flight"),) if min(shares, default=1.0) < LEFT_INSIDE else ()


def drawn_notes(workload: Workload) -> tuple[Statement, ...]:
    """Note that heavy-tailed sizes draw less than the requested load."""
    asked, points = highest(workload)
    drawn = drawn_at(points)
    if not asked or drawn is None or abs(drawn / asked - 1) < 0.05:
        return ()
    return (Statement("other load drawn", drawn=drawn, asked=asked),)


def oversubscription(workload: Workload) -> Verdict | None:
    """The cost of oversubscription against fabrics of the same kind without it; None if there is no
    such pair."""
    pairs = oversubscribed(workload.fabrics)
    if not pairs:
        return None
    if closed_loop(workload):
        return jobs_cost(pairs)
    chosen = list({f.label: f for pair in pairs for f in pair}.values())
    main, top = main_load(workload), workload.loads[-1] if workload.loads else None
    runs = {f.label: whole_run(f, main) for f in chosen}
    swept = {f.label: p for f in chosen for p in f.sweep if p.load == top and top != main}
    parts = []
    judged, paid = carrying(workload.fabrics), paid_time(workload)
    for base, worse in pairs:
        cost = run_cost(base, worse, judged, workload, runs)
        said = [Statement("cost at load", at=at_load(runs[worse.label]), cost=cost)]
        if base.label in swept and worse.label in swept:
            scores_there = point_score(base, swept), point_score(worse, swept)
            there = not_compared(swept[base.label], swept[worse.label])
            there = there or costs(base, worse, *scores_there, swept)
            said.append(Statement("cost at load", at=at_load(swept[worse.label]), cost=there))
        costs_here = tuple(said)
        parts.append(Statement("cost", worse=worse.label, base=base.label, costs=costs_here))

    def detail(fabric: Fabric) -> str:
        point = swept.get(fabric.label, runs[fabric.label])
        at_top = point_score(fabric, swept) if fabric.label in swept else None
        figures = [] if at_top is None else [at_top.shown("time")]
        figures.append(f"delivers {quantities.show(point.carried, 'share')}")
        at = f"{at_load(point)}".strip()
        return (f"{at}: " if at else "") + ", ".join(figures)

    scores = {f.label: s for f in chosen if (s := paid.score(f)) is not None}
    found = {label: s.shown("time") for label, s in scores.items()}

    def value_of(fabric: Fabric) -> float | None:
        return scores[fabric.label].value if fabric.label in scores else None

    shown = evidence(chosen, value_of, "time", detail, texts=found)
    bars = (Statement("bars", measure=paid.name, at=window.At(main or None)),) if found else ()
    return Verdict(OVERSUBSCRIPTION, tuple(parts), shown, bars)


def has_mean_alone(workload: Workload) -> bool:
    """Whether a window has one class of flows, of which the verdict judges the mean latency."""
    return workload.measured and not any(f.short_count for f in workload.fabrics)


@dataclass(frozen=True)
class Paid:
    """The time by which the cost of oversubscription is measured, as in the verdict."""

    name: str
    whose: str
    """The name of this time after "c3 against c1:"."""
    score: Callable[[Fabric], Score | None]


def paid_time(workload: Workload) -> Paid:
    """The time of the short flows, if there are any; else of all flows in a window, or of the
    others."""
    if has_mean_alone(workload):
        return Paid("mean latency", "mean latency", window.score)
    if workload.measured or any(f.short_fct.size for f in workload.fabrics):
        return Paid(
            "99th percentile of the short flows", "short flows' 99th percentile", short_score
        )
    return Paid("99th percentile of the flows", "flows' 99th percentile", LONG.read)


def run_cost(
    base: Fabric,
    worse: Fabric,
    judged: Sequence[Fabric],
    workload: Workload,
    points: Mapping[str, LoadPoint],
) -> tuple[Statement, ...]:
    """The cost in the run itself.

    Times of a fabric that does not carry the load are not compared; nothing is compared if the
    window or run is too short to show whether it does.
    """
    if base.is_doubtful or worse.is_doubtful:
        return (Statement("window too short" if workload.measured else "run too short"),)
    if is_sooner_in_each(base, worse):
        larger, smaller = mean_score(worse), mean_score(base)
        if larger and smaller and (factor := between(larger, smaller)) is not None:
            return (Statement("each flow longer", factor=factor),)
    if base not in judged or worse not in judged:
        return costs(base, worse, None, None, points)
    paid = paid_time(workload)
    return costs(base, worse, paid.score(base), paid.score(worse), points, paid.whose)


def not_compared(base: LoadPoint, worse: LoadPoint) -> tuple[Statement, ...]:
    """Why windows of two fabrics are not compared at a load of the sweep: it is open whether one of
    them carries the load, or the oversubscribed one does not; empty if they are compared."""
    if worse.window is None:
        return ()
    if base.is_doubtful or worse.is_doubtful:
        return (Statement("window too short"),)
    if base.stable and not worse.stable:
        return (Statement("load lost", worse=worse.carried, base=base.carried),)
    return ()


def mean_score(fabric: Fabric) -> Score | None:
    """Mean completion time of a fabric's flows."""
    found = mean_time(fabric)
    return None if found is None else Score.exact(fabric, found)


def closed_loop(workload: Workload) -> bool:
    """Whether flows wait for each other, as in jobs."""
    return any(f.jobs for f in workload.fabrics) and not workload.loads


def jobs_cost(pairs: Sequence[tuple[Fabric, Fabric]]) -> Verdict:
    """The cost of oversubscription in the time of jobs."""
    chosen = list({f.label: f for pair in pairs for f in pair}.values())
    shown = evidence(chosen, all_jobs, "time", lambda f: "")
    said = tuple(
        Statement("cost", worse=worse.label, base=base.label, costs=(job_cost(base, worse),))
        for base, worse in pairs
    )
    return Verdict(OVERSUBSCRIPTION, said, shown, (BARS,))


def job_cost(base: Fabric, worse: Fabric) -> Statement:
    """The cost of oversubscription in the time until all jobs of a fabric are done."""
    a, b = all_jobs(base), all_jobs(worse)
    if not a or not b:
        return Statement("jobs unfinished")
    if abs(b / a - 1) <= LEVEL:
        return Statement("no difference")
    return Statement("jobs longer", factor=Factor(b / a, b / a, b / a))


def main_load(workload: Workload) -> float | None:
    """The requested load of the comparison's own runs."""
    return loads.named(workload.experiment, swept=bool(workload.loads))


def at_load(point: LoadPoint) -> window.At:
    """The load at which a figure was measured; none for a workload without a load."""
    return window.At(point.load or None)


def point_score(fabric: Fabric, points: Mapping[str, LoadPoint]) -> Score | None:
    """Short flows' 99th percentile at a point of the sweep."""
    found = points[fabric.label].p99
    return None if found is None else Score.of(fabric, found)


def costs(
    base: Fabric,
    worse: Fabric,
    before: Score | None,
    after: Score | None,
    points: Mapping[str, LoadPoint],
    what: str = "short flows' 99th percentile",
) -> tuple[Statement, ...]:
    """The cost of oversubscription at one load, in time and in load delivered."""
    a, b = points[base.label], points[worse.label]
    found = (
        *latency_cost(before, after, what),
        *carried_cost(carried_at(base, a), carried_at(worse, b)),
    )
    if found:
        return found
    if before is not None and after is not None and rank([before, after], "lower").untold:
        late, soon = Figure(after, "time"), Figure(before, "time")
        return (Statement("too few to tell", measure=what, after=late, before=soon),)
    return (Statement("no difference shown"),)


def oversubscribed(fabrics: Sequence[Fabric]) -> list[tuple[Fabric, Fabric]]:
    """Each oversubscribed fabric with the least oversubscribed one of its kind (and of its circuit
    policy; a fabric without an electrical network is not oversubscribed)."""

    def factor(fabric: Fabric) -> float:
        value = fabric.settings.get("oversubscription", 1)
        return float(value) if isinstance(value, int | float) else 1.0

    def likeness(fabric: Fabric) -> tuple[Any, ...]:
        return fabric.kind, fabric.settings.get("policy")

    wired = [f for f in fabrics if f.settings.get("electrical") is not False]
    pairs = []
    for worse in wired:
        same = [f for f in wired if likeness(f) == likeness(worse)]
        base = min(same, key=factor)
        if factor(worse) > factor(base):
            pairs.append((base, worse))
    return pairs


def latency_cost(a: Score | None, b: Score | None, what: str) -> tuple[Statement, ...]:
    """The change of a time from `a` to `b`; empty if both are level or cannot be compared."""
    if a is None or b is None or a.open:
        return ()
    ranking = rank([a, b], "lower")
    if ranking.level == 2 or ranking.unknown:
        return ()
    found = between(b, a)
    if found is None:
        return ()
    after, before = Figure(b, "time"), Figure(a, "time")
    return (Statement("time longer", measure=what, factor=found, after=after, before=before),)


def carried_cost(a: Score | None, b: Score | None) -> tuple[Statement, ...]:
    """The change of the load delivered from `a` to `b`; empty if it did not change."""
    if a is None or b is None or a.value <= 0 or is_level(a, b):
        return ()
    found = between(max(a, b, key=value), min(a, b, key=value))
    after, before = Figure(b, "share"), Figure(a, "share")
    if found is None:
        return (Statement("delivers nothing", after=after, before=before),)
    kind = "delivers less" if b.value < a.value else "delivers more"
    return (Statement(kind, factor=found, after=after, before=before),)


def value(found: Score) -> float:
    """The value without its interval."""
    return found.value
