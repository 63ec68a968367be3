"""Curves with bounds: a bound is drawn as an arrow, without a line to it.

A bound falls as the load rises, because more flows are unfinished when the run ends. A line through
bounds would show a latency that falls with the load."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .spec import Series


def parted(series: Series, bounds: Sequence[bool]) -> list[Series]:
    """Returns the line through the known figures, and upward arrows at the figures that are bounds.

    >>> line, arrows = parted(Series("a", np.arange(3.0), np.ones(3), 0), [False, True, False])
    >>> line.y.tolist(), arrows.x.tolist()
    ([1.0, nan, 1.0], [1.0])
    """
    open_ = np.array(bounds, dtype=bool)
    made = []
    if not open_.all():
        error = None if series.error is None else np.where(open_, np.nan, series.error)
        line = np.where(open_, np.nan, series.y)
        made.append(replace(series, y=line, error=error, hollow=()))
    if open_.any():
        at = {"x": series.x[open_], "y": series.y[open_]}
        made.append(replace(series, **at, drawn="dots", arrow="up", hollow=(), error=None))
    return made
