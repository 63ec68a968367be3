"""What would overturn a verdict: another load, workload, measure or setting, a longer run, other
draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lightloom.config import loads
from lightloom.results import repeats, steady_state
from lightloom.units import quantities
from lightloom.units.intervals import LEVEL
from lightloom.units.quantities import tick_label

from .. import presets
from ..fair import carrying
from ..model import Fabric, Workload
from ..ranking import Ranking, Score, longer, names
from .criteria import Criterion, is_by_each_flow
from .decided import Decided, decide
from .elsewhere import Ahead


def overturned(
    decided: Decided, ahead: Sequence[Ahead], workload: Workload, others: Sequence[Workload]
) -> tuple[str, ...]:
    """Returns what would overturn the verdict, one sentence each.

    Args:
        ahead: measures by which another fabric is ahead.
        others: comparisons of the same fabrics.
    """
    deciding, ranking = decided.measure, decided.ranking
    return (
        *by_load(deciding, ranking, workload),
        *by_workload(deciding, ranking, workload, others),
        *by_measure(ahead),
        *by_what_is_missing(deciding, ranking),
        *by_settings(workload),
        *by_dark_circuits(workload),
        *by_length(workload),
        *by_chance(ranking, workload),
    )


def remedy(decided: Decided, workload: Workload) -> tuple[str, ...]:
    """The lines on a longer or other run that would show which fabric is ahead; empty if this is
    known, or if the finding already names the run."""
    if not decided.by_figures:
        return ()
    deciding, ranking = decided.measure, decided.ranking
    if ranking.untold:
        return () if is_by_each_flow(workload) else (no_intervals(ranking),)
    if not ranking.level:
        return by_what_is_missing(deciding, ranking)
    return by_length(workload)


def by_load(deciding: Criterion, ranking: Ranking, workload: Workload) -> tuple[str, ...]:
    """The loads of a sweep at which another fabric leads, or a note that there is none."""
    at = deciding.at_loads(workload.fabrics)
    if not at or not ranking.level:
        return ()
    turned = turned_at(at, ranking)
    unknown = [x for x, r in at.items() if not r.level]
    said, mixed = [*another_load(deciding, ranking, workload)], loads.varied(workload.experiment)
    kept = [x for x in at if x not in turned and x not in unknown]
    if kept and (turned or len(at) > 1):
        at_kept = quantities.listed(percent(x) for x in kept)
        if not turned:
            called = f"load {loads.of_what(workload.experiment)}" if mixed is not None else "load"
            said.append(f"Not the {called}: no other fabric is ahead at {at_kept}.")
    if unknown:
        at_unknown = quantities.listed(percent(x) for x in unknown)
        said.append(f"At load {at_unknown} the run does not show which fabric is ahead.")
    return tuple(said)


def another_load(deciding: Criterion, ranking: Ranking, workload: Workload) -> tuple[str, ...]:
    """The loads of a sweep at which another fabric leads; empty if there is none."""
    if not ranking.level:
        return ()
    turned = turned_at(deciding.at_loads(workload.fabrics), ranking)
    each = [f"at {percent(x)} {lead_there(deciding, r)}" for x, r in turned.items()]
    return (f"Another load: {'; '.join(each)}.",) if each else ()


def turned_at(at: Mapping[float, Ranking], ranking: Ranking) -> dict[float, Ranking]:
    """The rankings by load in which another fabric leads."""
    return {x: r for x, r in at.items() if r.level and not shares_lead(r, ranking)}


def percent(load: float) -> str:
    """A load as the sweep requests it."""
    return tick_label(load, "share")


def shares_lead(other: Ranking, ranking: Ranking) -> bool:
    """Whether the two rankings have a common leader: a leader of `ranking` leads `other`, or may
    lead it. If several fabrics lead `ranking`, `other` must not put a single one ahead."""
    leaders = {s.fabric.label for s in ranking.leaders}
    there = {s.fabric.label for s in (*other.leaders, *other.unknown)}
    return bool(leaders & there) and not (len(leaders) > 1 and len(there) == 1)


def lead_there(deciding: Criterion, found: Ranking) -> str:
    """The names of the leaders, and the value by which they lead."""
    value = deciding.shown(found.leaders[0])
    return f"{names(found.leaders)} {deciding.wins[found.level > 1]} ({value})"


def by_workload(
    deciding: Criterion, ranking: Ranking, workload: Workload, others: Sequence[Workload]
) -> tuple[str, ...]:
    """Lines on the other workloads, and the other physics, under which another fabric is ahead."""
    if not ranking.level:
        return ()
    same = [o for o in others if presets.of_one_workload([workload, o])]
    rest = [o for o in others if o not in same]
    return (
        *by_others(deciding, ranking, {presets.under(o): o for o in same}, "physics"),
        *by_others(deciding, ranking, {o.name: o for o in rest}, "workload"),
    )


def by_others(
    deciding: Criterion, ranking: Ranking, others: Mapping[str, Workload], what: str
) -> tuple[str, ...]:
    """Lines on the workloads of `others`, by name: those under which another fabric leads, or that
    there is none."""
    labels = {s.fabric.label for s in ranking.scores}
    turned: dict[str, str] = {}
    kept: list[str] = []
    for name, other in others.items():
        same = tuple(f for f in other.fabrics if f.label in labels)
        decided = decide(replace(other, fabrics=same)) if len(same) > 1 else None
        if decided is None or decided.measure.name != deciding.name:
            continue
        found = decided.ranking
        if not found.level:
            continue
        if shares_lead(found, ranking):
            kept.append(name)
        else:
            turned[name] = lead_there(deciding, found)
    if turned:
        each = [f"under {name} {text}" for name, text in turned.items()]
        kind = "Other" if what == "physics" else "Another"
        return (f"{kind} {what}: {'; '.join(each)}.",)
    if not kept:
        return ()
    return (f"Not the other {what}: no other fabric is ahead under {quantities.listed(kept)}.",)


def by_measure(ahead: Sequence[Ahead]) -> tuple[str, ...]:
    """Further measures by which another fabric is ahead."""
    if not ahead:
        return ()
    measures: dict[str, list[str]] = {}
    for measure, found in ahead:
        measures.setdefault(names(found.leaders), []).append(measure.name)
    each = [f"{who} if {' or '.join(by)} decides" for who, by in measures.items()]
    return (f"Another measure: {quantities.listed(each)}.",)


def by_what_is_missing(deciding: Criterion, ranking: Ranking) -> tuple[str, ...]:
    """Fabrics that may be ahead, because of their undelivered traffic."""
    if not ranking.unfinished:
        return ()
    if not any(_may_lead(s, ranking, deciding) for s in ranking.unfinished):
        return ()  # it is behind; the missing interval is another's (`Ranking.said_unplaced`)
    each = [f"{s.fabric.label} ({deciding.shown(s)})" for s in ranking.unfinished]
    limited = any(
        (cut := s.fabric.cut) is not None and cut["still_since_s"] is None
        for s in ranking.unfinished
    )
    windowed = all(s.fabric.window is not None for s in ranking.unfinished)
    remedy = "a higher run.limit" if limited or windowed else 'run.stop = "drain"'
    return (
        f"What did not arrive: {quantities.listed(each)} may be ahead; {remedy} would show it.",
    )


def _may_lead(found: Score, ranking: Ranking, deciding: Criterion) -> bool:
    """Whether a bound may be as good as the figure of every other fabric, if intervals are left
    aside: unfinished flows only raise a time."""
    if deciding.better == "higher":
        return True
    others = [s.within for s in (*ranking.scores, *ranking.unknown) if not s.open]
    return not others or found.value <= min(others) * (1 + LEVEL)


def by_settings(workload: Workload) -> tuple[str, ...]:
    """The fabrics whose own setting limits their load."""
    each = [f"{f.label} has {f.held_back}" for f in workload.fabrics if f.held_back]
    held = "it is held back by that" if len(each) == 1 else "they are held back by those"
    return (f"Another setting: {quantities.listed(each)}; {held}.",) if each else ()


def by_dark_circuits(workload: Workload) -> tuple[str, ...]:
    """The fabrics that have circuits but sent nothing over them."""
    dark = [f.label for f in workload.fabrics if f.summary.get("circuit_share") == 0]
    if not dark:
        return ()
    are = "is its electrical network" if len(dark) == 1 else "are their electrical networks"
    return (
        f"Circuits: {quantities.listed(dark)} sent nothing over circuits, so what is judged {are} "
        "alone; use a longer run or a shorter fabric.interval.",
    )


def by_length(workload: Workload) -> tuple[str, ...]:
    """The fabrics whose arrivals were too short for a steady state."""
    judged = carrying(workload.fabrics) or workload.fabrics
    known = [(f, took) for f in judged for s in f.each[:1] if (took := s.arrivals_took)]
    short = [
        (f, last)
        for f, last in known
        if steady_state.is_short(last, f.summary) and not is_settled(f)
    ]
    if not short:
        return ()
    each = [
        f"{f.label} {quantities.show(slow, 'time')}"
        for f, _ in short
        if (slow := steady_state.slow_s(f.summary))
    ]
    lasts = quantities.show(max(last for _, last in short), "time")
    summary = short[0][0].summary
    length = steady_state.warm_up_too_short(summary) or f"flows arrived for {lasts}"
    return (
        f"A longer run: {length}, and 99 % of {steady_state.slow_flows(summary)} take "
        f"{quantities.listed(each)}: no steady state; {steady_state.remedy(summary)}.",
    )


def is_settled(fabric: Fabric) -> bool:
    """Whether every window carries its load and is long enough for intervals, by the relaxation
    time of its queues. A long tail is then not a sign of a network that is filling."""
    runs = [s.summary for s in fabric.each]
    return fabric.carriage == "carried" and all(
        run.get("window") is not None
        and run.get("relaxation_s") is not None
        and not steady_state.is_short_for_intervals(run)
        for run in runs
    )


def by_chance(ranking: Ranking, workload: Workload) -> tuple[str, ...]:
    """Results that other draws of the same traffic may change."""
    seeds = min((len(f.seeds) for f in workload.fabrics), default=0)
    trace = repeats.same_flows(workload.experiment)
    said = []
    if ranking.unplaced:
        may = "may be ahead, level or behind"
        said.append(f"More flows or seeds: {names(ranking.unplaced)} {may}.")
    at_once = is_by_each_flow(workload)
    if at_once:
        said.append(
            "Another seed: this is one draw, which has no interval if all flows begin at once; "
            "run.repeat gives intervals over draws."
        )
    elif ranking.untold:
        said.append(no_intervals(ranking))
    elif ranking.level > 1 and repeats.drawn_traffic(workload.experiment):
        said.append(
            f"More flows or seeds: {names(ranking.leaders)} are less than {LEVEL * 100:.0f} % "
            "apart, or their 95 % intervals overlap."
        )
    if trace:
        said.append(
            "Another trace: all seeds use this trace, so intervals over seeds show only the random "
            "choices of the fabrics."
            if seeds > 1
            else "Another trace: these are the flows of one trace."
        )
    elif seeds < 2 and not repeats.drawn_traffic(workload.experiment):
        if any(f.draws for f in workload.fabrics):
            said.append(
                "Another seed: it does not change the traffic, only the random choices of fabrics, "
                "such as paths."
            )
    elif seeds < 2 and not at_once:
        within = any(s.low < s.value < s.high for s in ranking.scores)
        others = any(f.latency_error is not None for f in workload.fabrics)
        which = "the figures that decide" if others else "its figures"
        over = "intervals are over its flows" if within else f"{which} have no intervals"
        said.append(f"Another seed: this is one draw, and {over}; run.repeat adds draws.")
    return tuple(said)


def no_intervals(ranking: Ranking) -> str:
    """The run that gives the leaders' figures intervals."""
    needed, fabrics = longer(ranking.leaders), [s.fabric for s in ranking.leaders]
    if all(f.same_flows and not f.draws for f in fabrics):
        if any(s.least for s in ranking.leaders) and not any(f.window or f.cut for f in fabrics):
            return 'What did not arrive: run.stop = "drain" would show their times.'
        what = "these flows are too few" if needed is None else f"95 % intervals need {needed}"
        return f"A longer trace: {what}; all seeds would use the same flows."
    if needed is None:
        return "More flows or seeds: these flows are too few for 95 % intervals."
    return f"A longer run or more seeds: 95 % intervals need {needed}, or run.repeat."
