"""The figures of a comparison, as data.

Curves are reduced once, for the page and for the files: distributions to about 500 ranks, time
series to about 240 intervals.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lightloom.analysis.model import Fabric, LoadPoint, Workload
from lightloom.config import loads
from lightloom.units.bounds import Bound

from . import over_time
from .bands import BINS_PER_DECADE, around, caption_seeds, load_bands, split, spread, within
from .distributions import distribution
from .jobs import job_times
from .latency_load import latency_by_load
from .spec import Axis, Figure, Floats, Panel, Series, axis, figure
from .timelines import BARS_KEPT, circuit_timelines

# A percentile of fewer flows than this is noise; if no bin has as many, all are shown.
BIN_FLOWS = {50: 20, 99: 100}
DELIVERED = "load delivered"


def draw_all(workload: Workload, curves: int | None = None) -> tuple[Figure, ...]:
    """Returns every figure that the data allow. `curves` is the number of fabrics on the whole
    page."""
    thin = max(0.25, min(1.0, 12 / max(1, curves or len(workload.fabrics))))
    over_loads = latency_by_load(workload) if workload.measured else by_load(workload)
    fct, traffic = distribution(workload, thin), over_time.traffic(workload, thin)
    made = (
        overview(fct, traffic) if over_loads is None else over_loads,
        job_times(workload),
        fct,
        by_size(workload),
        *over_time.queues(workload, thin),
        *traffic,
        *circuit_timelines(workload, int(BARS_KEPT * thin)),
    )
    return tuple(caption_seeds(f, workload.seeds) for f in made if f is not None)


OVERVIEW = "overview"
LEADING = (OVERVIEW, "latency-load", "by-load")
"""Keys of the figure that a page shows first: completion times and goodput."""


def overview(fct: Figure | None, traffic: Sequence[Figure]) -> Figure | None:
    """Combines completion times and goodput from panels of other figures; None without either."""
    goodput = (f for figure in traffic for f in figure.panels if f.title == "Goodput")
    panels = [*((fct.panels[0],) if fct is not None else ()), *goodput]
    named = (replace(p, alone="") for p in panels)
    caption = "Left: share of flows that finished within a time. Right: goodput over time."
    if len(panels) < 2:
        return None
    return figure(OVERVIEW, "FCT and goodput", caption, list(named))


def curve(fabric: Fabric, x: Floats, y: Floats, points: bool = False) -> Series:
    """The curve of a fabric."""
    return Series(fabric.label, x, y, fabric.slot, points)


# Completion times


def by_size(workload: Workload) -> Figure | None:
    """Completion times of small and large flows, if there are both."""
    sizes = {float(s) for f in workload.fabrics for s in np.unique(f.sizes)[:2]}
    if workload.measured and len(sizes) < 2:
        return None

    def panel(percent: int, title: str) -> Panel | None:
        enough = flows_needed(workload.fabrics, percent)
        series, bands = split(
            s
            for f in workload.fabrics
            for s in spread(f, lambda g: percentile_by_size(g, percent, enough), "points")
        )
        series = [s for s in series if s.x.size]
        if not series:
            return None
        cut = {f.slot: bins_cut(f, percent, enough) for f in workload.fabrics}
        rising = [r for s in series if (r := rising_in(s, cut[s.slot or 0])) is not None]
        x = axis("flow size", "bytes", "log", series, "x")
        y = around("completion time", "time", "log", series, bands)
        alone = f"All flows: {title[:1].lower()}{title[1:]}"
        return Panel(title, x, y, (*within(bands, x, y), *series, *rising), alone)

    return figure(
        "fct-by-size",
        "Completion time by flow size",
        "Median and 99th percentile of the completion times of all flows that arrived, in bins "
        "of half a decade of size, at the geometric mean of the sizes in the bin. An arrow is a "
        "bound: flows were left unfinished, and the percentile lies above it. Bins with fewer "
        f"than {BIN_FLOWS[50]} flows (for the 99th percentile, {BIN_FLOWS[99]}) are left out, "
        "unless those of every fabric have fewer.",
        [panel(50, "Median"), panel(99, "99th percentile")],
    )


Bin = tuple[Floats, Floats, Floats]


def bins_by_size(fabric: Fabric) -> list[Bin]:
    """Returns for each bin of sizes the sizes, the sorted lower limits of the times of its flows,
    and the times of those that finished."""
    bins = bin_of(fabric.sizes)
    made = []
    for b in np.unique(bins):
        of = bins == b
        done = np.sort(fabric.fct[of & np.isfinite(fabric.fct)])
        made.append((fabric.sizes[of], np.sort(fabric.least[of]), done))
    return made


def bin_of(sizes: Floats) -> Floats:
    """The number of the bin of each size."""
    return np.floor(np.log10(np.maximum(sizes, 1)) * BINS_PER_DECADE + 1e-9)


def flows_needed(fabrics: Sequence[Fabric], percent: int) -> int:
    """The smallest number of flows of a bin that is drawn, the same for all fabrics: 1 if no bin of
    any fabric has enough."""
    enough = BIN_FLOWS[percent]
    counts = (least.size for f in fabrics for _, least, _ in bins_by_size(f))
    return enough if any(n >= enough for n in counts) else 1


def percentile_by_size(fabric: Fabric, percent: int, enough: int) -> tuple[Floats, Floats]:
    """Returns the geometric mean size of each bin with enough flows, and the nearest-rank
    percentile of the lower limits of their times."""
    kept = [b for b in bins_by_size(fabric) if b[1].size >= enough]
    x = [float(np.exp(np.log(np.maximum(sizes, 1)).mean())) for sizes, _, _ in kept]
    y = [float(least[nearest(least.size, percent)]) for _, least, _ in kept]
    return np.array(x), np.array(y)


def bins_cut(fabric: Fabric, percent: int, enough: int) -> set[float]:
    """The bins whose percentile is only a bound for some seed, because unfinished flows may exceed
    it."""
    cut = set()
    for one in fabric.seeds or (fabric,):
        for sizes, least, done in bins_by_size(one):
            rank = nearest(least.size, percent)
            high = float(done[rank]) if rank < done.size else math.inf
            if least.size >= enough and not Bound(float(least[rank]), high).exact:
                cut.add(float(bin_of(sizes[:1])[0]))
    return cut


def nearest(n: int, percent: int) -> int:
    """The index of a percentile among that many sorted values, by nearest rank."""
    return -(-n * percent // 100) - 1


def rising_in(series: Series, bins: set[float]) -> Series | None:
    """Arrows at the points of a curve that lie in these bins."""
    there = np.isin(bin_of(series.x), list(bins))
    if not there.any():
        return None
    return replace(series, x=series.x[there], y=series.y[there], drawn="dots", arrow="up")


# Load


def by_load(workload: Workload) -> Figure | None:
    """Latency and throughput by load."""
    if not workload.loads:
        return None
    x = Axis(
        f"load {loads.of_what(workload.experiment)}",
        "share",
        "linear",
        (0.0, max(workload.loads) * 1.06),
    )

    def panel(title: str, y_title: str, of: Callable[[LoadPoint], float | None]) -> Panel | None:
        shown = [f for f in workload.fabrics if sweep(f, of).x.size]
        series = [sweep(f, of) for f in shown]
        bands = [band for f in shown for band in load_bands(f, of)]
        if not series:
            return None
        if y_title == DELIVERED:
            drawn = drawn_by_load(workload)
            y = around(y_title, "share", "linear", [*series, drawn], bands)
            return Panel(title, x, y, (*within(bands, x, y), drawn, *series))
        y = around(y_title, "time", "log", series, bands)
        rising = [r for f in shown if (r := bounds_by_load(f)) is not None]
        return Panel(title, x, y, (*within(bands, x, y), *series, *rising))

    return figure(
        "by-load",
        "FCT and delivered load against load",
        "99th percentile of the FCT of short flows, and the load delivered by the last arrival, "
        "against the requested load. The dotted line is the actual offered load: a fabric on it "
        "delivers all of it while flows arrive. An arrow marks a lower bound: too many flows were "
        "unfinished to know the percentile." + of_parts(workload),
        [
            panel(
                "Short flows, 99th percentile",
                "completion time",
                lambda p: None if p.p99 is None else p.p99.low,
            ),
            panel("Load delivered", DELIVERED, lambda p: p.carried),
        ],
    )


def of_parts(workload: Workload) -> str:
    """Names the parts of a mix that the loads apply to, as the end of a caption."""
    varied = loads.varied(workload.experiment)
    return "" if varied is None else f" {varied}"


def sweep(fabric: Fabric, of: Callable[[LoadPoint], float | None]) -> Series:
    """One figure of a fabric at each load."""
    known = [(p.load, v) for p in fabric.sweep if (v := of(p)) is not None]
    return curve(
        fabric, np.array([x for x, _ in known]), np.array([y for _, y in known]), points=True
    )


def bounds_by_load(fabric: Fabric) -> Series | None:
    """Arrows at the loads at which the percentile is only a bound."""
    found = [(p.load, p.p99.low) for p in fabric.sweep if p.p99 is not None and not p.p99.exact]
    if not found:
        return None
    x, y = (np.array(values) for values in zip(*found, strict=True))
    return replace(curve(fabric, x, y, points=True), drawn="dots", arrow="up")


def drawn_by_load(workload: Workload) -> Series:
    """The load drawn at each requested load; the traffic is the same for every fabric."""
    drawn = {p.load: p.drawn for f in workload.fabrics for p in f.sweep if p.drawn is not None}
    loads = sorted(drawn or {load: load for load in workload.loads})
    actual = np.array([drawn.get(x, x) for x in loads])
    return Series("offered load (actual)", np.array(loads), actual)
