"""What the report reads from comparisons: columns in base units, figures or None.

Everything after this module works on plain numbers and knows no Arrow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lightloom import bounds, grants, loads, repeats
from lightloom.bounds import Bound, bound
from lightloom.intervals import Interval, over_runs
from lightloom.tables import mean_over_time

from .nights import Days, days_of
from .spec import Floats

if TYPE_CHECKING:
    from lightloom.results import Comparison, Result
    from lightloom.saturation import Saturation

SHORT_BYTES = 100_000  # flows below this are short, as in summary.json
PS = 1e-12

Integers = NDArray[np.int64]


def figure(summary: Mapping[str, Any], path: str) -> float | None:
    """The number at a dotted path; None if it is absent, null or not finite."""
    value: Any = summary
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def microseconds(summary: Mapping[str, Any], path: str) -> float | None:
    """A figure kept in µs, in seconds."""
    value = figure(summary, path)
    return None if value is None else value * 1e-6


def limits(summary: Mapping[str, Any], path: str) -> Bound | None:
    """Between what a figure of flows lies; times, kept in µs, in seconds."""
    found = bound(summary, path)
    return found.scaled(1e-6) if found is not None and path.endswith("_us") else found


def ratio(above: float | None, below: float | None) -> float | None:
    """A quotient, where there is one."""
    return above / below if above is not None and below else None


def column(table: pa.Table, name: str) -> Floats:
    """A column as floats, nulls as NaN; empty if the table has none of that name."""
    if name not in table.column_names:
        return np.empty(0)
    values = table.column(name).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def finished(fct: Floats) -> float | None:
    """Share of some flows that finished; None of no flows."""
    return ratio(float(np.isfinite(fct).sum()), float(fct.size))


def mean_of(found: Interval | None) -> float | None:
    """The mean, where there is one."""
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
    seeds: tuple[LoadPoint, ...] = ()  # the same with each seed, where it is repeated

    def over_seeds(self, read: Callable[[LoadPoint], float | None]) -> Interval | None:
        """The mean of a figure over the seeds, with its 95 % interval."""
        return over_runs(read(seed) for seed in self.seeds or (self,))

    @property
    def latency(self) -> float | None:
        """Mean latency in the window [s]."""
        return microseconds(self.window or {}, "mean_us")

    @property
    def latency_error(self) -> float | None:
        """Half of its confidence interval [s]; of several seeds that over them."""
        if self.seeds:
            found = self.over_seeds(lambda p: p.latency)
            return None if found is None else found.half_width
        return microseconds(self.window or {}, "half_width_us")

    @property
    def accepted(self) -> float | None:
        """What was accepted in the window, of what all servers can send."""
        return figure(self.window or {}, "accepted")

    @property
    def stable(self) -> bool:
        """Whether the load was carried."""
        return self.window is None or bool(self.window.get("stable"))


@dataclass(frozen=True)
class Circuits:
    """Lit circuits in columns: between which racks, from when until when [s]."""

    a: Integers
    b: Integers
    directed: NDArray[np.bool_]  # from a to b alone
    start: Floats
    end: Floats

    @cached_property
    def settings(self) -> int:
        """How often circuits came up."""
        return int(np.unique(self.start).size)

    @cached_property
    def days(self) -> Days:
        """When at least one was lit."""
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
    age: Floats | None = None  # of the same flows, what they had taken when the run ended [s]
    seeds: tuple[Fabric, ...] = ()  # the fabric with each seed, where it is repeated
    same_flows: bool = False  # whether all seeds play the same
    held_back: str = ""  # by which setting of its own it carries less than it could

    def over_seeds(self, read: Callable[[Fabric], float | None]) -> Interval | None:
        """The mean of a figure over the seeds, with its 95 % interval; None where no seed
        has it. Of a fabric that is not repeated the figure itself, without an interval."""
        return over_runs(read(seed) for seed in self.seeds or (self,))

    @property
    def window(self) -> Mapping[str, Any] | None:
        """Latency and throughput after warming up, where they were measured."""
        found = self.summary.get("window")
        return found if isinstance(found, Mapping) else None

    @property
    def kind(self) -> str:
        """The kind of fabric, such as `sirius`."""
        return str(self.settings.get("kind", self.summary.get("fabric", "")))

    def get(self, path: str) -> float | None:
        """A figure of the summary."""
        return figure(self.summary, path)

    def us(self, path: str) -> float | None:
        """A figure of the summary kept in µs [s]."""
        return microseconds(self.summary, path)

    @cached_property
    def least(self) -> Floats:
        """What each flow took, or had taken when the run ended [s]."""
        if self.age is None:
            return self.fct
        return np.where(np.isfinite(self.fct), self.fct, self.age)

    def limits(self, path: str) -> Bound | None:
        """Between what a figure of flows lies; times in seconds."""
        return limits(self.summary, path)

    @property
    def through(self) -> float | None:
        """What was carried of the load drawn; of a window whether it was, 1 or 0."""
        if self.window is not None:
            return float(bool(self.window.get("stable")))
        return ratio(self.get("load_delivered"), self.get("load_offered"))

    @property
    def carried(self) -> float | None:
        """Load delivered while flows arrived; of flows without a load the goodput of the
        whole run."""
        return carried(self.summary)

    @cached_property
    def short_fct(self) -> Floats:
        """Completion times of the short flows, NaN if unfinished [s]."""
        return self.fct[self.sizes < SHORT_BYTES]

    @cached_property
    def short_finished(self) -> float | None:
        """Share of the short flows that finished."""
        return finished(np.concatenate([f.short_fct for f in self.seeds or (self,)]))

    @property
    def finished(self) -> float | None:
        """Share of the flows that finished."""
        return ratio(self.get("flows_completed"), self.get("flows_offered"))

    @property
    def delivered(self) -> float | None:
        """Share of the offered bytes that was delivered."""
        return ratio(self.get("bytes_delivered"), self.get("bytes_offered"))

    @property
    def jobs(self) -> dict[str, float | None]:
        """How long each job took [s], None if it did not finish. Members of a mix
        (`gridmix/7-…`) are left out."""
        found = self.summary.get("jobs") or {}
        return {name: figure(job, "seconds") for name, job in found.items() if "/" not in name}

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
        """How many seeds; 1 where nothing is repeated."""
        return max((len(f.seeds) for f in self.fabrics), default=0) or 1

    @property
    def loads(self) -> list[float]:
        """Loads of the sweep."""
        return sorted({p.load for f in self.fabrics for p in f.sweep})


def slots(comparisons: Sequence[Comparison]) -> dict[str, int]:
    """A place in the palette per label, the same in all comparisons."""
    labels = dict.fromkeys(label for c in comparisons for label in c.results)
    return {label: i for i, label in enumerate(labels)}


def workload(comparison: Comparison, places: Mapping[str, int]) -> Workload:
    """Reads one comparison; of one that repeats the means over the seeds, beside each."""
    if not comparison.seeds:
        return one_seed(comparison, places)
    each = [one_seed(seed, places).fabrics for seed in comparison.seeds]
    same = repeats.same_flows(comparison.experiment)
    fabrics = tuple(replace(joined(f), same_flows=same) for f in zip(*each, strict=True))
    return Workload(comparison.name, comparison.experiment, fabrics)


def joined(seeds: Sequence[Fabric]) -> Fabric:
    """A fabric of several seeds: figures are means. What only one run has, its flows, time
    series and circuits, is the first seed's; charts look at `seeds`."""
    sweep = zip(*(f.sweep for f in seeds), strict=False)
    return replace(
        seeds[0],
        summary=repeats.means([f.summary for f in seeds]),
        sweep=tuple(joined_point(points) for points in sweep),
        saturation=joined_saturation([f.saturation for f in seeds if f.saturation]),
        seeds=tuple(seeds),
    )


def joined_point(points: Sequence[LoadPoint]) -> LoadPoint:
    """A point of the sweep of several seeds."""

    def mean(read: Callable[[LoadPoint], float | None]) -> float | None:
        return mean_of(over_runs(read(p) for p in points))

    windows = [p.window for p in points if p.window is not None]
    return LoadPoint(
        points[0].load,
        mean(lambda p: p.drawn),
        bounds.mean([p.p99 for p in points]),
        mean(lambda p: p.carried),
        mean(lambda p: p.delivered),
        mean(lambda p: p.finished),
        repeats.means(windows) if windows else None,
        tuple(points),
    )


def joined_saturation(found: Sequence[Saturation]) -> Saturation | None:
    """Where a fabric saturates on the mean of several seeds."""
    throughput = over_runs(s.throughput for s in found)
    busiest = over_runs(s.busiest for s in found)
    if throughput is None or busiest is None:
        return None
    half = throughput.half_width or 0.0
    return replace(found[0], throughput=throughput.mean, half_width=half, busiest=busiest.mean)


def one_seed(comparison: Comparison, places: Mapping[str, int]) -> Workload:
    """Reads the comparison of one seed."""
    settings = {f.get("label", f.get("kind")): f for f in comparison.experiment.get("fabric", [])}
    nominal = comparison.experiment.get("compare", {}).get("loads", [])
    fabrics = tuple(
        read_fabric(
            label,
            places[label],
            settings.get(label, {}),
            result,
            comparison.loads.get(label, []),
            nominal,
            comparison.saturation.get(label),
            held_back(comparison.experiment, settings.get(label, {}), result.summary),
        )
        for label, result in comparison.results.items()
    )
    return Workload(comparison.name, comparison.experiment, fabrics)


def read_fabric(
    label: str,
    slot: int,
    settings: Mapping[str, Any],
    result: Result,
    sweep: Sequence[Mapping[str, Any]],
    nominal: Sequence[float],
    saturation: Saturation | None = None,
    held_back: str = "",
) -> Fabric:
    """Reads one result."""
    arrival = column(result.flows, "arrival_ps")
    fct = (column(result.flows, "finish_ps") - arrival) * PS
    end = figure(result.summary, "simulated_s")
    arrived = arrival * PS <= end if end is not None else np.ones(arrival.size, dtype=bool)
    sizes = column(result.flows, "bytes")[arrived]
    points = tuple(
        p
        for i, s in enumerate(sweep)
        if (p := load_point(s, nominal[i] if i < len(nominal) else None))
    )
    return Fabric(
        label,
        slot,
        settings,
        result.summary,
        sizes,
        fct[arrived],
        result.timeseries,
        points,
        read_circuits(result.circuits),
        saturation,
        None if end is None else end - arrival[arrived] * PS,
        held_back=held_back,
    )


def held_back(
    experiment: Mapping[str, Any], settings: Mapping[str, Any], summary: Mapping[str, Any]
) -> str:
    """The setting of a fabric that keeps it from carrying what it could; empty without one."""
    derived, cluster = summary.get("derived") or {}, experiment.get("cluster", {})
    found = grants.held_back(settings, derived, cluster)
    return "" if found is None else f"fabric.queue = {found[0]}, where {found[1]} would cover"


def read_circuits(table: pa.Table | None) -> Circuits | None:
    """The circuits of a result, if its fabric has any."""
    if table is None:
        return None
    directed = (
        table["directed"].to_numpy(zero_copy_only=False).astype(bool)
        if "directed" in table.column_names
        else np.zeros(table.num_rows, dtype=bool)
    )
    return Circuits(
        table["a"].to_numpy().astype(np.int64),
        table["b"].to_numpy().astype(np.int64),
        directed,
        column(table, "from_ps") * PS,
        column(table, "until_ps") * PS,
    )


def load_point(summary: Mapping[str, Any], nominal: float | None) -> LoadPoint | None:
    """A point of the sweep, at the load asked for (drawn, if that is not known)."""
    load = nominal if nominal is not None else figure(summary, "load_offered")
    if load is None:
        return None
    delivered = ratio(figure(summary, "bytes_delivered"), figure(summary, "bytes_offered"))
    return LoadPoint(
        float(load),
        figure(summary, "load_offered"),
        limits(summary, "fct.short.p99_us"),
        carried(summary),
        delivered,
        ratio(figure(summary, "flows_completed"), figure(summary, "flows_offered")),
        summary.get("window"),
    )


def carried(summary: Mapping[str, Any]) -> float | None:
    """Load delivered while flows arrived; the goodput of the whole run where there is none."""
    load = loads.delivered(summary)
    return figure(summary, "goodput_normalized") if load is None else load
