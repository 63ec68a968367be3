"""What is said of networks with one part dead, in tables of any form."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lightloom.resilience.outcome import OfFabric, Resilience

NOT_MODELLED = "not modelled"


def percent(share: float) -> str:
    """A share as terminals show it."""
    return f"{share:.1%}"


def answer(found: Resilience, show: Callable[[float], str] = percent) -> str:
    """Which fabric keeps most of its goodput with its worst single failure; empty where nothing
    can die."""
    kept = [(f.kept, f) for f in found.fabrics.values() if f.kept is not None]
    if not kept:
        return ""
    kept.sort(key=lambda pair: -pair[0])
    told = ", ".join(f"{f.label} {show(share)} ({_worst(f)})" for share, f in kept)
    missing = [f.label for f in found.fabrics.values() if not f.kinds]
    left = f"; of {', '.join(missing)} it is {NOT_MODELLED}" if missing else ""
    return f"Kept of the {goodput_of(found)} with the worst single failure: {told}{left}."


def heading(found: Resilience) -> str:
    """What was run."""
    return (
        "If one part fails: dead before the first flow and to the end, the same flows "
        f"(seed {found.seed})"
    )


def goodput_of(found: Resilience) -> str:
    """What `goodput` is called."""
    return {
        "load_delivered": "load delivered",
        "window.accepted": "accepted",
    }.get(found.goodput, "goodput")


def p99_of(found: Resilience) -> str:
    """Whose 99th percentile it is."""
    return {
        "fct.short.p99_us": "FCT short p99",
        "fct.all.p99_us": "FCT p99",
    }.get(found.p99, "99 % there")


def legend(found: Resilience) -> Iterator[str]:
    """What the rows mean, and what they rest on."""
    kinds = [kind for fabric in found.fabrics.values() for kind in fabric.kinds]
    if not kinds:
        yield from _not_modelled(found)
        return
    yield (
        "A row: the worst figures of the parts of a kind that were tried, one at a time, not "
        "always of the same part; not arrived: bytes under way or lost when the run ended."
    )
    sampled = [
        f"{fabric.label}, {kind.kind}: {kind.chosen}"
        for fabric in found.fabrics.values()
        for kind in fabric.kinds
        if kind.chosen != "all"
    ]
    if sampled:
        yield f"Tried, where not all were: {'; '.join(sampled)}."
    if any(kind.takes_servers for kind in kinds):
        yield "A node takes its servers with it, in any network: it is not counted as the worst."
    for fabric in found.fabrics.values():
        yield from assumptions(fabric)
    yield from _not_modelled(found)


def assumptions(fabric: OfFabric) -> Iterator[str]:
    """What a fabric takes for granted, a line."""
    parts = [*fabric.switches, fabric.assumed]
    said = "; ".join(part for part in parts if part)
    if said:
        yield f"{fabric.label}: {said}."


def _not_modelled(found: Resilience) -> Iterator[str]:
    for fabric in found.fabrics.values():
        if not fabric.kinds:
            yield f"{fabric.label}: {NOT_MODELLED}: {fabric.why_none}."


def _worst(fabric: OfFabric) -> str:
    worst = fabric.least
    return "" if worst is None else worst.part
