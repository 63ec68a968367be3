"""Completion times as data: their cumulative distribution, and beside it on logarithmic axes the
complementary distribution, which shows the tail.

An unfinished flow takes at least its age. If flows are unfinished, the share of flows that take at
least a time therefore lies between two curves: one for flows that never finish, which is drawn, and
one for flows that finish at the end of the run, which is dotted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lightloom.analysis.model import SHORT_BYTES, Fabric, Workload
from lightloom.config import loads
from lightloom.units import quantities
from lightloom.units.quantities import tick_label

from .bands import Curve, band, over_rows, split, spread, within
from .spec import Axis, Figure, Floats, Panel, Series, axis

CDF_POINTS = 480
CCDF_POINTS = 240
CERTAIN_POINTS = 120
ROOM = 10.0  # length of the unknown part of an axis ÷ its known part, at most
FASTEST = 0.01  # share of the flows (such as those inside a rack) that may lie left of the picture
CDF_TITLE = "share of flows"
CCDF_TITLE = "share as slow or slower"


@dataclass(frozen=True)
class Flows:
    """Completion times of one fabric, in columns of equal length: one row for each flow that
    arrived."""

    label: str
    slot: int
    times: Floats  # [s]; NaN for unfinished flows
    least: Floats  # lower limits [s]
    seeds: tuple[Flows, ...] = ()  # one for each seed, if it is repeated

    @property
    def unfinished(self) -> bool:
        """Whether any flow of any seed is unfinished."""
        return any(np.isnan(f.times).any() for f in self.seeds or (self,))


def distribution(workload: Workload, thin: float = 1.0) -> Figure | None:
    """Draws completion times; `thin` scales the number of points."""
    drawn = {"All flows": [all_flows(f) for f in workload.fabrics]}
    if any(f.short_fct.size < f.fct.size for f in workload.fabrics) or not workload.measured:
        drawn = {"Short flows": [short_flows(f) for f in workload.fabrics]} | drawn
    made = (panels(title, flows, thin) for title, flows in drawn.items())
    shown = tuple(p for pair in made for p in pair)
    if not shown:
        return None
    return Figure("fct-distribution", "How long flows take", caption(workload), shown)


def caption(workload: Workload) -> str:
    """Explains the curves, and the effect of unfinished flows."""
    dotted = workload.seeds == 1 and any(all_flows(f).unfinished for f in workload.fabrics)
    return (
        "Cumulative distribution of the time from a flow's arrival to its last byte, as a share "
        "of the flows that arrived, and beside it the tail: the share that takes at least as "
        "long, on logarithmic axes. A curve that ends in an arrow left flows unfinished: their "
        "share lies further right, at an unknown time."
        + " The dotted line of the tail is a lower bound: an unfinished flow takes at least its "
        "age. The true tail lies between the two lines."
        * dotted
        + left_out(workload)
        + at_which_load(workload)
        + " Short flows are those under 100 KB. The fastest 1 % may lie left of the picture."
    )


def left_out(workload: Workload) -> str:
    """States the number of flows that no curve includes, because run.limit ended runs before they
    arrived."""
    cut = [(f.label, f.cut) for f in workload.fabrics]
    each = [
        f"{label} {c['flows_never_offered']:,} of {c['flows']:,}"
        for label, c in cut
        if c is not None and c["flows_never_offered"]
    ]
    if not each:
        return ""
    return f" Flows that never arrived before run.limit are in no curve: {quantities.listed(each)}."


def at_which_load(workload: Workload) -> str:
    """States the load of the flows, if other loads were run as well."""
    asked = loads.asked(workload.experiment)
    if asked is None or not any(load != asked for load in workload.loads):
        return ""
    top = tick_label(workload.loads[-1], "share")
    return (
        f" These are the flows at load {tick_label(asked, 'share')}; of the other loads of the "
        f"sweep only figures are kept (“What load does”): compare with workload.load at {top} to "
        "see its distribution."
    )


def all_flows(fabric: Fabric) -> Flows:
    """The times of all flows that arrived."""
    seeds = tuple(all_flows(seed) for seed in fabric.seeds)
    return Flows(fabric.label, fabric.slot, fabric.fct, fabric.least, seeds)


def short_flows(fabric: Fabric) -> Flows:
    """The times of flows under 100 KB."""
    short = fabric.sizes < SHORT_BYTES
    seeds = tuple(short_flows(seed) for seed in fabric.seeds)
    return Flows(fabric.label, fabric.slot, fabric.fct[short], fabric.least[short], seeds)


def panels(title: str, flows: Sequence[Flows], thin: float = 1.0) -> tuple[Panel, ...]:
    """The distribution and its tail; empty if no flow finished."""
    both = cumulative(title, flows, thin), complementary(f"{title}, tail", flows, thin)
    return tuple(p for p in both if p is not None)


def cumulative(title: str, flows: Sequence[Flows], thin: float = 1.0) -> Panel | None:
    """The share of flows that took no longer than a time; None if no flow finished."""
    points = int(CDF_POINTS * thin)
    series, bands = split(
        s for f in flows for s in spread(f, lambda g: cdf(g.times, points), "share")
    )
    low = first_percent(flows)
    series = [c for s in series if (c := since(s, low)).x.size]
    if not series:
        return None
    x, y = time_axis(series), axis(CDF_TITLE, "share", "linear", series, "y", (0.0, 1.02))
    cuts = (end_of(s) for s in series if s.y[-1] < 1.0)
    return Panel(title, x, y, (*shares(within(bands, x, y)), *series, *cuts))


def complementary(title: str, flows: Sequence[Flows], thin: float = 1.0) -> Panel | None:
    """The share of flows that took at least a time, on logarithmic axes; None if no flow
    finished."""
    points = int(CCDF_POINTS * thin)
    series, bands = split(s for f in flows for s in tails(f, points))
    low = first_percent(flows)
    series = [c for s in series if (c := since(s, low)).x.size]
    if not series:
        return None
    cut = [f for f in flows if f.unfinished]
    x = time_axis([*series, *oldest(cut, max(float(s.x[-1]) for s in series))])
    rules = [r for f in cut if (r := certain(f, x)) is not None]
    floor = min(float(s.y.min()) for s in series) / ROOM
    rules = [replace(r, x=r.x[r.y >= floor], y=r.y[r.y >= floor]) for r in rules]
    y = axis(CCDF_TITLE, "share", "log", [*series, *rules], "y")
    arrows = (end_of(s) for s in series if s.slot in {f.slot for f in cut})
    return Panel(title, x, y, (*shares(within(bands, x, y)), *rules, *series, *arrows))


def shares(bands: Sequence[Series]) -> list[Series]:
    """Limits bands of shares to 1."""
    return [replace(b, y=np.minimum(b.y, 1.0)) for b in bands]


def oldest(flows: Sequence[Flows], slowest: float) -> list[Series]:
    """The part of the time axis that unfinished flows need: up to the oldest of them, but at most
    `ROOM` times the slowest finished flow."""
    ages = [float(f.least.max(initial=0.0)) for f in flows if not f.seeds]
    at = np.array([min(age, ROOM * slowest) for age in ages if age > 0])
    return [Series("", at, np.full(at.size, np.nan))]


def cdf(times: Floats, points: int) -> Curve:
    """Returns times and the share of flows that took no longer; NaN is an unfinished flow."""
    finished = np.sort(times[np.isfinite(times)])
    n = finished.size
    if n == 0:
        return finished, finished
    body = np.linspace(0, n - 1, points * 3 // 4)
    tail = n - np.geomspace(1, n, points - body.size)
    ranks = np.unique(np.rint(np.concatenate([body, tail])).astype(np.int64).clip(0, n - 1))
    return finished[ranks], (ranks + 1) / times.size


def ccdf(times: Floats, points: int) -> Curve:
    """Returns times and the share of flows that took at least as long, which includes unfinished
    flows (NaN). The share is never 0, so that a logarithmic axis shows the slowest flow as well.

    >>> ccdf(np.array([4.0, np.nan, 1.0, 2.0]), 100)
    (array([1., 2., 4.]), array([1.  , 0.75, 0.5 ]))
    """
    finished = np.sort(times[np.isfinite(times)])
    n = finished.size
    if n == 0:
        return finished, finished
    drawn = np.arange(n) if n <= points else np.rint(n - np.geomspace(1, n, points)).astype(int)
    at = np.unique(finished[drawn.clip(0, n - 1)])
    return at, share_from(times, at)


def share_from(times: Floats, at: Floats) -> Floats:
    """Returns the share of times that are at least as long as each of `at`; NaN counts as
    longer."""
    less = np.searchsorted(np.sort(times[np.isfinite(times)]), at, side="left")
    return np.asarray(1 - less / times.size, dtype=np.float64)


def tails(flows: Flows, points: int) -> Iterator[Series]:
    """Yields the complementary distribution; of several seeds the mean, and its band."""
    every = [seed.times for seed in flows.seeds if seed.times.size] or [flows.times]
    x, y = ccdf(np.concatenate(every), points)
    if not flows.seeds:
        yield Series(flows.label, x, y, flows.slot)
        return
    if not x.size:
        return
    mean, half = over_rows(np.array([share_from(times, x) for times in every]))
    yield Series(flows.label, x, mean, flows.slot)
    known = np.isfinite(half)
    yield band(flows, x[known], (mean - half)[known], (mean + half)[known])


def certain(flows: Flows, x: Axis) -> Series | None:
    """Returns the share that certainly took at least as long, from the time at which unfinished
    flows make it smaller than the drawn share; None for several seeds."""
    ages = flows.least[np.isnan(flows.times) & (flows.least > 0)]
    if flows.seeds or not ages.size:
        return None
    start = min(max(float(ages.min()), x.limits[0]), x.limits[1])
    at = np.geomspace(start, x.limits[1], CERTAIN_POINTS)
    known = share_from(flows.least, at)
    return Series(flows.label, at[known > 0], known[known > 0], flows.slot, drawn="rule")


def first_percent(flows: Sequence[Flows]) -> float:
    """The time at which the first curve passes 1 % [s]; decades with hardly any flow are not
    drawn."""
    return min((start for f in flows if (start := passes(f)) is not None), default=0.0)


def passes(flows: Flows) -> float | None:
    """The time at which 1 % of the flows, over all seeds, had finished [s]."""
    every = np.concatenate([f.times for f in flows.seeds or (flows,)])
    finished = np.sort(every[np.isfinite(every)])
    rank = int(np.ceil(FASTEST * every.size)) - 1
    return float(finished[rank]) if 0 <= rank < finished.size else None


def since(series: Series, low: float) -> Series:
    """The part of a curve from a time on."""
    kept = series.x >= low
    return replace(series, x=series.x[kept], y=series.y[kept])


def end_of(series: Series) -> Series:
    """An arrow at the end of a distribution that is cut off because of unfinished flows."""
    end = slice(-1, None)
    return replace(series, x=series.x[end], y=series.y[end], drawn="dots", arrow="right")


def time_axis(series: Sequence[Series]) -> Axis:
    """An axis of completion times that includes some curves."""
    return axis("flow completion time", "time", "log", series, "x")
