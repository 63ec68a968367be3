"""The verdict that stands first: who is best for what, by how much, and what would
overturn it.

The first measure that a comparison has decides; a fabric that is ahead by another is
named with it. A fabric is not ahead if its interval overlaps with that of the next, or by less
than 3 %. What would overturn the verdict is found in the same data: in loads and workloads
at which another is ahead, in measures by which another is, in what is not known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lightloom.config import loads
from lightloom.results import repeats, steady_state
from lightloom.units import quantities
from lightloom.units.intervals import LEVEL
from lightloom.units.quantities import tick_label

from .. import presets
from ..factors import (
    NOTABLE,
    Factor,
    between,
    factor_text,
    farthest,
    nearest,
    percent_less,
    percent_more,
)
from ..fair import carrying, unfair
from ..findings.headline import cuts, dark_starts, first_question, rare_decisions, too_short
from ..findings.kinds import (
    AloneCarries,
    DoneSooner,
    Finding,
    FinishesMore,
    NoneCarries,
    TooShort,
)
from ..findings.sentences import cut, dark, explained, jobs_done, rarely
from ..findings.sentences import title as titled
from ..model import Fabric, Workload
from ..ranking import NAMED, Ranking, Score, longer, names, together
from . import each_flow
from .criteria import (
    DELIVERED,
    EVERY,
    FINISHED,
    JOBS,
    LAST,
    SHORT,
    Criterion,
    criteria,
    is_by_each_flow,
    of_finished,
)
from .criteria import measures as measures_of
from .each_flow import ENOUGH_PAIRS, begins_at_once, is_sooner_in_each

OTHERS = 2  # further measures by which another fabric is ahead


@dataclass(frozen=True)
class First:
    """What a reader who reads no further should know."""

    lead: str  # the first part of the title: who is best by what decides
    title: str
    answer: str
    overturned: tuple[str, ...]
    leaders: tuple[str, ...] = ()  # labels, in the order of the experiment
    wins: tuple[str, str] = ("", "")  # what one does who leads, and what several do
    finding: Finding | None = None  # what decided it
    main: str = ""  # the sentence with the figures that decide
    caveats: tuple[str, ...] = ()  # sentences that can change the conclusion


def first(workload: Workload, others: Sequence[Workload] = ()) -> First | None:
    """The verdict of a comparison beside others of the same fabrics; None where fabrics
    have no figure to be judged by, or there is but one."""
    if len(workload.fabrics) < 2:
        return None
    decided = decide(workload)
    if decided is None:
        return None
    deciding, ranking = decided.measure, decided.ranking
    further = [c for c in criteria(workload) if c.name != deciding.name]
    ahead = elsewhere(ranking, further, workload) if decided.by_figures else []
    title = "; ".join([decided.lead, *(f"{names(r.leaders)} {c.wins[0]}" for c, r in ahead[:1])])
    early = cut(cuts(workload.fabrics))
    # Where a limit left no fabric with enough flows, it is the reason and comes first.
    lead, said = (early, "") if early and not ranking.level else ("", early)
    caveats = (
        ranking.said_unplaced(deciding.quantity),
        "" if decided.names_carriers else unfair(workload.fabrics),
        said,
        dark(dark_starts(workload.fabrics)),
        rarely(rare_decisions(workload.fabrics)),
    )
    sentences = (lead, *decided.sentences, *caveats, *(trade(c, r, ranking) for c, r in ahead))
    doubts = (
        *by_load(deciding, ranking, workload),
        *by_workload(deciding, ranking, workload, others),
        *by_measure(ahead),
        *by_what_is_missing(deciding, ranking),
        *by_settings(workload),
        *by_dark_circuits(workload),
        *by_length(workload),
        *by_chance(ranking, workload),
    )
    leading_labels = {s.fabric.label for s in ranking.leaders}
    leaders = tuple(f.label for f in workload.fabrics if f.label in leading_labels)
    answer = " ".join(s for s in sentences if s)
    return First(
        decided.lead,
        title,
        answer,
        doubts,
        leaders,
        deciding.wins,
        decided.finding,
        " ".join(s for s in (lead, next((s for s in decided.sentences if s), "")) if s),
        tuple(s for s in caveats if s),
    )


@dataclass(frozen=True)
class Decided:
    """What a comparison is decided by, and how that reads."""

    finding: Finding
    lead: str
    sentences: tuple[str, ...]
    measure: Criterion
    ranking: Ranking
    by_figures: bool  # whether the figures of the measure rank the fabrics

    @property
    def names_carriers(self) -> bool:
        """Whether the finding names the fabrics that carry the workload."""
        return isinstance(self.finding, FinishesMore | AloneCarries | NoneCarries)


def decide(workload: Workload) -> Decided | None:
    """By what a comparison is decided; None where fabrics have no figure to be judged by."""
    found = first_question(workload)
    match found:
        case FinishesMore():
            return by_jobs(found, workload)
        case AloneCarries() | NoneCarries():
            return by_carried_load(found, workload)
    measures = criteria(workload)
    if not measures:
        return without_times(workload)
    deciding = measures[0]
    ranking = deciding.ranking(workload.fabrics)
    short = too_short([s.fabric for s in ranking.leaders], workload.fabrics)
    if short is not None:
        return by_nothing(short, deciding, ranking.scores)
    if ranking.level != 1 and (of_all := by_every_flow(found, workload)) is not None:
        return of_all
    said = (by_how_much(deciding, ranking), in_each(deciding, ranking))
    return Decided(found, leading(deciding, ranking), said, deciding, ranking, by_figures=True)


def by_nothing(found: TooShort, measure: Criterion, scores: Sequence[Score]) -> Decided:
    """That the run is too short to decide, with the figures so far."""
    figures = quantities.listed(f"{s.fabric.label} {measure.shown(s)}" for s in scores)
    shown = f"So far, in {measure.name}: {figures}." if scores else ""
    unknown = Ranking((), 0, ())
    said = (explained(found), shown)
    return Decided(found, titled(found), said, measure, unknown, by_figures=False)


def without_times(workload: Workload) -> Decided | None:
    """The verdict where fewer than two fabrics have a figure to be judged by: the window or run is
    too short, or the bytes delivered decide, as of flows that last for all of the run."""
    fabrics, measure = workload.fabrics, next(iter(measures_of(workload)))
    short = too_short(fabrics, fabrics)
    if short is not None:
        return by_nothing(short, measure, measure.scores(fabrics))
    ranking = DELIVERED.ranking(carrying(fabrics))
    if len(ranking.scores) + len(ranking.unknown) < 2:
        return None
    said = (by_how_much(DELIVERED, ranking),)
    found = DoneSooner(tuple(s.fabric.label for s in ranking.scores))
    return Decided(found, leading(DELIVERED, ranking), said, DELIVERED, ranking, by_figures=True)


def by_jobs(found: FinishesMore, workload: Workload) -> Decided:
    """The fabrics that finish the most jobs; the sooner of them, if there are several."""
    chosen = tuple(f for f in workload.fabrics if f.label in found.leaders)
    rest = tuple(f for f in workload.fabrics if f not in chosen)
    if len(chosen) > 1 and chosen[0].jobs_done:
        measure = JOBS if found.complete else of_finished(chosen[0].jobs_done)
        ranking = measure.ranking(chosen)
        said = (by_how_much(measure, ranking), jobs_done(found))
        return Decided(found, leading(measure, ranking), said, measure, ranking, by_figures=True)
    scores = [Score.exact(f, float(len(f.jobs_done))) for f in (*chosen, *rest)]
    ranking = Ranking(tuple(scores), len(chosen)) if chosen else Ranking((), 0)
    return Decided(
        found, titled(found), (jobs_done(found),), FINISHED, ranking, by_figures=bool(chosen)
    )


def by_every_flow(found: Finding, workload: Workload) -> Decided | None:
    """The fabric that delivers each of the same flows sooner than every other fabric does; None if
    no fabric does. Of few flows chance may make all sooner on one of two equal fabrics; flows that
    begin at once are criteria of their own."""
    fabrics = carrying(workload.fabrics)
    ranking = EVERY.ranking(workload.fabrics)
    every = len(ranking.scores) >= max(len(fabrics), 2)
    if begins_at_once(workload) or not every or ranking.level != 1:
        return None
    best = ranking.leaders[0].fabric
    if any(s.fct.size < ENOUGH_PAIRS for s in best.each):
        return None
    if not all(is_sooner_in_each(best, s.fabric) for s in ranking.rest):
        return None
    said = (by_how_much(EVERY, ranking), in_each(EVERY, ranking))
    return Decided(found, leading(EVERY, ranking), said, EVERY, ranking, by_figures=True)


def by_carried_load(found: AloneCarries | NoneCarries, workload: Workload) -> Decided | None:
    """The one fabric that carries the workload, or none."""
    chosen, measure = carrying(workload.fabrics), next(iter(measures_of(workload)))
    if not measure.scores(chosen) and not workload.measured:
        measure = DELIVERED  # flows that last for all of the run have no times
    scores = measure.scores(chosen)
    ranking = Ranking(tuple(scores), len(scores))
    if ranking.untold:
        ranking = Ranking((), 0)
    known = next((s for s in scores if s.fabric.finished != 0.0), None)
    figure = "" if known is None else f"{known.fabric.label}: {measure.says(known)}."
    said = (figure, explained(found))
    return Decided(found, titled(found), said, measure, ranking, by_figures=False)


def joint(firsts: Sequence[tuple[str, First | None]], under: str = "") -> str | None:
    """The title over several comparisons, given their names and what they are together
    (`both workloads`): who is ahead in all of them, or in which."""
    known = [(name, f) for name, f in firsts if f is not None]
    if len(known) < len(firsts) or not known:
        return None
    if len(known) == 1:
        return known[0][1].title
    under = under or presets.all_workloads(len(known))
    leads = dict.fromkeys(f.lead for _, f in known)
    if len(leads) == 1:
        return f"{known[0][1].lead} under {under}"
    if len(leads) > NAMED:
        always, level = in_all(known, under)
        return f"{always}, level with others under {quantities.listed(level)}" if level else None
    places = {lead: quantities.listed(n for n, f in known if f.lead == lead) for lead in leads}
    return "; ".join(f"{lead} under {where}" for lead, where in places.items())


def in_all(firsts: Sequence[tuple[str, First]], under: str) -> tuple[str, list[str]]:
    """The fabrics that lead in all comparisons by the same measure, and in which others are
    level."""
    of_first = firsts[0][1]
    always = [x for x in of_first.leaders if all(x in f.leaders for _, f in firsts)]
    if not always or any(f.wins != of_first.wins for _, f in firsts):
        return "", []
    lead = f"{quantities.listed(always)} {of_first.wins[len(always) > 1]} under {under}"
    return lead, [name for name, f in firsts if len(f.leaders) > len(always)]


def leading(deciding: Criterion, ranking: Ranking) -> str:
    """Who is ahead by what decides."""
    if not ranking.level:
        return f"No fabric is known to be ahead in {deciding.name}"
    if ranking.untold:
        short = "The run is too short" if longer(ranking.leaders) else "Too few flows"
        return f"{short} to tell who is ahead in {deciding.name}"
    if ranking.level == 1 and not ranking.unknown:
        return f"{names(ranking.leaders)} {deciding.wins[0]}"
    if ranking.level == 1:
        return f"{names(ranking.leaders)} {deciding.wins[0]} of those that can be ranked"
    if ranking.rest or ranking.unknown:
        return f"{together(ranking.leaders)} {deciding.wins[1]} (level)"
    return f"{together(ranking.leaders)} are level in {deciding.name}"


def by_how_much(deciding: Criterion, ranking: Ranking) -> str:
    """The best figure, and by which factor each of the others is behind."""
    if not ranking.level:
        each = [f"{s.fabric.label} {deciding.shown(s)}" for s in ranking.unfinished]
        return f"Too few flows arrived: {quantities.listed(each)}." if each else ""
    best = ranking.leaders[0]
    value = deciding.says(best)
    if ranking.level == 1:
        lead = f"{best.fabric.label}: {value}"
    else:
        shown = [deciding.shown(s) for s in ranking.leaders]
        each = [f"{s.fabric.label} {t}" for s, t in zip(ranking.leaders, shown, strict=True)]
        how = too_few(deciding, ranking) if ranking.untold else f"Level in {deciding.name}"
        lead = f"{how}: {quantities.listed(each)}"
    return f"{lead}{behind_by(deciding, best, ranking.rest)}."


def in_each(deciding: Criterion, ranking: Ranking) -> str:
    """That the leader is ahead in each flow, where fabrics are judged so."""
    if deciding not in (LAST, EVERY) or ranking.level != 1:
        return ""
    return each_flow.said(ranking.leaders[0].fabric, [s.fabric for s in ranking.rest])


def too_few(deciding: Criterion, ranking: Ranking) -> str:
    """What is known instead of who is ahead: of how many flows the figures are."""
    short = deciding is SHORT
    flows = min(s.fabric.short_count if short else int(s.fabric.fct.size) for s in ranking.leaders)
    counted = quantities.counted(flows, "short flow" if short else "flow")
    # As many flows as one likes, if they arrive in less time than queues need to forget.
    why = "too few" if longer(ranking.leaders) is None else "in too short a time"
    return f"{counted}, {why} for intervals"


def behind_by(deciding: Criterion, best: Score, behind: Sequence[Score]) -> str:
    """How much better the best is than the others, of many than the nearest and the last."""
    if not behind:
        return ""
    if len(behind) > NAMED:
        (near, least), (far, most) = (
            (s.fabric.label, factor(deciding, best, s, end))
            for s, end in ((behind[0], nearest), (behind[-1], farthest))
        )
        return f"; from {least} than {near} to {most} than {far}"
    each = [f"{factor(deciding, best, s)} than {s.fabric.label}" for s in behind]
    shown = (as_held_back(deciding, s) for s in behind)
    return "; " + quantities.listed(
        f"{text} ({value})" for text, value in zip(each, shown, strict=True)
    )


def as_held_back(deciding: Criterion, found: Score) -> str:
    """A figure, and which setting of the fabric it is owed to."""
    why = found.fabric.held_back.partition(" (")[0]
    return f"{deciding.shown(found)}, held back by {why}" if why else deciding.shown(found)


def factor(
    measure: Criterion,
    best: Score,
    other: Score,
    part: Callable[[Factor], Factor] = lambda found: found,
) -> str:
    """By how much one is better than another: `1.7× faster`, `2 to 6 % less`;
    of what intervals allow one `part`."""
    lower = measure.better == "lower"
    word = "faster" if measure.quantity == "time" else "less" if lower else "more"
    larger, smaller = (other, best) if lower else (best, other)
    found = between(larger, smaller)
    if found is None:
        return f"infinitely {word}" if larger.value > 0 else "as much"
    found = part(found)
    if found.low <= 0.0:
        # Ahead in each seed, but the interval over the seeds leaves the factor open.
        return word
    return f"{factor_text(found, percent_less if lower else percent_more)[0]} {word}"


Ahead = tuple[Criterion, Ranking]


def elsewhere(ranking: Ranking, further: Sequence[Criterion], workload: Workload) -> list[Ahead]:
    """Measures by which one fabric is notably better than those that lead by the first, or than the
    others of those that are level by it."""
    leaders = {s.fabric.label for s in ranking.leaders}
    made = []
    for measure in further:
        found = measure.ranking(workload.fabrics)
        against = next((s for s in found.rest if s.fabric.label in leaders), None)
        if (
            found.level != 1
            or found.unplaced
            or against is None
            or (ranking.level == 1 and found.leaders[0].fabric.label in leaders)
            or (measure.quantity == "time" and found.leaders[0].fabric.is_doubtful)
        ):
            continue
        low, high = sorted((found.best, against.value))
        if high >= NOTABLE * low:
            made.append((measure, found))
    return made[:OTHERS]


def trade(measure: Criterion, found: Ranking, ranking: Ranking) -> str:
    """What another fabric is better at than the first, and by how much."""
    leaders = {s.fabric.label for s in ranking.leaders}
    best = found.leaders[0]
    against = next(s for s in found.rest if s.fabric.label in leaders)
    value = measure.says(best)
    by = f"{factor(measure, best, against)} than {against.fabric.label}"
    return f"{best.fabric.label} {measure.wins[0]}: {value}, {by}."


def by_load(deciding: Criterion, ranking: Ranking, workload: Workload) -> tuple[str, ...]:
    """At which loads of a sweep another is ahead, or that none is."""
    at = deciding.at_loads(workload.fabrics)
    if not at or not ranking.level:
        return ()
    turned = {x: r for x, r in at.items() if r.level and not shares_lead(r, ranking)}
    unknown = [x for x, r in at.items() if not r.level]
    said, mixed = [], loads.varied(workload.experiment) is not None
    if turned:
        each = [f"at {percent(x)} {lead_there(deciding, r)}" for x, r in turned.items()]
        said.append(f"Another load: {'; '.join(each)}.")
    kept = [x for x in at if x not in turned and x not in unknown]
    if kept and (turned or len(at) > 1):
        at_kept = quantities.listed(percent(x) for x in kept)
        if not turned:
            called = f"load {loads.of_what(workload.experiment)}" if mixed else "load"
            said.append(f"Not the {called}: no other fabric is ahead at {at_kept}.")
    if unknown:
        at_unknown = quantities.listed(percent(x) for x in unknown)
        said.append(f"At load {at_unknown} the run does not tell.")
    return tuple(said)


def percent(load: float) -> str:
    """A load as the sweep asks for it."""
    return tick_label(load, "share")


def shares_lead(other: Ranking, ranking: Ranking) -> bool:
    """Whether all who lead in one lead, or are level with the lead, in the other."""
    there = {s.fabric.label for s in (*other.leaders, *other.unknown)}
    return {s.fabric.label for s in ranking.leaders} & there != set()


def lead_there(deciding: Criterion, found: Ranking) -> str:
    """Who leads, and with what."""
    value = deciding.shown(found.leaders[0])
    return f"{names(found.leaders)} {deciding.wins[found.level > 1]} ({value})"


def by_workload(
    deciding: Criterion, ranking: Ranking, workload: Workload, others: Sequence[Workload]
) -> tuple[str, ...]:
    """Under which other workloads of the report another is ahead, or other physics."""
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
    """The same of some others by what they are called."""
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
    """By which other measures another is ahead."""
    if not ahead:
        return ()
    measures: dict[str, list[str]] = {}
    for measure, found in ahead:
        measures.setdefault(names(found.leaders), []).append(measure.name)
    each = [f"{who} if {' or '.join(by)} decides" for who, by in measures.items()]
    return (f"Another measure: {quantities.listed(each)}.",)


def by_what_is_missing(deciding: Criterion, ranking: Ranking) -> tuple[str, ...]:
    """Fabrics that may be ahead or not, for what did not arrive."""
    if not ranking.unfinished:
        return ()
    each = [f"{s.fabric.label} ({deciding.shown(s)})" for s in ranking.unfinished]
    limited = any(
        (cut := s.fabric.cut) is not None and cut["still_since_s"] is None
        for s in ranking.unfinished
    )
    windowed = all(s.fabric.window is not None for s in ranking.unfinished)
    remedy = "a longer run.measure" if windowed else 'run.stop = "drain"'
    remedy = "a higher run.limit" if limited else remedy
    return (f"What did not arrive: {quantities.listed(each)} may be ahead; {remedy} would tell.",)


def by_settings(workload: Workload) -> tuple[str, ...]:
    """Which fabrics a setting of their own holds back."""
    each = [f"{f.label} has {f.held_back}" for f in workload.fabrics if f.held_back]
    held = "it is held back by that" if len(each) == 1 else "they are held back by those"
    return (f"Another setting: {quantities.listed(each)}; {held}.",) if each else ()


def by_dark_circuits(workload: Workload) -> tuple[str, ...]:
    """Which fabrics have circuits and sent nothing over them."""
    dark = [f.label for f in workload.fabrics if f.summary.get("circuit_share") == 0]
    if not dark:
        return ()
    are = "is its electrical network" if len(dark) == 1 else "are their electrical networks"
    return (
        f"Circuits: {quantities.listed(dark)} sent nothing over circuits, so what is judged {are} "
        "alone; a longer run, or a shorter fabric.interval, would tell.",
    )


def by_length(workload: Workload) -> tuple[str, ...]:
    """Of which fabrics flows did not arrive for long enough to come to a steady state."""
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
    time of its queues: a tail that takes long then is no sign of a network that is filling."""
    runs = [s.summary for s in fabric.each]
    return fabric.carriage == "carried" and all(
        run.get("window") is not None
        and run.get("relaxation_s") is not None
        and not steady_state.is_short_for_intervals(run)
        for run in runs
    )


def by_chance(ranking: Ranking, workload: Workload) -> tuple[str, ...]:
    """What other draws of the same traffic may change."""
    seeds = min((len(f.seeds) for f in workload.fabrics), default=0)
    trace = repeats.same_flows(workload.experiment)
    said = []
    if ranking.unplaced:
        may = "may be ahead, level or behind"
        said.append(f"More flows or seeds: {names(ranking.unplaced)} {may}.")
    at_once = is_by_each_flow(workload)
    if at_once:
        said.append(
            "Another seed: this is one draw, and flows that all begin at once are no sample of "
            "others; run.repeat gives intervals over draws."
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
            "Another trace: all seeds play this one, so intervals over seeds show the fabrics' "
            "own draws alone."
            if seeds > 1
            else "Another trace: these are the flows of one."
        )
    elif seeds < 2 and not repeats.drawn_traffic(workload.experiment):
        if any(f.kind != "tree" for f in workload.fabrics):
            said.append(
                "Another seed: it leaves the traffic as it is, and changes only what fabrics draw, "
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
    """What gives the leaders' figures intervals."""
    needed = longer(ranking.leaders)
    if needed is None:
        return "More flows or seeds: these flows are too few for 95 % intervals."
    return f"A longer run or more seeds: 95 % intervals need {needed}, or run.repeat."


def all_first(workloads: Sequence[Workload]) -> Mapping[str, First | None]:
    """The verdict of each comparison of a report, by name."""
    return {w.name: first(w, [other for other in workloads if other is not w]) for w in workloads}
