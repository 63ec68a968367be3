"""Who carries most, and what oversubscription costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lightloom.unfinished import CENSORED

from .. import units
from ..model import Fabric, LoadPoint, Workload
from ..ranking import LEVEL, Score, less, less_by, longer, names, rank
from ..spec import tick_label
from .answer import COMPLETE, Evidence, Verdict, evidence
from .jobs import all_jobs
from .latency import short_p99, short_score

OVERSUBSCRIPTION = "What does oversubscription cost?"

LEFT_INSIDE = 0.95  # a run that delivers less of the offered bytes depends on its length


def most_traffic(workload: Workload) -> Verdict | None:
    """Who carries most at the highest load that was run; None for jobs and for a run that
    drains: there goodput is but what was to be sent over the time until its last byte."""
    if closed_loop(workload) or (not workload.loads and stop_of(workload) == "drain"):
        return None
    many = len(workload.fabrics) > 1
    load, points = highest(workload)
    at = f"At load {tick_label(load, 'share')}" if load is not None else "In this run"
    question = "Which carries the most traffic" if many else "How much traffic does it carry"
    question += " at the highest load?" if workload.loads else "?"
    scored = [Score.exact(f, p.goodput) for f, p in points if p.goodput is not None]
    if not scored:
        return Verdict(question, "No goodput was measured, so this run cannot say.")
    shown = traffic_evidence(points)
    whole = [p.delivered for _, p in points if p.delivered is not None]
    if whole and len(whole) == len(points) and min(whole) >= COMPLETE:
        each = "each of them delivers" if many else f"{scored[0].fabric.label} delivers"
        share = f"{units.show(min(whole), 'share')} of the bytes{' or more' if many else ''}"
        part = "every byte" if min(whole) == 1 else share
        answer = f"{at} {each} what is offered ({part})."
        return Verdict(question, answer, shown, traffic_notes(workload))
    ranking = rank(scored, "higher")
    best = f"{units.show(ranking.best, 'share')} of what all servers could send"
    if len(scored) == 1:
        lead = f"{at} {names(scored)} carries {best}."
    elif ranking.level == 1:
        lead = f"{at} {names(ranking.leaders)} carries the most: {best}."
    else:
        lead = f"{at} {names(ranking.leaders)} are level: about {best}."
    return Verdict(
        question, " ".join(p for p in (lead, less(ranking)) if p), shown, traffic_notes(workload)
    )


def highest(workload: Workload) -> tuple[float | None, list[tuple[Fabric, LoadPoint]]]:
    """The highest load of the sweep, or the run itself if there was none."""
    if workload.loads:
        top = workload.loads[-1]
        return top, [(f, p) for f in workload.fabrics for p in f.sweep if p.load == top]
    drawn = [f.get("load_offered") for f in workload.fabrics]
    load = next((v for v in drawn if v is not None), None)
    points = [(f, whole_run(f, load)) for f in workload.fabrics]
    return load, points


def whole_run(fabric: Fabric, load: float | None) -> LoadPoint:
    """The run itself, as if it were a point of a sweep."""
    goodput = fabric.get("goodput_normalized")
    p99 = short_p99(fabric)
    return LoadPoint(load or 0.0, load, p99, goodput, fabric.delivered, fabric.finished)


def traffic_evidence(points: Sequence[tuple[Fabric, LoadPoint]]) -> tuple[Evidence, ...]:
    """Goodput as bars, delivered bytes as detail."""
    by_label = {f.label: p for f, p in points}
    places = units.percent_places(p.delivered for _, p in points)

    def detail(fabric: Fabric) -> str:
        share = by_label[fabric.label].delivered
        return "" if share is None else f"{units.show(share, 'share', places)} of offered"

    return evidence([f for f, _ in points], lambda f: by_label[f.label].goodput, "share", detail)


def traffic_notes(workload: Workload) -> tuple[str, ...]:
    """What the goodput depends on besides the fabric."""
    return (*drawn_notes(workload), *leftover_notes(workload))


def leftover_notes(workload: Workload) -> tuple[str, ...]:
    """A run that ends with the last arrival leaves traffic inside: the more, the shorter it is."""
    delivered = [p.delivered for _, p in highest(workload)[1] if p.delivered is not None]
    if stop_of(workload) != "last-arrival" or min(delivered, default=1.0) >= LEFT_INSIDE:
        return ()
    return ("The run ends with the last arrival; what was still inside does not count.",)


def stop_of(workload: Workload) -> str:
    """What ends the run."""
    return str(workload.experiment.get("run", {}).get("stop", "")).replace("_", "-")


def drawn_notes(workload: Workload) -> tuple[str, ...]:
    """Heavy tails offer less than they promise."""
    _, points = highest(workload)
    drawn = next((p.offered for _, p in points if p.offered is not None), None)
    if not workload.loads or drawn is None or not points:
        return ()
    asked = points[0][1].load
    if abs(drawn / asked - 1) < 0.05 if asked else True:
        return ()
    return (
        f"The sizes as drawn offer {units.show(drawn, 'share')} of the servers' rate; "
        f"{tick_label(asked, 'share')} was asked for.",
    )


def oversubscription(workload: Workload) -> Verdict | None:
    """What the oversubscribed pay against their own kind; None if there is no such pair."""
    pairs = oversubscribed(workload.fabrics)
    if not pairs:
        return None
    if closed_loop(workload):
        return Verdict(OVERSUBSCRIPTION, *jobs_cost(pairs))
    chosen = list({f.label: f for pair in pairs for f in pair}.values())
    main, top = main_load(workload), workload.loads[-1] if workload.loads else None
    runs = {f.label: whole_run(f, main) for f in chosen}
    swept = {f.label: p for f in chosen for p in f.sweep if p.load == top and top != main}
    parts = []
    for base, worse in pairs:
        said = [costs(base, worse, short_score(base), short_score(worse), runs)]
        if base.label in swept and worse.label in swept:
            said.append(
                costs(base, worse, point_score(base, swept), point_score(worse, swept), swept)
            )
        parts.append(f"{worse.label} against {base.label}: {'; '.join(said)}.")

    def detail(fabric: Fabric) -> str:
        point = swept.get(fabric.label, runs[fabric.label])
        figures = [units.show(point.fct_p99, "time")] if fabric.label in swept else []
        figures.append(f"goodput {units.show(point.goodput, 'share')}")
        return at_load(point) + ", ".join(figures)

    shown = evidence(chosen, short_p99, "time", detail)
    at = f" at load {tick_label(main, 'share')}" if main else ""
    notes = [f"Bars: 99th percentile of the short flows{at}."]
    if any(p.finished is not None and p.finished < CENSORED for p in swept.values()):
        notes.append("At the highest load many flows were left unfinished, which flatters times.")
    return Verdict(OVERSUBSCRIPTION, " ".join(parts), shown, tuple(notes))


def closed_loop(workload: Workload) -> bool:
    """Whether flows wait for each other, as those of jobs do."""
    return any(f.jobs for f in workload.fabrics) and not workload.loads


def jobs_cost(
    pairs: Sequence[tuple[Fabric, Fabric]],
) -> tuple[str, tuple[Evidence, ...], tuple[str, ...]]:
    """What is paid in the time of jobs: answer, evidence, notes."""
    chosen = list({f.label: f for pair in pairs for f in pair}.values())
    shown = evidence(chosen, all_jobs, "time", lambda f: "")
    parts = []
    for base, worse in pairs:
        a, b = all_jobs(base), all_jobs(worse)
        cost = "not all jobs finished"
        if a and b:
            cost = "no difference" if abs(b / a - 1) <= LEVEL else f"jobs take {longer(b / a)}"
        parts.append(f"{worse.label} against {base.label}: {cost}.")
    return " ".join(parts), shown, ("Bars: the sum of the jobs' times.",)


def main_load(workload: Workload) -> float | None:
    """The load that the runs of the comparison itself were asked for."""
    load = workload.experiment.get("workload", {}).get("load")
    return float(load) if isinstance(load, int | float) else None


def at_load(point: LoadPoint) -> str:
    """Where a figure was taken; nothing for a workload without a load."""
    return f"at load {tick_label(point.load, 'share')} " if point.load else ""


def point_score(fabric: Fabric, points: Mapping[str, LoadPoint]) -> Score | None:
    """Short flows' 99th percentile at a point of the sweep."""
    value = points[fabric.label].fct_p99
    return None if value is None else Score.exact(fabric, value)


def costs(
    base: Fabric,
    worse: Fabric,
    before: Score | None,
    after: Score | None,
    points: Mapping[str, LoadPoint],
) -> str:
    """What is paid at one load, in time and in goodput."""
    a, b = points[base.label], points[worse.label]
    found = [c for c in (latency_cost(before, after), goodput_cost(a.goodput, b.goodput)) if c]
    return at_load(b) + (" and ".join(found) or "no difference that this run can show")


def oversubscribed(fabrics: Sequence[Fabric]) -> list[tuple[Fabric, Fabric]]:
    """Each oversubscribed fabric with the least oversubscribed one of its kind (and of
    its policy of circuits; without an electrical network nothing is oversubscribed)."""

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


def latency_cost(a: Score | None, b: Score | None) -> str:
    """Short flows' 99th percentile, if it changed from `a` to `b`."""
    if a is None or b is None or rank([a, b], "lower").level == 2:
        return ""
    values = f"({units.show(b.value, 'time')} against {units.show(a.value, 'time')})"
    return f"short flows' 99th percentile is {units.times(b.value / a.value)} as long {values}"


def goodput_cost(a: float | None, b: float | None) -> str:
    """Goodput, if it changed from `a` to `b`."""
    if not a or b is None or abs(b / a - 1) <= LEVEL:
        return ""
    change = f"{less_by(b, a)} less" if b < a else f"{(b / a - 1) * 100:.0f} % more"
    return f"it carries {change} ({units.show(b, 'share')} against {units.show(a, 'share')})"
