"""Rates of an application with a circuit between its racks and without one, and their ratio."""

from __future__ import annotations

from typing import Any

from lightloom.testbed.live import Live
from lightloom.testbed.measure import mean_rate

MARGIN_S = 0.1
"""Time that TCP needs on a new path; samples that are closer to a change are excluded."""


def matched(live: Live, application: dict[str, Any]) -> dict[str, float | None]:
    """The rates [b/s] of the receiver of an application with a circuit between the racks and
    without one, and their ratio; None if one of the two did not occur. Times in which another
    application may send to the same host are excluded from both.
    """
    layout = live.setup.layout
    if application["to"] is None or application["begin_s"] is None:
        return {"matched_bps": None, "unmatched_bps": None, "ratio": None}
    racks = [layout.hosts[application[end]].rack for end in ("from", "to")]
    spans = [
        (live.began + since, live.began + until)
        for a, b, _, since, until in live.circuits
        if sorted((a, b)) == sorted(racks)
    ]
    begin = live.began + application["begin_s"] + MARGIN_S
    end = live.began + application["begin_s"] + (application["took_s"] or 0.0) - MARGIN_S
    others = _others(live, application)
    rates = [
        r
        for r in live.samples.rates(f"host {application['to']}")
        if begin <= r[0] and r[1] <= end and all(r[1] <= s or r[0] >= u for s, u in others)
    ]
    lit = [r for r in rates if any(s + MARGIN_S <= r[0] and r[1] <= u for s, u in spans)]
    dark = [r for r in rates if all(r[1] <= s or r[0] >= u + MARGIN_S for s, u in spans)]
    with_it, without = mean_rate(lit), mean_rate(dark)
    ratio = with_it / without if with_it and without else None
    return {"matched_bps": with_it, "unmatched_bps": without, "ratio": ratio}


def _others(live: Live, application: dict[str, Any]) -> list[tuple[float, float]]:
    """The intervals in which other applications may have sent to the receiver of an application [s
    of the monotonic clock]."""
    return [
        (live.began + one["begin_s"], live.began + one["begin_s"] + (one["took_s"] or 0.0))
        for one in live.applications
        if one is not application
        and one["begin_s"] is not None
        and one["to"] in (application["to"], None)
    ]


def best(live: Live) -> dict[str, Any]:
    """The application with the largest ratio, among those whose pair had a circuit for a part of
    the run."""
    found = [matched(live, one) | {"name": one["name"]} for one in live.applications]
    both = [one for one in found if one["ratio"] is not None]
    return max(both, key=lambda one: one["ratio"] or 0.0, default={"ratio": None})
