"""The measure that decides a comparison: jobs, the load carried, or the first measure that it
has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..fair import carrying
from ..findings.headline import first_question, too_short
from ..findings.kinds import AloneCarries, DoneSooner, Finding, FinishesMore, NoneCarries, TooShort
from ..findings.sentences import Told
from ..model import Workload
from ..ranking import Ranking, Score
from ..statement import Statement
from .criteria import (
    DELIVERED,
    EVERY,
    FINISHED,
    JOBS,
    Criterion,
    Measured,
    criteria,
    of_finished,
)
from .criteria import measures as measures_of
from .each_flow import are_enough, begins_at_once, is_sooner_in_each
from .margins import by_how_much, figures_of, in_each, leading


@dataclass(frozen=True)
class Decided:
    """The measure that decides a comparison, with its finding and the statements about it."""

    finding: Finding
    lead: Statement
    said: tuple[Statement, ...]
    measure: Criterion
    ranking: Ranking
    by_figures: bool  # whether the figures of the measure rank the fabrics

    @property
    def names_carriers(self) -> bool:
        """Whether the finding names the fabrics that carry the workload."""
        return isinstance(self.finding, FinishesMore | AloneCarries | NoneCarries)


def titled(found: FinishesMore | AloneCarries | NoneCarries | TooShort) -> Statement:
    """A finding as a headline."""
    return Statement("title", finding=Told(found))


def explained(found: AloneCarries | NoneCarries | TooShort) -> Statement:
    """Why only one fabric carries the load, none does, or the run does not show it."""
    return Statement("explained", finding=Told(found))


def jobs_done(found: FinishesMore) -> Statement:
    """The number of jobs that each fabric finished."""
    return Statement("jobs done", finding=Told(found))


def decide(workload: Workload) -> Decided | None:
    """The measure that decides a comparison; None if fabrics have no common figure."""
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
    if ranking.level != 1 and (of_all := by_every_flow(found, workload)) is not None:
        return of_all
    judged = [s.fabric for s in ranking.leaders or ranking.unknown]
    if ranking.untold:  # no fabric leads, so a lagging one cannot be named
        judged = [f for f in judged if not f.lags]
    short = too_short(judged, workload.fabrics)
    if short is not None:
        return by_nothing(short, deciding, ranking.scores or ranking.unknown)
    said = (*by_how_much(deciding, ranking), *in_each(deciding, ranking))
    return Decided(found, leading(deciding, ranking), said, deciding, ranking, by_figures=True)


def by_nothing(found: TooShort, measure: Criterion, scores: Sequence[Score]) -> Decided:
    """The verdict that the run is too short to decide, with the figures so far."""
    figures = figures_of(measure, scores)
    shown = (Statement("figures so far", measure=measure.name, figures=figures),) if scores else ()
    unknown = Ranking((), 0, ())
    said = (explained(found), *shown)
    return Decided(found, titled(found), said, measure, unknown, by_figures=False)


def without_times(workload: Workload) -> Decided | None:
    """The verdict if fewer than two fabrics have a figure to compare: the window or run is too
    short, or delivered bytes decide, as for flows that last for the whole run."""
    fabrics, measure = workload.fabrics, next(iter(measures_of(workload)))
    short = too_short(fabrics, fabrics)
    if short is not None:
        return by_nothing(short, measure, measure.scores(fabrics))
    ranking = DELIVERED.ranking(carrying(fabrics))
    if len(ranking.scores) + len(ranking.unknown) < 2:
        return None
    said = by_how_much(DELIVERED, ranking)
    found = DoneSooner(tuple(s.fabric.label for s in ranking.scores))
    return Decided(found, leading(DELIVERED, ranking), said, DELIVERED, ranking, by_figures=True)


def by_jobs(found: FinishesMore, workload: Workload) -> Decided:
    """The fabrics that finish the most jobs; of several, the one that finishes them sooner."""
    chosen = tuple(f for f in workload.fabrics if f.label in found.leaders)
    rest = tuple(f for f in workload.fabrics if f not in chosen)
    if len(chosen) > 1 and chosen[0].jobs_done:
        measure = JOBS if found.complete else of_finished(chosen[0].jobs_done)
        ranking = measure.ranking(chosen)
        said = (*by_how_much(measure, ranking), jobs_done(found))
        return Decided(found, leading(measure, ranking), said, measure, ranking, by_figures=True)
    scores = [Score.exact(f, float(len(f.jobs_done))) for f in (*chosen, *rest)]
    ranking = Ranking(tuple(scores), len(chosen)) if chosen else Ranking((), 0)
    return Decided(
        found, titled(found), (jobs_done(found),), FINISHED, ranking, by_figures=bool(chosen)
    )


def by_every_flow(found: Finding, workload: Workload) -> Decided | None:
    """The fabric that delivers each of the same flows sooner than every other fabric; None if there
    is none. With few flows, all may be sooner on one of two equal fabrics by chance; flows that
    begin at once have their own criteria."""
    fabrics = carrying(workload.fabrics)
    ranking = EVERY.ranking(workload.fabrics)
    every = len(ranking.scores) >= max(len(fabrics), 2)
    if begins_at_once(workload) or not every or ranking.level != 1:
        return None
    best = ranking.leaders[0].fabric
    if best.is_doubtful:
        return None
    if not are_enough(workload, [s.fabric for s in ranking.scores]):
        return None
    if not all(is_sooner_in_each(best, s.fabric) for s in ranking.rest):
        return None
    said = (*by_how_much(EVERY, ranking), *in_each(EVERY, ranking))
    return Decided(found, leading(EVERY, ranking), said, EVERY, ranking, by_figures=True)


def by_carried_load(found: AloneCarries | NoneCarries, workload: Workload) -> Decided | None:
    """The verdict that only one fabric carries the workload, or none."""
    chosen, measure = carrying(workload.fabrics), next(iter(measures_of(workload)))
    if not measure.scores(chosen) and not workload.measured:
        measure = DELIVERED  # flows that last for the whole run have no times
    scores = measure.scores(chosen)
    ranking = Ranking(tuple(scores), len(scores))
    if ranking.untold:
        ranking = Ranking((), 0)
    known = next((s for s in scores if s.fabric.finished != 0.0), None)
    said: tuple[Statement, ...] = (explained(found),)
    if known is not None:
        figure, label = Measured(measure, known), known.fabric.label
        said = (Statement("best figure", label=label, figure=figure, behind=()), *said)
    return Decided(found, titled(found), said, measure, ranking, by_figures=False)
