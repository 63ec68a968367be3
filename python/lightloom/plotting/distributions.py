"""How long flows take, as data: their cumulative distribution, and beside it on logarithmic
axes the complementary one, which shows the tail.

Of an unfinished flow it is known that it takes at least its age. So where some are, the
share that takes at least a time lies between two curves: one as if they never arrived,
which is drawn, and one as if each had arrived as the run ended, which is dotted.
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
ROOM = 10.0  # what is not known may take so many times as much of an axis as what is
FASTEST = 0.01  # this share of the flows (such as those inside a rack) may lie left of the picture
CDF_TITLE = "share of flows"
CCDF_TITLE = "share as slow or slower"


@dataclass(frozen=True)
class Flows:
    """Completion times of one fabric, in columns of equal length: a row a flow that arrived."""

    label: str
    slot: int
    times: Floats  # [s]; NaN of an unfinished flow
    least: Floats  # what each took at the least [s]
    seeds: tuple[Flows, ...] = ()  # the same with each seed, where it is repeated

    @property
    def unfinished(self) -> bool:
        """Whether any flow, with any seed, is."""
        return any(np.isnan(f.times).any() for f in self.seeds or (self,))


def distribution(workload: Workload, thin: float = 1.0) -> Figure | None:
    """How long flows take; `thin` is the share of the usual number of points."""
    drawn = {"All flows": [all_flows(f) for f in workload.fabrics]}
    if any(f.short_fct.size < f.fct.size for f in workload.fabrics) or not workload.measured:
        drawn = {"Short flows": [short_flows(f) for f in workload.fabrics]} | drawn
    made = (panels(title, flows, thin) for title, flows in drawn.items())
    shown = tuple(p for pair in made for p in pair)
    if not shown:
        return None
    return Figure("fct-distribution", "How long flows take", caption(workload), shown)


def caption(workload: Workload) -> str:
    """What the curves are, and what is known where flows are unfinished."""
    dotted = workload.seeds == 1 and any(all_flows(f).unfinished for f in workload.fabrics)
    return (
        "Cumulative distribution of the time from a flow's arrival to its last byte, as a share "
        "of the flows that arrived, and beside it the tail: the share that takes at least as "
        "long, on logarithmic axes. A curve that ends in an arrow left flows unfinished: their "
        "share lies further right, where is not known."
        + " Of the tail there is a dotted line, too: what is certain, as an unfinished flow takes "
        "at least its age. The truth lies between."
        * dotted
        + left_out(workload)
        + at_which_load(workload)
        + " Short flows are those under 100 KB. The fastest 1 % may lie left of the picture."
    )


def left_out(workload: Workload) -> str:
    """How many flows are in no curve, as run.limit ended runs before they arrived."""
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
    """Of which load the flows are, where others were run, too."""
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
    """Of all flows that arrived."""
    seeds = tuple(all_flows(seed) for seed in fabric.seeds)
    return Flows(fabric.label, fabric.slot, fabric.fct, fabric.least, seeds)


def short_flows(fabric: Fabric) -> Flows:
    """Of those under 100 KB."""
    short = fabric.sizes < SHORT_BYTES
    seeds = tuple(short_flows(seed) for seed in fabric.seeds)
    return Flows(fabric.label, fabric.slot, fabric.fct[short], fabric.least[short], seeds)


def panels(title: str, flows: Sequence[Flows], thin: float = 1.0) -> tuple[Panel, ...]:
    """The distribution and its tail; nothing where no flow finished."""
    both = cumulative(title, flows, thin), complementary(f"{title}, tail", flows, thin)
    return tuple(p for p in both if p is not None)


def cumulative(title: str, flows: Sequence[Flows], thin: float = 1.0) -> Panel | None:
    """The share of flows that took no longer; None where none finished."""
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
    """The share of flows that took at least as long, on logarithmic axes; None where none
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
    """Bands of shares, of which none exceeds 1."""
    return [replace(b, y=np.minimum(b.y, 1.0)) for b in bands]


def oldest(flows: Sequence[Flows], slowest: float) -> list[Series]:
    """What unfinished flows need of the axis of time: up to the oldest of them, but no more
    than some times the slowest that finished."""
    ages = [float(f.least.max(initial=0.0)) for f in flows if not f.seeds]
    at = np.array([min(age, ROOM * slowest) for age in ages if age > 0])
    return [Series("", at, np.full(at.size, np.nan))]


def cdf(times: Floats, points: int) -> Curve:
    """Times against the share of flows that took no longer; NaN is an unfinished flow."""
    finished = np.sort(times[np.isfinite(times)])
    n = finished.size
    if n == 0:
        return finished, finished
    body = np.linspace(0, n - 1, points * 3 // 4)
    tail = n - np.geomspace(1, n, points - body.size)
    ranks = np.unique(np.rint(np.concatenate([body, tail])).astype(np.int64).clip(0, n - 1))
    return finished[ranks], (ranks + 1) / times.size


def ccdf(times: Floats, points: int) -> Curve:
    """Times against the share of flows that took at least as long, of which an unfinished
    flow (NaN) is always one. Never 0, so that a logarithmic axis has the slowest, too.

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
    """The share of times that are at least as long as each of `at`; NaN counts as longer."""
    less = np.searchsorted(np.sort(times[np.isfinite(times)]), at, side="left")
    return np.asarray(1 - less / times.size, dtype=np.float64)


def tails(flows: Flows, points: int) -> Iterator[Series]:
    """The complementary distribution; of several seeds the mean, and its band."""
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
    """The share that is known to take at least as long, from where that is less than what
    is drawn, as some flows are unfinished; None of several seeds."""
    ages = flows.least[np.isnan(flows.times) & (flows.least > 0)]
    if flows.seeds or not ages.size:
        return None
    start = min(max(float(ages.min()), x.limits[0]), x.limits[1])
    at = np.geomspace(start, x.limits[1], CERTAIN_POINTS)
    known = share_from(flows.least, at)
    return Series(flows.label, at[known > 0], known[known > 0], flows.slot, drawn="rule")


def first_percent(flows: Sequence[Flows]) -> float:
    """Where the first curve passes 1 % [s]: decades with hardly a flow say nothing."""
    return min((start for f in flows if (start := passes(f)) is not None), default=0.0)


def passes(flows: Flows) -> float | None:
    """By when 1 % of the flows, of all seeds together, had arrived [s]."""
    every = np.concatenate([f.times for f in flows.seeds or (flows,)])
    finished = np.sort(every[np.isfinite(every)])
    rank = int(np.ceil(FASTEST * every.size)) - 1
    return float(finished[rank]) if 0 <= rank < finished.size else None


def since(series: Series, low: float) -> Series:
    """A curve from a time on."""
    kept = series.x >= low
    return replace(series, x=series.x[kept], y=series.y[kept])


def end_of(series: Series) -> Series:
    """An arrow where a distribution is cut off, as not all flows arrived."""
    end = slice(-1, None)
    return replace(series, x=series.x[end], y=series.y[end], drawn="dots", arrow="right")


def time_axis(series: Sequence[Series]) -> Axis:
    """An axis of completion times around some curves."""
    return axis("flow completion time", "time", "log", series, "x")
