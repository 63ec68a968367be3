"""Which fabrics carry the workload: times and queues of the others are not ranked.

The times of a fabric that does not carry the load are those of the part that it delivered.
"""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.analysis.unfinished import CENSORED, ranked

from .model import Fabric, LoadPoint, ratio
from .statement import Statement


def carrying(fabrics: Sequence[Fabric]) -> tuple[Fabric, ...]:
    """The fabrics that carry the workload, and those for which the window or the run is too short
    to show it.

    `findings.carriage` decides for windows, `findings.whole_run` for a load without a window.
    Traffic without a load is carried if the fabric delivered nine tenths of the best fabric's
    bytes, flows and jobs.
    """
    if any(f.window is not None for f in fabrics):
        return tuple(f for f in fabrics if f.through != 0.0)
    if any(f.carriage is not None for f in fabrics):
        return tuple(f for f in fabrics if f.carriage != "short")
    return tuple(f for f in fabrics if _keeps_up(f, fabrics))


def _keeps_up(fabric: Fabric, fabrics: Sequence[Fabric]) -> bool:
    share = share_of_best(fabric, fabrics)
    every_job = len(fabric.jobs_done) == max(len(f.jobs_done) for f in fabrics)
    return every_job and (share is None or share >= CENSORED)


def share_of_best(fabric: Fabric, fabrics: Sequence[Fabric]) -> float | None:
    """The share that a fabric delivered, relative to the best of all fabrics; None if it is
    unknown."""
    known = [
        _relative(fabric, [(f, f.through) for f in fabrics]),
        _relative(fabric, [(f, f.get("bytes_delivered")) for f in fabrics]),
    ]
    if all(f.through is None for f in fabrics):
        done = [(f, float(len(f.jobs_done)) if f.jobs else None) for f in fabrics]
        known += [
            _relative(fabric, [(f, f.get("flows_completed")) for f in fabrics]),
            _relative(fabric, done),
        ]
    return min((share for share in known if share is not None), default=None)


def _relative(fabric: Fabric, values: Sequence[tuple[Fabric, float | None]]) -> float | None:
    most = max((v for _, v in values if v is not None), default=None)
    own = next((v for f, v in values if f is fabric), None)
    return ratio(own, most)


def not_carrying_at(fabrics: Sequence[Fabric], load: float) -> set[str]:
    """Labels of the fabrics that do not carry a load of the sweep."""
    points = [(f.label, p) for f in fabrics for p in f.sweep if p.load == load]
    if any(p.window is not None for _, p in points):
        return {label for label, p in points if not p.stable}
    if any(p.carriage is not None for _, p in points):
        return {label for label, p in points if p.carriage == "short"}
    shares = [through(p) for _, p in points]
    fair = ranked(shares)
    return {label for (label, _), kept in zip(points, fair, strict=True) if not kept}


def through(point: LoadPoint) -> float | None:
    """Load carried ÷ load drawn."""
    return point.carried / point.drawn if point.drawn and point.carried is not None else None


def not_carrying(fabrics: Sequence[Fabric]) -> list[Fabric]:
    """The fabrics that do not carry the workload."""
    fair = carrying(fabrics)
    return [f for f in fabrics if f not in fair]


def unfair(fabrics: Sequence[Fabric]) -> tuple[Statement, ...]:
    """The statement on the fabrics whose times and queues are not ranked, and why; empty if all
    are."""
    late = not_carrying(fabrics)
    if not late:
        return ()
    each = tuple(_carried(f, fabrics) for f in late)
    kind = "not ranked" if len(late) < len(fabrics) else "none ranked"
    return (Statement(kind, each=each),)


def _carried(fabric: Fabric, fabrics: Sequence[Fabric]) -> Statement:
    """The share of the workload that a fabric carried."""
    label = fabric.label
    if fabric.window is not None:
        return Statement("load not carried", label=label)
    most = max(len(f.jobs_done) for f in fabrics)
    if len(fabric.jobs_done) < most:
        return Statement("fewer jobs", label=label, finished=len(fabric.jobs_done), most=most)
    through = _relative(fabric, [(f, f.through) for f in fabrics])
    if fabric.carriage == "short" or (through is not None and through < CENSORED):
        return Statement("less delivered in time", label=label, share=fabric.through)
    return Statement("less delivered", label=label, share=share_of_best(fabric, fabrics))
