"""Circuits over time, as data: circuits are bars over time, with a row for each pair of racks, and
nights are times in which none of the fabric's circuits was lit.

If there are many pairs, all pairs of the racks that were lit longest are drawn: the picture then
shows every moment in which these racks had a circuit, whereas scattered pairs would look dark. If
there are many circuits, the first ones are kept, and the picture opens on a part of them. The axes
of a panel state which part is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lightloom.analysis.model import PS, Circuits, Fabric, Integers, Workload
from lightloom.analysis.opening import opening
from lightloom.config.fabrics import of
from lightloom.units import quantities

from .spec import Axis, Figure, Floats, Panel, Series, Stretch, spans, things

ROWS_MAX = 16  # largest number of pairs of racks in a timeline
BARS_SHOWN = 400  # circuits in the initial view of a timeline without slots
BARS_KEPT = 2000  # largest number of circuits, and of nights, in a page's timeline
TITLE = "Circuits over time"
WAITS = (
    "the pair's traffic waits for its circuit, or goes another way that the fabric has "
    "(relays, a packet switch, circuits of others)"
)
EQUAL = 0.99  # racks that are lit for this part of the longest time count as equal


@dataclass(frozen=True)
class Pairs:
    """Pairs of racks that were connected at any time, sorted by rack."""

    a: Integers
    b: Integers
    directed: NDArray[np.bool_]
    lit: Floats  # total time [s]
    of: Integers  # pair of each circuit


def circuit_timelines(workload: Workload, kept: int = BARS_KEPT) -> tuple[Figure, ...]:
    """Circuits over time: two fabrics in a figure, with at most `kept` circuits each."""
    drawn = [(f, p) for f in workload.fabrics if (p := timeline(f, kept)) is not None]
    pairs = [drawn[i : i + 2] for i in range(0, len(drawn), 2)]
    return tuple(
        Figure(
            "circuits" if i == 0 else f"circuits-{i + 1}",
            TITLE
            if len(pairs) == 1
            else f"{TITLE}: {quantities.listed(f.label for f, _ in shown)}",
            caption(shown, kept),
            tuple(panel for _, panel in shown),
        )
        for i, shown in enumerate(pairs)
    )


def caption(shown: Sequence[tuple[Fabric, Panel]], kept: int) -> str:
    """Explains bars and gaps, and states what is omitted."""
    between = between_bars([fabric for fabric, _ in shown])
    night = ""
    if any(panel.nights for _, panel in shown):
        night = "Grey is night: no circuit of the fabric is lit. "
    return (
        f"A bar is a circuit from light to dark; between bars {between}. {night}Drawn are "
        f"{ROWS_MAX} pairs at most, of the racks lit longest, and their first "
        f"{quantities.count(kept)} "
        "circuits. The picture opens on a part of them, which the axes state. "
        "circuits.parquet has all."
    )


def between_bars(fabrics: Sequence[Fabric]) -> str:
    """States where the traffic of a pair goes while no circuit connects it."""
    waits = [f.label for f in fabrics if of(f.kind).get("in_turn")]
    beside = [f for f in fabrics if f.label not in waits]
    if not beside:
        return WAITS
    without = [f.label for f in beside if f.settings.get("electrical") is False]
    between = "the pair has the electrical network only"
    if len(without) == len(beside):
        between = "no circuit joins the pair, and there is no electrical network"
    elif without:
        between += f" ({quantities.listed(without)}: not even that)"
    if waits:
        between += f"; in {quantities.listed(waits)} {WAITS}"
    return between


def timeline(fabric: Fabric, kept: int = BARS_KEPT) -> Panel | None:
    """One fabric's circuits over time, one row for each pair of racks."""
    circuits = fabric.circuits
    if circuits is None or not circuits.start.size:
        return None
    pairs = pairs_of(circuits)
    rows, racks = chosen(pairs)
    end = fabric.get("simulated_s") or float(circuits.end.max())
    drawn = of_rows(circuits, pairs, rows)
    until = reach(circuits, drawn, end, kept)
    limits = opening(circuits, pairs.of, until) or (0.0, begin(circuits, drawn, BARS_SHOWN, until))
    stretch = Stretch(until, end)
    title = "racks"
    if rows.size < pairs.a.size:
        whose = f"rack {racks[0]}" if len(racks) == 1 else f"{len(racks)} racks"
        title = (
            f"racks: {quantities.count(rows.size)} of "
            f"{quantities.counted(pairs.a.size, 'pair')}, of {whose}"
        )
    return Panel(
        fabric.label,
        Axis(stretch.part(*limits), "time", "linear", limits, stretch=stretch),
        things(title, [name(pairs, row) for row in rows]),
        (
            *nights(fabric, circuits, until),
            bars(fabric, circuits, drawn, np.searchsorted(rows, pairs.of[drawn]), until),
        ),
    )


def pairs_of(circuits: Circuits) -> Pairs:
    """Returns the pairs of some circuits. Undirected circuits give one pair, directed circuits one
    for each direction."""
    racks = int(max(circuits.a.max(), circuits.b.max())) + 1
    codes = (circuits.a * racks + circuits.b) * 2 + circuits.directed
    found, of = np.unique(codes, return_inverse=True)
    lit: Floats = np.bincount(of, weights=circuits.end - circuits.start).astype(np.float64)
    directed = (found % 2).astype(bool)
    return Pairs(found // 2 // racks, found // 2 % racks, directed, lit, of)


def chosen(pairs: Pairs) -> tuple[Integers, list[int]]:
    """Returns the pairs to draw, sorted by rack, and their racks if not all pairs are drawn: all
    pairs of the rack that was lit longest, then those of the next rack, as long as they fit."""
    count = pairs.a.size
    if count <= ROWS_MAX:
        return np.arange(count), []
    number = int(max(pairs.a.max(), pairs.b.max())) + 1
    weight = np.bincount(pairs.a, pairs.lit, number)
    weight += np.bincount(pairs.b, np.where(pairs.directed, 0.0, pairs.lit), number)
    taken, own = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    racks: list[int] = []
    while weight.max() > 0:
        # Of racks that are equal, the first.
        rack = int(np.flatnonzero(weight >= EQUAL * weight.max())[0])
        own = ((pairs.a == rack) | ((pairs.b == rack) & ~pairs.directed)) & ~taken
        if taken.sum() + own.sum() > ROWS_MAX:
            break
        taken |= own
        racks.append(rack)
        weight[rack] = 0.0
    if not racks:  # even the first rack has too many pairs
        # Compared in integer picoseconds: of pairs that were lit equally long, the first.
        longest = np.argsort(-np.rint(pairs.lit[own] / PS), kind="stable")[:ROWS_MAX]
        return np.sort(np.flatnonzero(own)[longest]), [int(pairs.a[own][0])]
    return np.flatnonzero(taken), racks


def name(pairs: Pairs, row: int) -> str:
    """Formats a pair of racks."""
    joined = "\u2192" if pairs.directed[row] else "\u2013"
    return f"{pairs.a[row]}{joined}{pairs.b[row]}"


def of_rows(circuits: Circuits, pairs: Pairs, rows: Integers) -> Integers:
    """The circuits between the drawn pairs, by the time at which they came up."""
    there = np.flatnonzero(np.isin(pairs.of, rows))
    return there[np.argsort(circuits.start[there], kind="stable")]


def begin(circuits: Circuits, drawn: Integers, count: int, end: float) -> float:
    """The time until which there are only the first `count` circuits [s]; the end if no more are
    drawn."""
    return (float(circuits.start[drawn[count]]) if drawn.size > count else end) or end


def reach(circuits: Circuits, drawn: Integers, end: float, kept: int) -> float:
    """The time until which there are at most `kept` circuits and as many nights [s]."""
    until = begin(circuits, drawn, kept, end)
    dusk, _ = circuits.days.nights(until)
    return float(dusk[kept]) if dusk.size > kept else until


def bars(
    fabric: Fabric, circuits: Circuits, drawn: Integers, row: Integers, until: float
) -> Series:
    """The circuits that come up before a time, cut at that time."""
    shown = circuits.start[drawn] < until
    of = drawn[shown]
    end = np.minimum(circuits.end[of], until)
    x, y = spans(circuits.start[of], end, row[shown].astype(np.float64))
    return Series(fabric.label, x, y, fabric.slot, drawn="bars")


def nights(fabric: Fabric, circuits: Circuits, until: float) -> tuple[Series, ...]:
    """The nights before a time, if there are any."""
    start, end = circuits.days.nights(until)
    if not start.size:
        return ()
    x, y = spans(start, end, np.zeros(start.size))
    return (Series(fabric.label, x, y, fabric.slot, drawn="nights"),)
