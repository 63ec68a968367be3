"""Latency and throughput by load, as measured in a window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from lightloom.analysis.model import Fabric, LoadPoint, Workload
from lightloom.config import loads
from lightloom.config.fabrics import of as entry_of

from .arrows import parted
from .bands import around, load_bands, within
from .spec import Axis, Figure, Floats, Panel, Series

CAPTION = (
    "Mean latency of the flows that arrived in the window, with 95 % confidence intervals, and the "
    "accepted load, as a share of the servers' capacity; both against the requested load. An arrow "
    "marks a load that was not carried, or a lower bound because some flows were unfinished; no "
    "line joins arrows. A hollow marker marks a load that was not carried, or for which the window "
    "is too short. "
)
SATURATED = (
    "A dotted vertical line marks the load at which a fabric saturates: the most that it accepts. "
)
SHADED = "The shaded area lies between two presets of a fabric whose paper permits both."


def latency_by_load(workload: Workload) -> Figure | None:
    """Latency and throughput by load."""
    if not workload.loads:
        return None
    bands = pairs(workload.fabrics)
    caption = (
        CAPTION + SATURATED * any(f.saturation for f in workload.fabrics) + SHADED * bool(bands)
    ).strip()
    if (varied := loads.varied(workload.experiment)) is not None:
        caption += f" {varied}"
    panels = (latency(workload, bands), accepted(workload, bands))
    return Figure("latency-load", "Latency and throughput against load", caption, panels)


def load_axis(workload: Workload) -> Axis:
    """The axis of the loads of the sweep, and of the saturation loads beyond them."""
    ends = [k for f in workload.fabrics if (k := knee(f)) is not None]
    top = max([*workload.loads, *(e for e in ends if e < 2 * workload.loads[-1])])
    return Axis(f"load {loads.of_what(workload.experiment)}", "share", "linear", (0.0, top * 1.06))


def latency(workload: Workload, bands: Sequence[tuple[Fabric, Fabric]]) -> Panel:
    """Mean latency, on a logarithmic axis."""
    x = load_axis(workload)
    lines = [
        sweep(f, lambda p: p.latency, lambda p: p.latency_known, lambda p: p.latency_error)
        for f in workload.fabrics
    ]
    series = [part for line in lines for part in parted(line, line.hollow)]
    seeds = over_seeds(workload, lambda p: p.latency, lambda p: p.latency_known)
    y = around("mean latency", "time", "log", series, seeds)
    rules = [
        Series(f.label, np.array([k, k]), np.array(y.limits), f.slot, drawn="rule")
        for f in workload.fabrics
        if (k := knee(f)) is not None and k <= x.limits[1]
    ]
    shaded = [between(a, b, lambda p: p.latency) for a, b in bands]
    shaded += within(seeds, x, y)
    return Panel("Latency", x, y, (*shaded, *rules, *series))


def accepted(workload: Workload, bands: Sequence[tuple[Fabric, Fabric]]) -> Panel:
    """Throughput, with the line on which the accepted load equals the offered load."""
    x = load_axis(workload)
    series = [
        sweep(f, lambda p: p.accepted, lambda p: p.stable and not p.is_doubtful)
        for f in workload.fabrics
    ]
    loads = np.array(workload.loads)
    offered = Series("offered", loads, loads)
    shaded = [between(a, b, lambda p: p.accepted) for a, b in bands]
    seeds = over_seeds(workload, lambda p: p.accepted)
    y = around("accepted", "share", "linear", [*series, offered], seeds)
    shaded += within(seeds, x, y)
    return Panel("Throughput", x, y, (*shaded, offered, *series))


def over_seeds(
    workload: Workload,
    of: Callable[[LoadPoint], float | None],
    known: Callable[[LoadPoint], bool] = lambda _: True,
) -> list[Series]:
    """The bands of a figure over several seeds, at the loads at which it is known."""
    return [band for f in workload.fabrics for band in load_bands(f, of, known)]


def sweep(
    fabric: Fabric,
    of: Callable[[LoadPoint], float | None],
    known: Callable[[LoadPoint], bool],
    error: Callable[[LoadPoint], float | None] | None = None,
) -> Series:
    """One figure of a fabric at each load; points are hollow if the figure is not certain."""
    points = sorted(fabric.sweep, key=lambda p: p.load)
    there = [(p, v) for p in points if (v := of(p)) is not None]
    errors = None
    if error is not None:
        halves = [error(p) for p, _ in there]
        # If the load is not carried, or the figure is a bound, it has no interval.
        errors = np.array(
            [
                h if h is not None and known(p) else np.nan
                for h, (p, _) in zip(halves, there, strict=True)
            ]
        )
    return Series(
        fabric.label,
        np.array([p.load for p, _ in there]),
        np.array([v for _, v in there]),
        fabric.slot,
        points=True,
        hollow=tuple(not known(p) for p, _ in there),
        error=errors,
    )


def knee(fabric: Fabric) -> float | None:
    """The saturation load of a fabric; None if it was not searched, or was not reached."""
    found = fabric.saturation
    if found is None or found.not_carried is None:
        return None
    return found.throughput


def pairs(fabrics: Sequence[Fabric]) -> list[tuple[Fabric, Fabric]]:
    """Pairs of adjacent fabrics whose results bound a property that their paper does not
    specify."""
    alike: dict[str, list[Fabric]] = {}
    for fabric in fabrics:
        if keys := entry_of(fabric.kind).get("bounds"):
            network = [fabric.settings.get(key) for key in keys]
            alike.setdefault(f"{fabric.kind} {network}", []).append(fabric)
    return [pair for same in alike.values() for pair in pairwise(same)]


def between(a: Fabric, b: Fabric, of: Callable[[LoadPoint], float | None]) -> Series:
    """The area between two curves, at the loads that both have."""
    ours = {p.load: v for p in a.sweep if (v := of(p)) is not None}
    theirs = {p.load: v for p in b.sweep if (v := of(p)) is not None}
    loads = sorted(ours.keys() & theirs.keys())
    x: Floats = np.array([*loads, *reversed(loads)])
    y: Floats = np.array([*(ours[p] for p in loads), *(theirs[p] for p in reversed(loads))])
    return Series(a.label, x, y, a.slot, drawn="band")
