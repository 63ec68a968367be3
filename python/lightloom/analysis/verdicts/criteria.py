"""The measures that compare fabrics, in order, with their wording.

The first measure that the fabrics have decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lightloom.units import quantities

from ..fair import carrying, not_carrying_at
from ..model import Fabric, LoadPoint, Workload, span_of_jobs, window_limits
from ..ranking import Better, Figure, Ranking, Score, of_seeds, plain, rank, score
from . import load
from .each_flow import begins_at_once, last_flow, mean_time, soonest_in_each
from .jobs import all_jobs
from .latency import short_score

JOBS_EACH = 8  # above this number of jobs, only their total is compared
AtLoad = Callable[[Fabric, LoadPoint], Score | None]


@dataclass(frozen=True)
class Criterion:
    """A measure of fabrics."""

    name: str  # of the measure
    quantity: quantities.Quantity
    better: Better
    read: Callable[[Fabric], Score | None]
    wins: tuple[str, str]  # the verb phrase for one leader, and for several
    amount: str  # the phrase for its figure; {} is the figure
    at: AtLoad | None = None  # the same figure at a load of a sweep
    of_carried: bool = False  # whether it is valid only for fabrics that carry the load
    more: str = ""  # the phrase for a bound; {} is the bound
    alike: Callable[[Fabric], object] | None = None  # must be equal to compare figures
    tells: Callable[[Sequence[Fabric]], bool] | None = None  # whether one of these fabrics may lead

    def ranking(self, fabrics: tuple[Fabric, ...]) -> Ranking:
        """The fabrics that have the figure, best first; all unranked if it does not decide."""
        scores = self.scores(fabrics)
        found = rank(scores, self.better)
        if self.tells is None or self.tells([s.fabric for s in scores]):
            return found
        return Ranking((), 0, (*found.scores, *found.unknown))

    def scores(self, fabrics: tuple[Fabric, ...]) -> list[Score]:
        """The figures of the fabrics that this measure judges; none if the figures are not
        comparable."""
        judged = carrying(fabrics) if self.of_carried else fabrics
        found = [s for f in judged if (s := self.read(f)) is not None]
        return found if self.are_alike([s.fabric for s in found]) else []

    def are_alike(self, fabrics: Sequence[Fabric]) -> bool:
        """Whether the figures of these fabrics mean the same."""
        return self.alike is None or len({self.alike(f) for f in fabrics}) < 2

    def at_loads(self, fabrics: tuple[Fabric, ...]) -> Mapping[float, Ranking]:
        """The ranking at each load of a sweep."""
        if self.at is None:
            return {}
        made: dict[float, list[Score]] = {}
        late = {p.load: not_carrying_at(fabrics, p.load) for f in fabrics for p in f.sweep}
        for fabric in fabrics:
            for point in fabric.sweep:
                found = self.at(fabric, point)
                if found is not None and not (self.of_carried and fabric.label in late[point.load]):
                    made.setdefault(point.load, []).append(found)
        return {x: _told(rank(made[x], self.better), x) for x in sorted(made)}

    def shown(self, found: Score) -> str:
        """A figure in its unit."""
        return found.with_interval(self.quantity)

    def figure(self, found: Score) -> Figure:
        """A figure, as a value of a statement."""
        return Figure(found, self.quantity)

    def says(self, found: Score) -> str:
        """The sentence part for a figure, or for a bound."""
        shown = self.shown(found)
        if self.more and shown.startswith(">"):
            return self.more.format(shown.removeprefix(">").strip())
        return self.amount.format(shown)


@dataclass(frozen=True)
class Measured:
    """A figure of a measure, as a value of a statement: `99 % of its short flows finish within
    3.08 µs`."""

    measure: Criterion
    score: Score

    def __format__(self, _: str) -> str:
        return self.measure.says(self.score)


def _told(ranking: Ranking, load: float) -> Ranking:
    """A ranking at a load; without a leader if the window or run is too short to show whether one
    carries the load."""
    points = [p for s in ranking.leaders for p in s.fabric.sweep if p.load == load]
    if any(p.is_doubtful for p in points):
        return Ranking((), 0, (*ranking.scores, *ranking.unknown))
    return ranking


def criteria(workload: Workload) -> list[Criterion]:
    """The measures that at least two fabrics of a comparison have, in the order in which they
    decide. A figure that only one fabric has decides before them, as a finding."""
    return [c for c in measures(workload) if len(c.scores(workload.fabrics)) > 1]


def measures(workload: Workload) -> list[Criterion]:
    """All measures of such a workload, in their order, including those with fewer than two
    fabrics."""
    found = _of_samples(workload)
    return [LAST, *found] if first_in_each(workload) else found


def is_by_each_flow(workload: Workload) -> bool:
    """Whether fabrics are compared flow by flow: all flows begin at once, and are too few for an
    interval of the percentile that would decide."""
    if not begins_at_once(workload):
        return False
    having = (c for c in _of_samples(workload) if len(c.scores(workload.fabrics)) > 1)
    first = next(having, None)
    return first is not None and first.ranking(workload.fabrics).untold


def first_in_each(workload: Workload) -> tuple[Fabric, ...]:
    """The fabrics that deliver each flow sooner than all others, if fabrics are compared flow by
    flow."""
    if not is_by_each_flow(workload):
        return ()
    return soonest_in_each(carrying(workload.fabrics))


def _of_samples(workload: Workload) -> list[Criterion]:
    """The measures of flows that are a sample of the traffic."""
    fabrics = workload.fabrics
    if any(f.jobs for f in fabrics):
        first = [JOBS, *each_job(workload), DELIVERED]
    elif workload.measured:
        mixed = any(f.short_count for f in fabrics)
        first = [SHORT, LATENCY, SATURATION] if mixed else [LATENCY, SATURATION]
    else:
        short = any(f.short_fct.size for f in fabrics)
        first = [*([SHORT] if short else []), LONG, CARRIED]
    return [*first, QUEUE]


def each_job(workload: Workload) -> list[Criterion]:
    """One measure per job, if there are several but not many."""
    names = list(dict.fromkeys(name for f in workload.fabrics for name in f.jobs))
    return [of_job(name) for name in names] if 1 < len(names) <= JOBS_EACH else []


def of_finished(names: frozenset[str]) -> Criterion:
    """The measure of the total duration of some jobs, for fabrics that finished exactly these."""
    return replace(
        JOBS,
        name="the time until the finished jobs are done",
        read=lambda f: plain(f, lambda g: span_of_jobs(g.summary, names)),
        wins=("is done with the finished jobs soonest", "are done with the finished jobs soonest"),
        amount="the last of its finished jobs is done after {}",
    )


def of_job(name: str) -> Criterion:
    """The measure of the duration of one job."""
    return Criterion(
        name,
        "time",
        "lower",
        lambda f: plain(f, lambda g: g.jobs.get(name)),
        (f"finishes {name} soonest", f"finish {name} soonest"),
        "it takes {}",
    )


def latency(fabric: Fabric) -> Score | None:
    """Mean latency in the window, if the window shows that its load was carried."""
    if not fabric.carries_window:
        return None
    half = fabric.latency_error
    found = window_limits(fabric.window, "mean_us")
    return load.around(fabric, found, math.inf if half is None else half)


def latency_at(fabric: Fabric, point: LoadPoint) -> Score | None:
    """Mean latency at a load of the sweep, if its window shows that the load was carried."""
    if not point.stable:
        return None
    half = point.latency_error
    return load.around(fabric, point.latency_limits, math.inf if half is None else half)


def around(fabric: Fabric, value: float, half: float | None) -> Score:
    """A figure with the half-width of its interval; without a limit if there are too few flows."""
    half = math.inf if half is None else half
    return Score(fabric, value, value - half, value + half)


def saturation(fabric: Fabric) -> Score | None:
    """The saturation throughput of a fabric; None if the windows of the search were too short."""
    found = fabric.saturation
    if found is None or not found.is_told:
        return None
    return Score(fabric, found.throughput, found.low, found.high)


def short_at(fabric: Fabric, point: LoadPoint) -> Score | None:
    """The 99th percentile of short flows at a load of the sweep."""
    found = point.p99
    if found is None:
        return None
    return of_seeds(fabric, found, [p.p99 for p in point.seeds])


def carried_at(fabric: Fabric, point: LoadPoint) -> Score | None:
    """The load delivered at a load of the sweep."""
    over = point.over_seeds(lambda p: p.carried)
    if over is None:
        return None
    return Score(fabric, over.mean, over.low, over.high)


JOBS = Criterion(
    "the time until all jobs are done",
    "time",
    "lower",
    lambda f: plain(f, all_jobs),
    ("finishes the jobs soonest", "finish the jobs soonest"),
    "its last job is done after {}",
)
FINISHED = Criterion(
    "the number of finished jobs",
    "number",
    "higher",
    lambda f: Score.exact(f, float(len(f.jobs_done))),
    ("finishes the most jobs", "finish the most jobs"),
    "it finishes {} jobs",
)
DELIVERED = Criterion(
    "the bytes delivered by the end of the run",
    "bytes",
    "higher",
    lambda f: plain(f, lambda g: g.get("bytes_delivered")),
    ("delivers the most by the end of the run", "deliver the most by the end of the run"),
    "it delivers {} by the end of the run",
)
LATENCY = Criterion(
    "mean latency",
    "time",
    "lower",
    latency,
    ("has the lowest latency", "have the lowest latency"),
    "its flows take {} on average",
    latency_at,
    more="its flows take more than {} on average",
)
SATURATION = Criterion(
    "the load at which it saturates",
    "share",
    "higher",
    saturation,
    ("carries the most before it saturates", "carry the most before they saturate"),
    "{} of the servers' capacity",
)
SHORT = Criterion(
    "the 99th percentile of short flows",
    "time",
    "lower",
    short_score,
    ("completes short flows soonest", "complete short flows soonest"),
    "99 % of its short flows finish within {}",
    short_at,
    of_carried=True,
    more="1 % of its short flows take more than {}",
)
LONG = Criterion(
    "the 99th percentile of long flows",
    "time",
    "lower",
    lambda f: score(f, lambda g: g.limits("fct.long.p99_us")),
    ("completes long flows soonest", "complete long flows soonest"),
    "99 % of its long flows finish within {}",
    of_carried=True,
    more="1 % of its long flows take more than {}",
)
LAST = Criterion(
    "the time until the last flow is done",
    "time",
    "lower",
    lambda f: None if last_flow(f) is None else Score.exact(f, last_flow(f) or 0.0),
    ("is done with all flows soonest", "are done with all flows soonest"),
    "its last flow is done after {}",
    of_carried=True,
    tells=lambda fabrics: bool(soonest_in_each(fabrics)),
)
EVERY = Criterion(
    "the time of every flow",
    "time",
    "lower",
    lambda f: None if (t := mean_time(f)) is None else Score.exact(f, t),
    ("completes every flow soonest", "complete every flow soonest"),
    "its flows take {} on average",
    of_carried=True,
)
CARRIED = Criterion(
    "the load delivered",
    "share",
    "higher",
    lambda f: plain(f, lambda g: g.get("load_delivered")),
    ("delivers the most while flows arrive", "deliver the most while flows arrive"),
    "{} of the servers' capacity",
    carried_at,
)
QUEUE = Criterion(
    "the queue at the worst node",
    "bytes",
    "lower",
    # Short queues that follow from a setting do not count for the fabric.
    lambda f: None if f.keeps_queue_short else plain(f, lambda g: g.get("queue_peak_bytes")),
    ("queues least", "queue least"),
    "at most {} at its worst node",
    of_carried=True,
    alike=lambda f: f.summary.get("queue_place"),
)
