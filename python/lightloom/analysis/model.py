"""The data of the report: columns in base units, figures or None. `reading` fills it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lightloom.analysis import cuts
from lightloom.analysis.unfinished import CENSORED
from lightloom.config import loads
from lightloom.results.columns import numbers
from lightloom.results.tables import mean_over_time
from lightloom.units.bounds import Bound, bound
from lightloom.units.intervals import Interval, over_runs

from .nights import Days, Floats, days_of

if TYPE_CHECKING:
    from lightloom.results.saturation import Saturation

SHORT_BYTES = 100_000  # flows below this are short, as in summary.json
PS = 1e-12

Integers = NDArray[np.int64]

SILENCE = 10
"""A silence of more than this multiple of the mean interval between arrivals is not part of a
load."""
Carriage = Literal["carried", "short", "unsettled"]
"""Whether the load is carried; `unsettled` if the window, or the run without one, is too short to
show it."""


def figure(summary: Mapping[str, Any], path: str) -> float | None:
    """The number at a dotted path; None if it is absent, null or not finite."""
    value: Any = summary
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def microseconds(summary: Mapping[str, Any], path: str) -> float | None:
    """A figure that the summary holds in µs, converted to seconds."""
    value = figure(summary, path)
    return None if value is None else value * 1e-6


def limits(summary: Mapping[str, Any], path: str) -> Bound | None:
    """The bounds of a figure of flows. A time, which the summary has in µs, is converted to
    seconds."""
    found = bound(summary, path)
    return found.scaled(1e-6) if found is not None and path.endswith("_us") else found


def window_limits(window: Mapping[str, Any] | None, name: str) -> Bound | None:
    """The bounds of a latency of a window [s]; None without a window."""
    return limits({"window": window}, f"window.{name}")


def short_p99(summary: Mapping[str, Any]) -> str:
    """The path of the 99th percentile of short flows; that of the window if there is one."""
    return "fct.short.p99_us" if summary.get("window") is None else "window.short.p99_us"


def ratio(above: float | None, below: float | None) -> float | None:
    """The ratio of two values; None if one is unknown or the divisor is zero."""
    return above / below if above is not None and below else None


def column(table: pa.Table, name: str) -> Floats:
    """A column as floats, nulls as NaN; empty if the table has none of that name."""
    if name not in table.column_names:
        return np.empty(0)
    return np.asarray(numbers(table.column(name)), dtype=np.float64)


def finished(fct: Floats) -> float | None:
    """Share of these flows that finished; None without flows."""
    return ratio(float(np.isfinite(fct).sum()), float(fct.size))


def is_doubtful(
    carriage: Carriage | None,
    window: Mapping[str, Any] | None,
    finished: float | None,
    *,
    lags: bool = False,
) -> bool:
    """Whether a fabric must not lead, because it may not carry the load.

    Without a window, its times are valid if nearly all flows `finished`, even if it does not carry
    the load; except if it `lags` (`Fabric.lags`), because the times may then grow with the length
    of the run.
    """
    if window is None and lags:
        return True
    if carriage != "unsettled":
        return False
    return window is not None or (finished or 0.0) < CENSORED


def mean_of(found: Interval | None) -> float | None:
    """The mean of an interval; None without an interval."""
    return None if found is None else found.mean


@dataclass(frozen=True)
class LoadPoint:
    """One fabric at one load of the sweep."""

    load: float  # asked for
    drawn: float | None
    p99: Bound | None  # of short flows' completion times [s]
    carried: float | None  # load delivered
    delivered: float | None  # of the bytes offered
    finished: float | None
    window: Mapping[str, Any] | None = None  # as in summary.json
    seeds: tuple[LoadPoint, ...] = ()  # the same for each seed, if there are several
    goodput: float | None = None  # from `loads.sustained`; determines its cost
    carriage: Carriage | None = None  # result of its window or run, compared with other fabrics
    overloaded: bool = False  # whether a part of the traffic is overloaded in every seed
    offered_bytes: float | None = None
    flows: float | None = None  # offered
    cut: Mapping[str, Any] | None = None  # what a limit excluded, as in summary.json; one seed
    lags: bool = False  # delivered notably less of the load than a fabric that carries it

    def over_seeds(self, read: Callable[[LoadPoint], float | None]) -> Interval | None:
        """The mean of a figure over the seeds, with its 95 % interval."""
        return over_runs(read(seed) for seed in self.seeds or (self,))

    @property
    def through(self) -> float | None:
        """Load delivered while flows arrived ÷ load drawn."""
        return ratio(self.carried, self.drawn)

    @property
    def is_doubtful(self) -> bool:
        """Whether the fabric must not lead at this load; see `is_doubtful`."""
        return is_doubtful(self.carriage, self.window, self.finished, lags=self.lags)

    @property
    def latency_limits(self) -> Bound | None:
        """The bounds of the mean latency in the window [s]."""
        return window_limits(self.window, "mean_us")

    @property
    def latency(self) -> float | None:
        """Mean latency in the window, or its lower bound [s]."""
        found = self.latency_limits
        return None if found is None else found.low

    @property
    def latency_known(self) -> bool:
        """Whether the mean latency is exact: the load was carried, and all flows of the window
        finished."""
        found = self.latency_limits
        return self.stable and found is not None and found.exact

    @property
    def latency_error(self) -> float | None:
        """Half the width of the confidence interval of the mean latency [s]; over the seeds, if
        there are several."""
        if self.seeds:
            found = self.over_seeds(lambda p: p.latency)
            return None if found is None else found.half_width
        return microseconds(self.window or {}, "half_width_us")

    @property
    def accepted(self) -> float | None:
        """Accepted load in the window, of the servers' capacity."""
        return figure(self.window or {}, "accepted")

    @property
    def stable(self) -> bool:
        """Whether the window shows that the load was carried."""
        if self.carriage is not None:
            return self.carriage != "short"
        return self.window is None or bool(self.window.get("stable"))


@dataclass(frozen=True)
class Circuits:
    """Lit circuits in columns: the two racks, and the beginning and end of the lit time [s]."""

    a: Integers
    b: Integers
    directed: NDArray[np.bool_]  # from a to b alone
    start: Floats
    end: Floats

    @cached_property
    def settings(self) -> int:
        """Number of times at which circuits were lit."""
        return int(np.unique(self.start).size)

    @cached_property
    def days(self) -> Days:
        """The times in which at least one circuit was lit."""
        return days_of(self.start, self.end)


@dataclass(frozen=True)
class Fabric:
    """One fabric of a comparison."""

    label: str
    slot: int
    settings: Mapping[str, Any]
    summary: Mapping[str, Any]
    sizes: Floats  # of every flow that arrived [B]
    fct: Floats  # of the same flows [s]; NaN if unfinished
    timeseries: pa.Table
    sweep: tuple[LoadPoint, ...]
    circuits: Circuits | None = None
    saturation: Saturation | None = None
    age: Floats | None = None  # of the same flows, their age when the run ended [s]
    seeds: tuple[Fabric, ...] = ()  # the fabric with each seed, if there are several
    same_flows: bool = False  # whether all seeds have the same flows
    held_back: str = ""  # the setting that limits its load, and its remedy
    carriage: Carriage | None = None  # result of its window, or of its run with a load
    lags: bool = False  # without a window: delivered notably less of the load than another fabric
    # and its late flows take longer than its early ones
    waiting: int = 0  # flows of jobs that were never offered, as they waited for others
    stopped: bool = False  # whether run.stop ended the run before all flows had arrived
    draws: bool = True  # whether its results depend on the seed, by the fabric's own statement

    def over_seeds(self, read: Callable[[Fabric], float | None]) -> Interval | None:
        """The mean of a figure over the seeds, with its 95 % interval; None if no seed has it. For
        a fabric that is not repeated, the figure without an interval."""
        return over_runs(read(seed) for seed in self.each)

    @property
    def window(self) -> Mapping[str, Any] | None:
        """Latency and throughput of the window; None without a window."""
        found = self.summary.get("window")
        return found if isinstance(found, Mapping) else None

    @property
    def latency_error(self) -> float | None:
        """Half the width of the interval of the mean latency in the window [s]: over the seeds, or
        within a single run."""
        if not self.seeds:
            return microseconds(self.window or {}, "half_width_us")

        def least(fabric: Fabric) -> float | None:
            found = window_limits(fabric.window, "mean_us")
            return None if found is None else found.low

        over = self.over_seeds(least)
        return None if over is None else over.half_width

    @property
    def keeps_queue_short(self) -> bool:
        """Whether the setting that limits the fabric's load also keeps its queues short."""
        return self.held_back.startswith("fabric.queue =")

    @property
    def kind(self) -> str:
        """The kind of fabric, such as `sirius`."""
        return str(self.settings.get("kind", self.summary.get("fabric", "")))

    def get(self, path: str) -> float | None:
        """A figure of the summary; None if it is unknown."""
        return figure(self.summary, path)

    def us(self, path: str) -> float | None:
        """A time that the summary holds in µs [s]."""
        return microseconds(self.summary, path)

    @cached_property
    def least(self) -> Floats:
        """Completion time of each flow, or its age at the end of the run if it is unfinished
        [s]."""
        if self.age is None:
            return self.fct
        return np.where(np.isfinite(self.fct), self.fct, self.age)

    def limits(self, path: str) -> Bound | None:
        """The bounds of a figure of flows; times in seconds."""
        return limits(self.summary, path)

    @property
    def through(self) -> float | None:
        """Load delivered ÷ load drawn; with a window, 1 if the load was carried and 0 if not."""
        if self.window is not None:
            return float(self.carries_window)
        return ratio(self.get("load_delivered"), self.get("load_offered"))

    @property
    def carries_window(self) -> bool:
        """Whether the window shows that its load was carried."""
        if self.carriage is not None:
            return self.carriage != "short"
        return bool((self.window or {}).get("stable"))

    @property
    def is_doubtful(self) -> bool:
        """Whether the fabric must not lead at its own load; see `is_doubtful`."""
        return is_doubtful(self.carriage, self.window, self.finished, lags=self.lags)

    @property
    def cut(self) -> Mapping[str, Any] | None:
        """The flows that `run.limit` excluded, or that could not move, over all seeds; None if
        neither ended a run."""
        found = [f.summary["cut"] for f in self.each if f.summary.get("cut")]
        if not found:
            return None
        counts = ("flows", "flows_never_offered", "flows_unfinished")
        whole = {key: sum(int(cut[key]) for cut in found) for key in counts}
        since = cuts.still_since(f.summary for f in self.each)
        return {"limit_s": found[0]["limit_s"], "still_since_s": since, **whole}

    @property
    def stands_still(self) -> bool:
        """Whether the unfinished flows of each run can never finish, for example because a part has
        failed."""
        found = [(f.summary.get("cut") or {}).get("still_since_s") for f in self.each]
        return bool(found) and None not in found

    @property
    def carried(self) -> float | None:
        """The load accepted in the window; without a window, the load delivered while flows
        arrived; for flows without a load, the goodput of the whole run."""
        return carried(self.summary)

    @cached_property
    def short_fct(self) -> Floats:
        """Completion times of the short flows, NaN if unfinished [s]."""
        return self.fct[self.sizes < SHORT_BYTES]

    @cached_property
    def short_finished(self) -> float | None:
        """Share of the short flows that finished; with a window, of those that arrived in it."""
        if self.window is not None:
            known = [(s.short_count, s.get("window.bound.short.unfinished")) for s in self.each]
            late = sum(n for _, n in known if n is not None)
            return ratio(sum(n for n, _ in known) - late, sum(n for n, _ in known))
        return finished(np.concatenate([f.short_fct for f in self.each]))

    @property
    def short_count(self) -> int:
        """Number of short flows; with a window, of those that arrived in it. Zero if all or no
        flows were short."""
        if self.window is None:
            return int(self.short_fct.size)
        return int(self.get("window.bound.short.flows") or 0)

    @property
    def each(self) -> tuple[Fabric, ...]:
        """The fabric with each seed; the fabric itself if it is not repeated."""
        return self.seeds or (self,)

    @cached_property
    def arrivals(self) -> float | None:
        """Time of the last arrival [s]."""
        end = self.get("simulated_s")
        if self.age is None or not self.age.size or end is None:
            return None
        return end - float(self.age.min())

    @property
    def arrivals_took(self) -> float | None:
        """Time in which flows arrived [s]: until the last arrival, without an initial silence of a
        trace, as in the core (`Flows::first_arrival`)."""
        if self.arrivals is None or self.age is None:
            return None
        first = (self.get("simulated_s") or 0.0) - float(self.age.max())
        span = self.arrivals - first
        return span if first * (self.age.size - 1) > SILENCE * span else self.arrivals

    @property
    def finished(self) -> float | None:
        """Share of all flows of the workload that finished; flows that were never offered count as
        unfinished."""
        offered = self.get("flows_offered")
        flows = None if offered is None else offered + self.never_offered / len(self.each)
        return ratio(self.get("flows_completed"), flows)

    @property
    def never_offered(self) -> int:
        """Number of flows, over all seeds, that `run.limit` excluded, or that waited for other
        flows until the end."""
        if self.cut:
            return int(self.cut["flows_never_offered"])
        return sum(seed.waiting for seed in self.each)

    @property
    def delivered(self) -> float | None:
        """Share of the offered bytes that was delivered."""
        return ratio(self.get("bytes_delivered"), self.get("bytes_offered"))

    @property
    def jobs(self) -> dict[str, float | None]:
        """Duration of each job [s]; None if it did not finish. Members of a mix (`gridmix/7-…`) are
        excluded."""
        found = self.summary.get("jobs") or {}
        return {name: figure(job, "seconds") for name, job in found.items() if "/" not in name}

    @cached_property
    def jobs_done(self) -> frozenset[str]:
        """Jobs that finished with every seed."""
        return frozenset.intersection(
            *(frozenset(n for n, t in f.jobs.items() if t is not None) for f in self.each)
        )

    @cached_property
    def jobs_last(self) -> float | None:
        """Time from the beginning of the first job to the end of the last [s]; None if one is
        unfinished."""
        return span_of_jobs(self.summary, None)

    @property
    def circuit_share(self) -> float | None:
        """Share of the delivered bytes that crossed a circuit."""
        return self.get("circuit_share")

    @property
    def duty_cycle(self) -> float | None:
        """Share of the run in which circuits that take turns were lit."""
        return self.get("duty_cycle")

    @property
    def dark(self) -> float | None:
        """Share of the run in which no circuit was lit."""
        if self.seeds:
            return mean_of(self.over_seeds(lambda f: f.dark))
        end = self.get("simulated_s")
        if self.circuits is None or not end:
            return None
        return max(0.0, 1.0 - self.circuits.days.lit / end)

    @cached_property
    def time(self) -> Floats:
        """Sample times [s]."""
        return column(self.timeseries, "time_ps") * PS

    def over_time(self, name: str) -> Floats:
        """A column of the time series."""
        return column(self.timeseries, name)

    def mean_over_time(self, name: str) -> float | None:
        """Mean of a rate that is given over the interval before each sample."""
        if self.seeds:
            return mean_of(self.over_seeds(lambda f: f.mean_over_time(name)))
        return mean_over_time(self.timeseries, name)


@dataclass(frozen=True)
class Workload:
    """One comparison: several fabrics under one workload."""

    name: str
    experiment: Mapping[str, Any]
    fabrics: tuple[Fabric, ...]

    @property
    def measured(self) -> bool:
        """Whether every fabric has latency and throughput of a window."""
        return bool(self.fabrics) and all(f.window is not None for f in self.fabrics)

    @property
    def seeds(self) -> int:
        """Number of seeds; 1 if nothing is repeated."""
        return max((len(f.seeds) for f in self.fabrics), default=0) or 1

    @property
    def loads(self) -> list[float]:
        """Loads of the sweep."""
        return sorted({p.load for f in self.fabrics for p in f.sweep})


def span_of_jobs(summary: Mapping[str, Any], names: frozenset[str] | None) -> float | None:
    """Time from the first start of these jobs (None for all) until the last of them is finished
    [s]; None if one is unfinished. Times of parallel jobs are not added.

    >>> both = {"a": {"start_s": 0.0, "finish_s": 2.0}, "b": {"start_s": 1.0, "finish_s": 3.0}}
    >>> span_of_jobs({"jobs": both}, None)
    3.0
    """
    jobs = {n: j for n, j in (summary.get("jobs") or {}).items() if "/" not in n}
    chosen = [j for n, j in jobs.items() if names is None or n in names]
    starts = [figure(job, "start_s") for job in chosen]
    ends = [figure(job, "finish_s") for job in chosen]
    begun, done = [t for t in starts if t is not None], [t for t in ends if t is not None]
    if not done or len(done) < len(chosen) or len(begun) < len(chosen):
        return None
    return max(done) - min(begun)


def carried(summary: Mapping[str, Any]) -> float | None:
    """The load accepted in the window; without a window, the load delivered while flows arrived; if
    there is none, the goodput of the whole run."""
    known = (loads.accepted(summary), loads.delivered(summary))
    return next((v for v in known if v is not None), figure(summary, "goodput_normalized"))
