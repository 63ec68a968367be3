"""The table of key figures: every metric of every fabric.

The best of a row is marked if its 95 % interval overlaps with no other's and it is 3 % ahead, as in
the verdict, among the fabrics that carried the load. Times and queues of other fabrics are not
ranked, and a single fabric is never the best. The interval is that over the seeds if there are
several, else that over the flows of the run or its window. Figures of one seed without either, such
as peaks, have no best. If all flows begin at once and are too few for an interval, the best fabric
is the one that delivers each flow sooner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lightloom.analysis.unfinished import ranked
from lightloom.units import quantities
from lightloom.units.bounds import Bound, floored, of_limits
from lightloom.units.intervals import over_runs

from .fair import carrying
from .model import Fabric, Workload, figure
from .ranking import Score, apart, score
from .verdicts.criteria import first_in_each, is_by_each_flow

Better = Literal["lower", "higher"] | None
Read = Callable[[Fabric], float | None]
Limits = Callable[[Fabric], Bound | None]


@dataclass(frozen=True)
class Metric:
    """The definition of a row of the table, without data."""

    name: str
    quantity: quantities.Quantity
    better: Better
    read: Read
    whole: bool = False  # a count of things
    share: Read | None = None  # share of the work; a fabric with a lower share is not ranked
    limits: Limits | None = None  # limits of a figure whose flows may be unfinished
    half: Read | None = None  # half-width of its interval within a run
    of_carried: bool = False  # whether it is valid only for fabrics that carry the load
    freely: bool = False  # and only if no setting of the fabric limits it
    alike: Callable[[Fabric], object] | None = None  # must be equal to compare figures


@dataclass(frozen=True)
class Cell:
    """One figure as text."""

    text: str
    best: bool
    unranked: bool = False  # the fabric did not carry or finish as much as others
    interval: str = ""  # the interval, in the unit of the row


@dataclass(frozen=True)
class Row:
    """One metric across the fabrics."""

    name: str
    unit: str
    better: Better
    cells: tuple[Cell, ...]


def summary(path: str) -> Read:
    """A value of the summary, unchanged."""
    return lambda f: f.get(path)


def micro(path: str) -> Read:
    """A time that the summary holds in µs, in seconds."""
    return lambda f: f.us(path)


def all_finished(fabric: Fabric) -> float | None:
    """Share of all flows that finished."""
    return fabric.finished


def of_flows(name: str, path: str, quantity: quantities.Quantity = "time") -> Metric:
    """A figure of flows, or its bound, of the fabrics that carry the load."""

    def found(fabric: Fabric) -> Bound | None:
        return fabric.limits(path)

    def least(fabric: Fabric) -> float | None:
        known = found(fabric)
        return None if known is None else known.low

    return Metric(name, quantity, "lower", least, limits=found, of_carried=True)


def completion(flows: str, key: str) -> tuple[Metric, ...]:
    """The three figures of a class of flows."""
    figures = (("median", "p50_us"), ("99th percentile", "p99_us"), ("mean", "mean_us"))
    return tuple(of_flows(f"{flows}, {name}", f"fct.{key}.{path}") for name, path in figures)


def peak(name: str, path: str) -> Metric:
    """Peak memory of the fabrics that carried the workload."""
    return Metric(name, "bytes", "lower", summary(path), share=all_finished, of_carried=True)


def queue_place(fabric: Fabric) -> object:
    """The buffer that the peak of a fabric's queue refers to."""
    return fabric.summary.get("queue_place")


Groups = tuple[tuple[str, tuple[Metric, ...]], ...]

MEASURED: Groups = (
    (
        "Latency in the window",
        (
            of_flows("Mean", "window.mean_us"),
            Metric(
                "Half of its 95 % interval within a run",
                "time",
                None,
                micro("window.half_width_us"),
            ),
            of_flows("Median", "window.p50_us"),
            of_flows("99th percentile", "window.p99_us"),
            of_flows("99th percentile of short flows", "window.short.p99_us"),
        ),
    ),
    (
        "Throughput in the window",
        (
            Metric("Offered", "share", None, summary("window.offered")),
            Metric("Accepted", "share", None, summary("window.accepted")),
            Metric(
                "Saturation",
                "share",
                "higher",
                lambda f: f.saturation.throughput if f.saturation else None,
                half=lambda f: f.saturation.half_width if f.saturation else None,
            ),
            Metric(
                "Busiest server at saturation, of its rate",
                "share",
                "higher",
                lambda f: f.saturation.busiest if f.saturation else None,
            ),
            Metric("Cells or packets lost", "number", "lower", summary("drops"), whole=True),
        ),
    ),
)

GROUPS: Groups = (
    (
        "Flow completion time",
        (
            *completion("Short flows", "short"),
            *completion("Long flows", "long"),
            *completion("All flows", "all"),
        ),
    ),
    (
        "Slowdown against the server's link",
        (
            of_flows("Median", "slowdown.p50", "number"),
            of_flows("99th percentile", "slowdown.p99", "number"),
        ),
    ),
    (
        "Traffic",
        (
            Metric("Offered load (actual)", "share", None, summary("load_offered")),
            Metric(
                "Load delivered, until the last arrival",
                "share",
                "higher",
                summary("load_delivered"),
            ),
            Metric("Goodput, over the whole run", "share", None, summary("goodput_normalized")),
            Metric("Bytes delivered, of those offered", "share", "higher", lambda f: f.delivered),
            Metric("Flows finished", "share", "higher", lambda f: f.finished),
            Metric("Cells or packets lost", "number", "lower", summary("drops"), whole=True),
        ),
    ),
    (
        "Inside the network",
        (
            replace(
                peak("Queue peak, worst node", "queue_peak_bytes"), freely=True, alike=queue_place
            ),
            peak("Reorder buffer peak, worst flow", "reorder_peak_bytes"),
            Metric(
                "Link utilisation, mean", "share", None, lambda f: f.mean_over_time("utilisation")
            ),
            Metric("Hops, mean", "number", None, summary("hops_mean")),
        ),
    ),
    (
        "The simulation",
        (
            Metric("Simulated time", "time", None, summary("simulated_s")),
            Metric("Time in the kernel", "time", None, summary("kernel_s")),
            Metric("Whole run", "time", None, summary("wall_s")),
        ),
    ),
)


def groups(workload: Workload) -> list[tuple[str, list[Row]]]:
    """The table, in named groups of rows; figures that no fabric has are omitted."""
    # A window describes latency and traffic better than the whole run.
    shown = (*MEASURED, *GROUPS[3:]) if workload.measured else GROUPS
    every = (
        *job_group(workload),
        *update_group(workload),
        *circuit_group(workload),
        *size_group(workload),
        *shown,
    )
    by_flow = is_by_each_flow(workload)
    ahead = first_in_each(workload)

    def marked(metric: Metric) -> Row:
        made = row(metric, workload.fabrics)
        return _of_each_flow(made, workload, ahead) if by_flow and metric.limits else made

    made = ((name, [marked(m) for m in metrics]) for name, metrics in every)
    filled = ((name, [r for r in rows if says_something(r)]) for name, rows in made)
    return [(name, rows) for name, rows in filled if rows]


def says_something(row: Row) -> bool:
    """Whether any fabric has the figure."""
    return any(cell.text != quantities.MISSING for cell in row.cells)


def job_group(workload: Workload) -> tuple[tuple[str, tuple[Metric, ...]], ...]:
    """A row for each job, if there are jobs."""
    names = dict.fromkeys(name for f in workload.fabrics for name in f.jobs)
    metrics = tuple(Metric(name, "time", "lower", job_time(name)) for name in names)
    return (("Jobs", metrics),) if metrics else ()


def size_group(workload: Workload) -> Groups:
    """Slowdowns of each range of flow sizes that `run.size_limits` defines."""
    names = dict.fromkeys(n for f in workload.fabrics for n in f.summary.get("by_size") or {})
    figures = (("median", "p50"), ("99th percentile", "p99"))
    metrics = tuple(
        size_metric(name, percentile, shown) for name in names for shown, percentile in figures
    )
    return (("Slowdown by flow size", metrics),) if metrics else ()


def size_metric(name: str, percentile: str, shown: str) -> Metric:
    """A slowdown of the flows of a range of sizes."""

    def found(fabric: Fabric) -> Bound | None:
        of_size = (fabric.summary.get("by_size") or {}).get(name)
        return None if of_size is None else of_limits(of_size[percentile])

    def least(fabric: Fabric) -> float | None:
        known = found(fabric)
        return None if known is None else known.low

    return Metric(f"{name}, {shown}", "number", "lower", least, limits=found, of_carried=True)


def update_group(workload: Workload) -> Groups:
    """Updates per second of jobs that count them, and the number that the links would permit."""
    names = dict.fromkeys(n for f in workload.fabrics for n in f.summary.get("updates") or {})
    metrics = []
    for name in names:
        metrics += [
            Metric(f"{name}, 10⁹/s", "number", "higher", update(name, "per_s", 1e-9)),
            Metric(f"{name}: of the maximum", "share", "higher", update(name, "efficiency")),
            Metric(
                f"{name}: fits, 10⁹/s", "number", None, update(name, "ceiling_framed_per_s", 1e-9)
            ),
            Metric(
                f"{name}: fits without overhead, 10⁹/s",
                "number",
                None,
                update(name, "ceiling_per_s", 1e-9),
            ),
        ]
    return (("Updates", tuple(metrics)),) if metrics else ()


def update(name: str, key: str, scale: float = 1.0) -> Read:
    """A figure of a job's updates; the name of a job may contain dots."""

    def read(fabric: Fabric) -> float | None:
        found = (fabric.summary.get("updates") or {}).get(name) or {}
        value = figure(found, key)
        return None if value is None else value * scale

    return read


def job_time(name: str) -> Read:
    """Duration of a job."""
    return lambda f: f.jobs.get(name)


def circuit_group(workload: Workload) -> tuple[tuple[str, tuple[Metric, ...]], ...]:
    """Figures of circuits, if a fabric has any."""
    if all(f.circuit_share is None for f in workload.fabrics):
        return ()
    return (
        (
            "Circuits",
            (
                Metric("Bytes over circuits", "share", None, lambda f: f.circuit_share),
                Metric("Duty cycle", "share", None, lambda f: f.duty_cycle),
                Metric("Time with no circuit lit", "share", None, lambda f: f.dark),
                Metric(
                    "Settings of circuits",
                    "number",
                    None,
                    lambda f: float(f.circuits.settings) if f.circuits else None,
                    whole=True,
                ),
            ),
        ),
    )


def row(metric: Metric, fabrics: tuple[Fabric, ...]) -> Row:
    """One metric in one unit; the best is marked if the intervals permit it."""
    scores = [scored(metric, f) for f in fabrics]
    values = [None if s is None else s.value for s in scores]
    step = quantities.common_step([v for v in values if v is not None], metric.quantity)
    fair = rankable(metric, fabrics, values)
    ranked = [s for s, kept in zip(scores, fair, strict=True) if kept]
    several = sum(s is not None for s in ranked) > 1
    better = metric.better if is_alike(metric, fabrics) else None
    best = apart(ranked, better) if better and several else None
    if best is not None and metric.of_carried and best.fabric.is_doubtful:
        best = None  # as in the verdict
    cells = (
        Cell(
            text(s, metric, step),
            best=s is not None and s is best,
            unranked=not kept and s is not None,
            interval="" if s is None else interval(s, metric, step),
        )
        for s, kept in zip(scores, fair, strict=True)
    )
    return Row(metric.name, step[0], better, tuple(cells))


def _of_each_flow(made: Row, workload: Workload, ahead: Sequence[Fabric]) -> Row:
    """A row of figures of flows that are not a sample: the best fabric is the one that is ahead in
    each flow, if there is exactly one."""
    cells = (
        replace(cell, best=[*ahead] == [fabric] and cell.text != quantities.MISSING)
        for cell, fabric in zip(made.cells, workload.fabrics, strict=True)
    )
    return replace(made, cells=tuple(cells))


def is_alike(metric: Metric, fabrics: tuple[Fabric, ...]) -> bool:
    """Whether the figures of a row have the same meaning for all fabrics."""
    having = (f for f in fabrics if metric.read(f) is not None)
    return metric.alike is None or len({metric.alike(f) for f in having}) < 2


def scored(metric: Metric, fabric: Fabric) -> Score | None:
    """A fabric's figure with its interval, which is unlimited if it is unknown."""
    if metric.limits is not None:
        return score(fabric, metric.limits)
    value = metric.read(fabric)
    if value is None:
        return None
    over = over_runs(metric.read(f) for f in fabric.seeds)
    if over is not None and over.half_width is not None:
        return Score(fabric, over.mean, over.low, over.high)
    half = metric.half(fabric) if metric.half is not None else None
    half = math.inf if half is None else half
    return Score(fabric, value, value - half, value + half)


def rankable(metric: Metric, fabrics: tuple[Fabric, ...], values: list[float | None]) -> list[bool]:
    """The fabrics whose figures may be compared: they have the figure, carried and finished as much
    as the others, and, for queues, no setting of their own limits the queue."""
    judged = carrying(fabrics) if metric.of_carried else fabrics
    kept = [f in judged and not (metric.freely and f.keeps_queue_short) for f in fabrics]
    if (share := metric.share) is None:
        return kept
    shares = [share(f) if v is not None else 0.0 for f, v in zip(fabrics, values, strict=True)]
    return [a and b for a, b in zip(kept, ranked(shares), strict=True)]


def text(found: Score | None, metric: Metric, step: quantities.Step) -> str:
    """A figure in the unit of its row; a bound is shown as one."""
    if found is None:
        return quantities.MISSING
    value = floored(found.value) if found.least else found.value
    shown = quantities.count(value) if metric.whole else quantities.in_step(value, step)
    return f">{quantities.GLUE}{shown}" if found.least else shown


def interval(found: Score, metric: Metric, step: quantities.Step) -> str:
    """The interval, such as `8.12 to 8.90`; empty if there is none."""
    if not (math.isfinite(found.low) and math.isfinite(found.high)) or found.low == found.high:
        return ""
    return f"{quantities.in_step(found.low, step)} to {quantities.in_step(found.high, step)}"
