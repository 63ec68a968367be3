"""The table of key figures: every metric of every fabric, the best marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from lightloom.unfinished import ranked

from . import units
from .model import Fabric, Workload, figure

Better = Literal["lower", "higher"] | None
Read = Callable[[Fabric], float | None]


@dataclass(frozen=True)
class Metric:
    """A row of the table before it meets the data."""

    name: str
    quantity: units.Quantity
    better: Better
    read: Read
    whole: bool = False  # a count of things
    share: Read | None = None  # of what was to be done: who did less than others is not ranked


@dataclass(frozen=True)
class Cell:
    """One figure as text."""

    text: str
    best: bool
    unranked: bool = False  # of a fabric that did not finish what others finished


@dataclass(frozen=True)
class Row:
    """One metric across the fabrics."""

    name: str
    unit: str
    better: Better
    cells: tuple[Cell, ...]


def summary(path: str) -> Read:
    """A figure of the summary as it stands."""
    return lambda f: f.get(path)


def micro(path: str) -> Read:
    """A figure of the summary kept in µs."""
    return lambda f: f.us(path)


def all_finished(fabric: Fabric) -> float | None:
    """Share of all flows that finished."""
    return fabric.finished


def carried(fabric: Fabric) -> float | None:
    """Whether the load of a window was carried, as a share of one."""
    return float(bool((fabric.window or {}).get("stable")))


def completion(flows: str, key: str, share: Read) -> tuple[Metric, ...]:
    """The three figures of a class of flows, for those who finished them."""
    figures = (("median", "p50_us"), ("99th percentile", "p99_us"), ("mean", "mean_us"))
    return tuple(
        Metric(f"{flows}, {name}", "time", "lower", micro(f"fct.{key}.{path}"), share=share)
        for name, path in figures
    )


def peak(name: str, path: str) -> Metric:
    """Memory that was needed by those who carried what there was."""
    return Metric(name, "bytes", "lower", summary(path), share=all_finished)


Groups = tuple[tuple[str, tuple[Metric, ...]], ...]

MEASURED: Groups = (
    (
        "Latency in the window",
        (
            Metric("Mean", "time", "lower", micro("window.mean_us"), share=carried),
            Metric("Half of its 95 % interval", "time", None, micro("window.half_width_us")),
            Metric("Median", "time", "lower", micro("window.p50_us"), share=carried),
            Metric("99th percentile", "time", "lower", micro("window.p99_us"), share=carried),
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
            ),
            Metric(
                "Busiest server then hears, of its rate",
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
            *completion("Short flows", "short", lambda f: f.short_finished),
            *completion("Long flows", "long", lambda f: f.long_finished),
            *completion("All flows", "all", all_finished),
        ),
    ),
    (
        "Slowdown against the server's link",
        (
            Metric("Median", "number", "lower", summary("slowdown.p50"), share=all_finished),
            Metric(
                "99th percentile", "number", "lower", summary("slowdown.p99"), share=all_finished
            ),
        ),
    ),
    (
        "Traffic",
        (
            Metric("Load offered, as drawn", "share", None, summary("load_offered")),
            Metric("Goodput", "share", "higher", summary("goodput_normalized")),
            Metric("Delivered, of the bytes offered", "share", "higher", lambda f: f.delivered),
            Metric("Flows finished", "share", "higher", lambda f: f.finished),
            Metric("Cells or packets lost", "number", "lower", summary("drops"), whole=True),
        ),
    ),
    (
        "Inside the network",
        (
            peak("Queue peak, worst node", "queue_peak_bytes"),
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
    """The table, in named groups of rows; figures that no fabric has are left out."""
    # Where a window was measured, it says more of latency and traffic than the whole run.
    shown = (*MEASURED, *GROUPS[3:]) if workload.measured else GROUPS
    every = (*job_group(workload), *update_group(workload), *circuit_group(workload), *shown)
    made = ((name, [row(m, workload.fabrics) for m in metrics]) for name, metrics in every)
    filled = ((name, [r for r in rows if says_something(r)]) for name, rows in made)
    return [(name, rows) for name, rows in filled if rows]


def says_something(row: Row) -> bool:
    """Whether any fabric has the figure."""
    return any(cell.text != units.MISSING for cell in row.cells)


def job_group(workload: Workload) -> tuple[tuple[str, tuple[Metric, ...]], ...]:
    """A row per job, where there are jobs."""
    names = dict.fromkeys(name for f in workload.fabrics for name in f.jobs)
    metrics = tuple(Metric(name, "time", "lower", job_time(name)) for name in names)
    return (("Jobs", metrics),) if metrics else ()


def update_group(workload: Workload) -> Groups:
    """Updates a second of jobs that count them, and what links leave room for."""
    names = dict.fromkeys(n for f in workload.fabrics for n in f.summary.get("updates") or {})
    metrics = []
    for name in names:
        metrics += [
            Metric(f"{name}, 10⁹/s", "number", "higher", update(name, "per_s", 1e-9)),
            Metric(f"{name}: of what fits", "share", "higher", update(name, "efficiency")),
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
    """A figure of a job's updates; its name may hold dots."""

    def read(fabric: Fabric) -> float | None:
        found = (fabric.summary.get("updates") or {}).get(name) or {}
        value = figure(found, key)
        return None if value is None else value * scale

    return read


def job_time(name: str) -> Read:
    """How long a job took."""
    return lambda f: f.jobs.get(name)


def circuit_group(workload: Workload) -> tuple[tuple[str, tuple[Metric, ...]], ...]:
    """What circuits do, where a fabric has any."""
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
    """One metric in one unit. Of the fabrics that did what others did, all that read as
    the best value are marked, unless every fabric's does."""
    found = [f.over_seeds(metric.read) for f in fabrics]
    values = [None if i is None else i.mean for i in found]
    known = [v for v in values if v is not None]
    step = units.common_step(known, metric.quantity)
    texts = [text(v, metric, step) for v in values]
    fair = rankable(metric, fabrics, values)
    best = None
    if metric.better and len(set(texts) - {units.MISSING}) > 1:
        extreme = (min if metric.better == "lower" else max)(
            v for v, ranked in zip(values, fair, strict=True) if v is not None and ranked
        )
        best = text(extreme, metric, step)
    halves = [None if i is None else i.half_width for i in found]
    cells = (
        Cell(
            t if half is None else f"{t} ± {text(half, metric, step)}",
            ranked and t == best,
            unranked=not ranked and t != units.MISSING,
        )
        for t, half, ranked in zip(texts, halves, fair, strict=True)
    )
    return Row(metric.name, step[0], metric.better, tuple(cells))


def rankable(metric: Metric, fabrics: tuple[Fabric, ...], values: list[float | None]) -> list[bool]:
    """Whose figures may be compared: of those that have one, who finished what others did."""
    share = metric.share
    if share is None:
        return [True] * len(fabrics)
    return ranked(
        [share(f) if v is not None else 0.0 for f, v in zip(fabrics, values, strict=True)]
    )


def text(value: float | None, metric: Metric, step: units.Step) -> str:
    """A figure in the unit of its row."""
    if value is None:
        return units.MISSING
    return units.count(value) if metric.whole else units.in_step(value, step)
