"""Who was connected to whom, as data: circuits as bars over time, a row per pair of racks.

Of many pairs whole racks are drawn, those lit longest: a picture of a rack shows every
moment in which it had a circuit, one of scattered pairs would look dark. Of many circuits
the first are drawn. A panel's axes say what part of all it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import units
from .model import Circuits, Fabric, Integers, Workload
from .spec import Axis, Figure, Floats, Panel, Series, things

ROWS_MAX = 16  # pairs of racks in a timeline
BARS_MAX = 400  # circuits in a timeline: the first ones
EQUAL = 0.99  # racks lit for this part of the longest are lit as long


@dataclass(frozen=True)
class Pairs:
    """Pairs of racks that were ever joined, in order of their racks."""

    a: Integers
    b: Integers
    directed: NDArray[np.bool_]
    lit: Floats  # how long in all [s]
    of: Integers  # pair of each circuit


def circuit_timelines(workload: Workload) -> tuple[Figure, ...]:
    """Who was connected to whom: two fabrics a figure."""
    drawn = [(f, p) for f in workload.fabrics if (p := timeline(f)) is not None]
    pairs = [drawn[i : i + 2] for i in range(0, len(drawn), 2)]
    return tuple(
        Figure(
            "circuits" if i == 0 else f"circuits-{i + 1}",
            "Who was connected to whom",
            caption([fabric for fabric, _ in shown]),
            tuple(panel for _, panel in shown),
        )
        for i, shown in enumerate(pairs)
    )


def caption(fabrics: Sequence[Fabric]) -> str:
    """What a bar is, what a pair has between bars, and what is left out."""
    without = [f.label for f in fabrics if f.settings.get("electrical") is False]
    between = "the pair has the electrical network only"
    if len(without) == len(fabrics):
        between = "no circuit joins the pair, and there is no electrical network"
    elif without:
        between += f" ({units.listed(without)}: not even that)"
    return (
        "Each bar is a circuit between two racks from when it was lit until it went dark; "
        f"between bars {between}. At most {ROWS_MAX} pairs are drawn, of the racks lit longest, "
        f"and their first {BARS_MAX} circuits: a panel's axes say what part of all that is. "
        "circuits.parquet has all."
    )


def timeline(fabric: Fabric) -> Panel | None:
    """One fabric's circuits over time, a row per pair of racks."""
    circuits = fabric.circuits
    if circuits is None or not circuits.start.size:
        return None
    pairs = pairs_of(circuits)
    rows, racks = chosen(pairs)
    end = fabric.get("simulated_s") or float(circuits.end.max())
    series, until = bars(fabric, circuits, pairs, rows, end)
    span = "time"
    if until < end:
        span = f"time, 0 to {units.show(until, 'time')} of {units.show(end, 'time')}"
    title = "racks"
    if rows.size < pairs.a.size:
        whose = f"rack {racks[0]}" if len(racks) == 1 else f"{len(racks)} racks"
        title = f"racks: {units.count(rows.size)} of {units.count(pairs.a.size)} pairs, of {whose}"
    return Panel(
        fabric.label,
        Axis(span, "time", "linear", (0.0, until)),
        things(title, [name(pairs, row) for row in rows]),
        (series,),
    )


def pairs_of(circuits: Circuits) -> Pairs:
    """The pairs of some circuits. Of a pair that is joined both ways at once there is one,
    of directed circuits one a direction."""
    racks = int(max(circuits.a.max(), circuits.b.max())) + 1
    codes = (circuits.a * racks + circuits.b) * 2 + circuits.directed
    found, of = np.unique(codes, return_inverse=True)
    lit: Floats = np.bincount(of, weights=circuits.end - circuits.start).astype(np.float64)
    directed = (found % 2).astype(bool)
    return Pairs(found // 2 // racks, found // 2 % racks, directed, lit, of)


def chosen(pairs: Pairs) -> tuple[Integers, list[int]]:
    """The pairs to draw, in order of their racks, and whose they are where not all are
    drawn: all of the rack lit longest, then of the next, as long as they fit."""
    count = pairs.a.size
    if count <= ROWS_MAX:
        return np.arange(count), []
    number = int(max(pairs.a.max(), pairs.b.max())) + 1
    weight = np.bincount(pairs.a, pairs.lit, number)
    weight += np.bincount(pairs.b, np.where(pairs.directed, 0.0, pairs.lit), number)
    taken, own = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    racks: list[int] = []
    while weight.max() > 0:
        # Of racks that are level the first.
        rack = int(np.flatnonzero(weight >= EQUAL * weight.max())[0])
        own = ((pairs.a == rack) | ((pairs.b == rack) & ~pairs.directed)) & ~taken
        if taken.sum() + own.sum() > ROWS_MAX:
            break
        taken |= own
        racks.append(rack)
        weight[rack] = 0.0
    if not racks:  # the first alone has too many
        longest = np.argsort(-pairs.lit[own], kind="stable")[:ROWS_MAX]
        return np.sort(np.flatnonzero(own)[longest]), [int(pairs.a[own][0])]
    return np.flatnonzero(taken), racks


def name(pairs: Pairs, row: int) -> str:
    """A pair in words."""
    joined = "\u2192" if pairs.directed[row] else "\u2013"
    return f"{pairs.a[row]}{joined}{pairs.b[row]}"


def bars(
    fabric: Fabric, circuits: Circuits, pairs: Pairs, rows: Integers, end: float
) -> tuple[Series, float]:
    """The first circuits between the pairs drawn, and until when they are all [s]."""
    place = np.full(pairs.a.size, -1, dtype=np.int64)
    place[rows] = np.arange(rows.size)
    there = np.flatnonzero(place[pairs.of] >= 0)
    order = there[np.argsort(circuits.start[there], kind="stable")]
    shown = order[:BARS_MAX]
    if order.size > BARS_MAX:
        end = float(circuits.start[order[BARS_MAX]]) or end
    x: Floats = np.full(3 * shown.size, np.nan)
    y: Floats = np.full(3 * shown.size, np.nan)
    x[0::3], x[1::3] = circuits.start[shown], np.minimum(circuits.end[shown], end)
    y[0::3] = y[1::3] = place[pairs.of[shown]]
    return Series(fabric.label, x, y, fabric.slot, drawn="bars"), end
