"""Figures over time, as data: queues by their peak in each drawn interval, rates by their mean.

If there are few fabrics, each panel shows all curves. If there are many, each has a panel of its
own, all with the same axes, because overlapping curves that go up and down cannot be distinguished.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from lightloom.analysis.model import Workload

from .bands import around, split, spread, within
from .spec import Figure, Floats, Panel, Scale, Series, axis, figure

TIME_POINTS = 240
FEW = 4  # varying curves that can still be distinguished in one panel
MULTIPLES_A_ROW = 3
SHARED = " A panel a fabric, all with the same axes."
ALONE = {"worst": "Queue at the worst node", "all": "Queues of all nodes together"}
"""Titles of panels of queues that are drawn without the figure's title."""
Kind = Literal["peak", "mean"]


def panel(
    workload: Workload, title: str, y_title: str, name: str, points: int, kind: Kind
) -> Panel | None:
    """One column of the time series of all fabrics."""
    series, bands = split(
        s
        for f in workload.fabrics
        for s in spread(f, lambda g: thinned(g.time, g.over_time(name), points, kind), "time")
    )
    series = [s for s in series if s.y.size]
    if not series:
        return None
    x_axis = axis(
        "time", "time", "linear", series, "x", (0.0, max(float(s.x[-1]) for s in series) or 1.0)
    )
    scale: Scale = "linear"
    if kind == "peak" and far_apart(series):
        scale = "log"
        series = [Series(s.label, s.x, np.where(s.y > 0, s.y, np.nan), s.slot) for s in series]
    y_axis = around(y_title, "bytes" if kind == "peak" else "share", scale, series, bands)
    return Panel(title, x_axis, y_axis, (*within(bands, x_axis, y_axis), *series))


def far_apart(series: Sequence[Series]) -> bool:
    """Whether the peaks of curves differ so much that a linear axis would hide some."""
    peaks = [float(s.y.max()) for s in series if s.y.max() > 0]
    return bool(peaks) and max(peaks) > 30 * min(peaks)


def thinned(time: Floats, values: Floats, points: int, kind: Kind) -> tuple[Floats, Floats]:
    """Reduces a curve to at most `points` intervals, each at its last sample: the peak in the
    interval, or the mean over time."""
    known = np.isfinite(values) if values.size == time.size else np.zeros(time.size, dtype=bool)
    widths = np.diff(time, prepend=0.0)[known]
    time, values = time[known], values[known] if known.any() else np.empty(0)
    if time.size <= points:
        return time, values
    starts = np.unique(np.linspace(0, time.size, points + 1)[:-1].astype(np.int64))
    ends = np.append(starts[1:], time.size) - 1
    if kind == "peak":
        return time[ends], np.maximum.reduceat(values, starts)
    weight = np.add.reduceat(widths, starts)
    total = np.add.reduceat(values * widths, starts)
    return time[ends], np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)


def of_quantities(
    key: str, title: str, caption: str, quantities: Sequence[tuple[str, Panel | None]]
) -> tuple[Figure, ...]:
    """Returns one figure with a panel for each quantity; for many fabrics, a figure for each
    quantity with a panel for each fabric. The first figure has the key, others have a suffix."""
    known = [(ending, p) for ending, p in quantities if p is not None]
    if all(len(slots(p)) <= FEW for _, p in known):
        made = figure(key, title, caption, [p for _, p in known])
        return () if made is None else (made,)
    return tuple(
        Figure(
            f"{key}-{ending}" if i else key,
            f"{title}: {p.title[:1].lower()}{p.title[1:]}",
            caption + SHARED,
            multiples(p),
            MULTIPLES_A_ROW,
            shared=True,
        )
        for i, (ending, p) in enumerate(known)
    )


def slots(panel: Panel) -> list[int]:
    """The fabrics of a panel."""
    return sorted({s.slot for s in panel.series if s.slot is not None})


def multiples(panel: Panel) -> tuple[Panel, ...]:
    """A panel for each fabric of a panel, on the same axes."""
    made = []
    for slot in slots(panel):
        own = tuple(s for s in panel.series if s.slot == slot)
        made.append(replace(panel, title=own[0].label, series=own, alone=""))
    return tuple(made)


def queues(workload: Workload, thin: float = 1.0) -> tuple[Figure, ...]:
    """Bytes in queues inside the network, if there are any; `thin` scales the number of points."""
    # Fabrics that simulate flows at rates have no queues, which differs from queues of 0 bytes.
    having = tuple(f for f in workload.fabrics if f.get("queue_peak_bytes") is not None)
    workload = replace(workload, fabrics=having)
    if not any(np.nanmax(f.over_time("queued_bytes"), initial=0) > 0 for f in workload.fabrics):
        return ()
    points = int(TIME_POINTS * thin)
    panels = [
        (ending, made and replace(made, alone=ALONE[ending]))
        for ending, made in (
            ("worst", panel(workload, "Worst node", "queue", "queued_bytes_worst", points, "peak")),
            ("all", panel(workload, "All nodes together", "queue", "queued_bytes", points, "peak")),
        )
    ]
    logarithmic = any(p and p.y.scale == "log" for _, p in panels)
    return of_quantities(
        "queues",
        "What waits in the network",
        "Bytes queued inside the network (not at their sources): at the node with most, and in "
        "total; the peak sample in each drawn interval."
        + (" Moments with an empty queue are gaps on the logarithmic axis." * logarithmic),
        panels,
    )


ABOVE = (
    " Goodput can exceed 100 %: it is counted against the servers' rate, and links that carry "
    "more (cluster.nic) deliver faster what stays within a rack or has waited."
)


def traffic(workload: Workload, thin: float = 1.0) -> tuple[Figure, ...]:
    """The goodput, and the utilisation of the links."""
    points = int(TIME_POINTS * thin)
    goodput = panel(workload, "Goodput", "goodput", "goodput_normalized", points, "mean")
    used = panel(workload, "Link utilisation", "utilisation", "utilisation", points, "mean")
    above = goodput is not None and any(s.y.max() > 1 for s in goodput.series)
    return of_quantities(
        "traffic",
        "What the network carries",
        "Goodput: bits delivered over what all servers could send. Utilisation: bits carried by "
        "links over their capacity, counting every hop. Both are means over each drawn interval."
        + ABOVE
        * above,
        [("goodput", goodput), ("utilisation", used)],
    )
