"""Who is not praised for its times and queues: whoever did not carry the load that others
carried. Its queues are short, or its flows quick, as much never got in."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.unfinished import ranked

from .. import units
from ..model import Fabric, LoadPoint


def carrying(fabrics: Sequence[Fabric]) -> tuple[Fabric, ...]:
    """Those that delivered about as much of the load drawn as the best of them, or carried that of
    their window, which nobody may; where there is no load, all."""
    if any(f.window is not None for f in fabrics):
        return tuple(f for f in fabrics if f.through != 0.0)
    fair = ranked([f.through for f in fabrics])
    return tuple(f for f, kept in zip(fabrics, fair, strict=True) if kept)


def not_carrying_at(fabrics: Sequence[Fabric], load: float) -> set[str]:
    """Labels of those that did not at a load of the sweep."""
    points = [(f.label, p) for f in fabrics for p in f.sweep if p.load == load]
    if any(p.window is not None for _, p in points):
        return {label for label, p in points if not p.stable}
    shares = [through(p) for _, p in points]
    fair = ranked(shares)
    return {label for (label, _), kept in zip(points, fair, strict=True) if not kept}


def through(point: LoadPoint) -> float | None:
    """What was carried of the load drawn."""
    return point.carried / point.drawn if point.drawn and point.carried is not None else None


def not_carrying(fabrics: Sequence[Fabric]) -> list[Fabric]:
    """Those that did not."""
    fair = carrying(fabrics)
    return [f for f in fabrics if f not in fair]


def unfair(fabrics: Sequence[Fabric]) -> str:
    """Says of whom times and queues are not ranked, and why; empty where all are."""
    late = not_carrying(fabrics)
    if not late:
        return ""
    each = units.listed(f"{f.label} {_carried(f)}" for f in late)
    whose = "its" if len(late) == 1 else "their"
    nobody = "" if len(late) < len(fabrics) else "Nobody carries this load: "
    return f"{nobody}{each}: {whose} times and queues are not ranked."


def _carried(fabric: Fabric) -> str:
    """What of the load."""
    if fabric.window is not None:
        return "cannot carry the load"
    share = units.show(fabric.through, "share")
    return f"delivered {share} of what was drawn while flows arrived"
