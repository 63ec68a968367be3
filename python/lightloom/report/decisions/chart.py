"""The chart of a decision: cost and power of a fabric per delivered bit, against the figure by
which it is judged, with the Pareto front over all three."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from lightloom.analysis.model import Fabric
from lightloom.analysis.ranking import Score
from lightloom.decision.pareto import measures_of
from lightloom.decision.purchases import CAPITAL, Measure, Purchase
from lightloom.plotting.spec import STAR, Axis, Figure, Panel, Scale, Series, extent
from lightloom.units import quantities
from lightloom.units.intervals import LEVEL

from .read import Read

KEY = "decision"
NOTHING_NEAR = 10.0
"""Middle of an interval ÷ its lower end in the chart, if the interval includes 0."""
SPREAD = 3.0
"""Ratio of figures from which the axis is logarithmic."""


def chart(made: Read, behind: Mapping[str, Sequence[str]]) -> Figure | None:
    """Returns a panel for cost, and one for power if it is known; None if no fabric has both a
    total and a figure."""
    drawn = [
        (f, p, made.scores[f.label])
        for f, p in zip(made.workload.fabrics, made.purchases, strict=True)
        if CAPITAL.form(p) is not None and f.label in made.scores
    ]
    if not drawn or made.criterion is None:
        return None
    known = measures_of([p for _, p, _ in drawn])
    panels = tuple(_panel(made, drawn, behind, measure) for measure in known)
    what = "performance, dollars and watts" if len(panels) > 1 else "performance and dollars"
    return Figure(
        KEY,
        what.capitalize(),
        _caption(made, behind, [f.label for f, _, _ in drawn], len(panels) > 1),
        panels,
    )


def _panel(
    made: Read,
    drawn: Sequence[tuple[Fabric, Purchase, Score]],
    behind: Mapping[str, Sequence[str]],
    measure: Measure,
) -> Panel:
    """A panel of cost or of power."""
    assert made.criterion is not None
    currency = made.costs.book.currency
    title = f"{currency} per Gb/s delivered" if measure is CAPITAL else "W per Tb/s delivered"
    quantity = made.criterion.quantity
    values = [s.value for _, _, s in drawn if s.value > 0]
    wide = bool(values) and max(values) > SPREAD * min(values)
    scale: Scale = "log" if wide and quantity in ("time", "bytes") else "linear"
    series = [
        s
        for fabric, purchase, score in drawn
        for s in _marks(fabric, purchase, score, measure, behind, scale)
    ]
    x = Axis(title, "number", "linear", _roomy(extent(series, "x", "linear")))
    y = Axis(
        made.criterion.name.removeprefix("the "),
        quantity,
        scale,
        _roomy(extent(series, "y", scale), scale),
    )
    return Panel(measure.name.capitalize(), x, y, tuple(series))


def _marks(
    fabric: Fabric,
    purchase: Purchase,
    score: Score,
    measure: Measure,
    behind: Mapping[str, Sequence[str]],
    scale: Scale,
) -> list[Series]:
    """A mark in the middle of the prices, with lines over their range and over the interval."""
    found = measure.value(purchase)
    assert found is not None
    low, middle, high = float(found.low), float(found.middle), float(found.high)
    lines = [(low, score.value), (high, score.value)] if high > low else []
    if np.isfinite([score.low, score.high]).all() and score.low < score.high:
        # An interval that includes 0 has no lower end on a logarithmic axis.
        nothing = score.value / NOTHING_NEAR if scale == "log" else 0.0
        end = score.low if score.low > 0 else nothing
        lines += [(np.nan, np.nan), (middle, end), (middle, score.high)]
    places = np.array(lines).reshape(-1, 2)
    span = Series(fabric.label, places[:, 0], places[:, 1], fabric.slot, drawn="rule")
    front = behind.get(fabric.label) == []
    mark = Series(
        *(fabric.label, np.array([middle]), np.array([score.value]), fabric.slot),
        points=True,
        drawn="dots",
        hollow=(not purchase.carries,),
        starred=front,
    )
    return [span, mark] if lines else [mark]


def _roomy(limits: tuple[float, float], scale: Scale = "linear") -> tuple[float, float]:
    """Limits with space for a star above the highest mark."""
    low, high = limits
    return (low, high * (high / low) ** 0.12) if scale == "log" else (low, high * 1.1)


def _caption(
    made: Read, behind: Mapping[str, Sequence[str]], drawn: Sequence[str], power: bool
) -> str:
    """Explains the chart, and names the fabrics on the front."""
    assert made.criterion is not None
    better = "down and to the left" if made.criterion.better == "lower" else "up and to the left"
    on = [label for label, others in behind.items() if not others]
    third = ", or draws less," if power else ""
    front = (
        f"{STAR} marks the Pareto front, {quantities.listed(on)}: nothing else here costs "
        f"less{third} "
        f"without being worse elsewhere; less than {LEVEL * 100:.0f} % is no difference in cost. "
        if on
        else ""
    )
    late = [p.label for p in made.purchases if not p.carries and p.label in drawn]
    hollow = f"Hollow: {quantities.listed(late)} did not carry the load. " if late else ""
    open_ = any(made.scores[label].low <= 0 for label in drawn)
    ends = (
        ", which on a logarithmic axis end at a tenth where they reach to nothing" if open_ else ""
    )
    return (
        f"Better is {better}. {front}{hollow}Lines reach over the ranges of the book's prices, and "
        f"upright over 95 % intervals{ends}."
    )
