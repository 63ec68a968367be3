"""What would overturn a verdict: another load, workload, measure or setting, a longer run, other
draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lightloom.config import loads
from lightloom.results import repeats, steady_state
from lightloom.units.intervals import LEVEL

from .. import presets
from ..fair import carrying
from ..model import Fabric, Workload
from ..ranking import Ranking, Score, labels, longer
from ..statement import Statement
from .criteria import Criterion, is_by_each_flow
from .decided import Decided, decide
from .elsewhere import Ahead


def overturned(
    decided: Decided, ahead: Sequence[Ahead], workload: Workload, others: Sequence[Workload]
) -> tuple[Statement, ...]:
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


def remedy(decided: Decided, workload: Workload) -> tuple[Statement, ...]:
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


def by_load(deciding: Criterion, ranking: Ranking, workload: Workload) -> tuple[Statement, ...]:
    """The loads of a sweep at which another fabric leads, or a note that there is none."""
    at = deciding.at_loads(workload.fabrics)
    if not at or not ranking.level:
        return ()
    turned = turned_at(at, ranking)
    unknown = tuple(x for x, r in at.items() if not r.level)
    said = [*another_load(deciding, ranking, workload)]
    kept = tuple(x for x in at if x not in turned and x not in unknown)
    if kept and not turned and len(at) > 1:
        mixed = loads.varied(workload.experiment) is not None
        called = f"load {loads.of_what(workload.experiment)}" if mixed else "load"
        said.append(Statement("not the load", called=called, loads=kept))
    if unknown:
        said.append(Statement("loads without a leader", loads=unknown))
    return tuple(said)


def another_load(
    deciding: Criterion, ranking: Ranking, workload: Workload
) -> tuple[Statement, ...]:
    """The loads of a sweep at which another fabric leads; empty if there is none."""
    if not ranking.level:
        return ()
    turned = turned_at(deciding.at_loads(workload.fabrics), ranking)
    each = tuple(
        Statement("leads at load", load=x, leads=lead_there(deciding, r)) for x, r in turned.items()
    )
    return (Statement("another load", each=each),) if each else ()


def turned_at(at: Mapping[float, Ranking], ranking: Ranking) -> dict[float, Ranking]:
    """The rankings by load in which another fabric leads."""
    return {x: r for x, r in at.items() if r.level and not shares_lead(r, ranking)}


def shares_lead(other: Ranking, ranking: Ranking) -> bool:
    """Whether the two rankings have a common leader: a leader of `ranking` leads `other`, or may
    lead it. If several fabrics lead `ranking`, `other` must not put a single one ahead."""
    leaders = {s.fabric.label for s in ranking.leaders}
    there = {s.fabric.label for s in (*other.leaders, *other.unknown)}
    return bool(leaders & there) and not (len(leaders) > 1 and len(there) == 1)


def lead_there(deciding: Criterion, found: Ranking) -> Statement:
    """The names of the leaders, and the value by which they lead."""
    wins, figure = deciding.wins[found.level > 1], deciding.figure(found.leaders[0])
    return Statement("leads", leaders=labels(found.leaders), wins=wins, figure=figure)


def by_workload(
    deciding: Criterion, ranking: Ranking, workload: Workload, others: Sequence[Workload]
) -> tuple[Statement, ...]:
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
) -> tuple[Statement, ...]:
    """Lines on the workloads of `others`, by name: those under which another fabric leads, or that
    there is none."""
    judged = labels(ranking.scores)
    turned: dict[str, Statement] = {}
    kept: list[str] = []
    for name, other in others.items():
        same = tuple(f for f in other.fabrics if f.label in judged)
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
        each = tuple(Statement("leads under", name=name, leads=x) for name, x in turned.items())
        kind = "other physics" if what == "physics" else "another workload"
        return (Statement(kind, each=each),)
    return (Statement("not the other", what=what, names=tuple(kept)),) if kept else ()


def by_measure(ahead: Sequence[Ahead]) -> tuple[Statement, ...]:
    """Further measures by which another fabric is ahead."""
    if not ahead:
        return ()
    measures: dict[tuple[str, ...], list[str]] = {}
    for measure, found in ahead:
        measures.setdefault(labels(found.leaders), []).append(measure.name)
    each = tuple(
        Statement("leads by", leaders=leaders, measures=tuple(by))
        for leaders, by in measures.items()
    )
    return (Statement("another measure", each=each),)


def by_what_is_missing(deciding: Criterion, ranking: Ranking) -> tuple[Statement, ...]:
    """Fabrics that may be ahead, because of their undelivered traffic."""
    if not ranking.unfinished:
        return ()
    if not any(_may_lead(s, ranking, deciding) for s in ranking.unfinished):
        return ()  # it is behind; the missing interval is another's (`explain_unplaced`)
    each = tuple(
        Statement("figure in brackets", label=s.fabric.label, figure=deciding.figure(s))
        for s in ranking.unfinished
    )
    limited = any(
        (cut := s.fabric.cut) is not None and cut["still_since_s"] is None
        for s in ranking.unfinished
    )
    windowed = all(s.fabric.window is not None for s in ranking.unfinished)
    remedy = "a higher run.limit" if limited or windowed else 'run.stop = "drain"'
    return (Statement("what did not arrive", each=each, remedy=remedy),)


def _may_lead(found: Score, ranking: Ranking, deciding: Criterion) -> bool:
    """Whether a bound may be as good as the figure of every other fabric, if intervals are left
    aside: unfinished flows only raise a time."""
    if deciding.better == "higher":
        return True
    others = [s.within for s in (*ranking.scores, *ranking.unknown) if not s.open]
    return not others or found.value <= min(others) * (1 + LEVEL)


def by_settings(workload: Workload) -> tuple[Statement, ...]:
    """The fabrics whose own setting limits their load."""
    each = tuple(
        Statement("has setting", label=f.label, setting=f.held_back)
        for f in workload.fabrics
        if f.held_back
    )
    return (Statement("another setting", each=each),) if each else ()


def by_dark_circuits(workload: Workload) -> tuple[Statement, ...]:
    """The fabrics that have circuits but sent nothing over them."""
    dark = tuple(f.label for f in workload.fabrics if f.summary.get("circuit_share") == 0)
    return (Statement("nothing over circuits", labels=dark),) if dark else ()


def by_length(workload: Workload) -> tuple[Statement, ...]:
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
    each = tuple(
        Statement("slow flows", label=f.label, slow_s=slow)
        for f, _ in short
        if (slow := steady_state.slow_s(f.summary))
    )
    summary = short[0][0].summary
    flows, remedy = steady_state.slow_flows(summary), steady_state.remedy(summary)
    if length := steady_state.warm_up_too_short(summary):
        return (Statement("longer warm-up", length=length, flows=flows, each=each, remedy=remedy),)
    lasts_s = max(last for _, last in short)
    return (Statement("longer run", lasts_s=lasts_s, flows=flows, each=each, remedy=remedy),)


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


def by_chance(ranking: Ranking, workload: Workload) -> tuple[Statement, ...]:
    """Results that other draws of the same traffic may change."""
    unplaced = (Statement("unplaced may lead", labels=labels(ranking.unplaced)),)
    return (
        *(unplaced if ranking.unplaced else ()),
        *_by_few_flows(ranking, workload),
        *_by_one_draw(ranking, workload),
    )


def _by_few_flows(ranking: Ranking, workload: Workload) -> tuple[Statement, ...]:
    """The leaders that more flows or seeds could tell apart."""
    if is_by_each_flow(workload):
        return (Statement("one draw at once"),)
    if ranking.untold:
        return (no_intervals(ranking),)
    if ranking.level > 1 and repeats.drawn_traffic(workload.experiment):
        return (Statement("more flows or seeds", leaders=labels(ranking.leaders), level=LEVEL),)
    return ()


def _by_one_draw(ranking: Ranking, workload: Workload) -> tuple[Statement, ...]:
    """Another trace, or another seed if only one was run."""
    seeds = min((len(f.seeds) for f in workload.fabrics), default=0)
    if repeats.same_flows(workload.experiment):
        return (Statement("one trace, several seeds" if seeds > 1 else "one trace"),)
    if seeds >= 2:
        return ()
    if not repeats.drawn_traffic(workload.experiment):
        draws = any(f.draws for f in workload.fabrics)
        return (Statement("seed of fabrics alone"),) if draws else ()
    if is_by_each_flow(workload):
        return ()
    if any(s.low < s.value < s.high for s in ranking.scores):
        return (Statement("one draw, intervals over flows"),)
    others = any(f.latency_error is not None for f in workload.fabrics)
    return (Statement("one draw, no interval decides" if others else "one draw, no intervals"),)


def no_intervals(ranking: Ranking) -> Statement:
    """The run that gives the leaders' figures intervals."""
    needed, fabrics = longer(ranking.leaders), [s.fabric for s in ranking.leaders]
    if all(f.same_flows and not f.draws for f in fabrics):
        if any(s.least for s in ranking.leaders) and not any(f.window or f.cut for f in fabrics):
            return Statement("run to the end")
        if needed is None:
            return Statement("longer trace")
        return Statement("trace as long as", needed=needed)
    if needed is None:
        return Statement("more flows for intervals")
    return Statement("run as long as", needed=needed)
