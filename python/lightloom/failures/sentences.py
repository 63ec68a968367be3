"""Texts about networks with one failed part, for all kinds of tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from lightloom.failures.search import SLOWER
from lightloom.results.failures import OfFabric, Resilience, Run
from lightloom.units.bounds import Bound

NOT_MODELLED = "not modelled"
#: Share of the goodput from which a fabric is shown as losing nothing.
WHOLE = 0.9995


@dataclass(frozen=True)
class Shown:
    """Formats of figures, for a terminal or for a page."""

    share: Callable[[float], str]
    time: Callable[[Bound], str]
    """Formats a time or its bound [µs]."""


def answer(found: Resilience, show: Shown) -> str:
    """States the goodput of each fabric with its worst single failure, the largest share first;
    empty if nothing can fail."""
    kept = [(f.kept, f) for f in found.fabrics.values() if f.kept is not None]
    if not kept:
        return ""
    kept.sort(key=lambda pair: -pair[0])
    told = ", ".join(f"{f.label} {show.share(share)}{_by(f, share)}" for share, f in kept)
    slower = "; ".join(text for _, f in kept if (text := _slower(f, show)))
    times = f" {p99_of(found)} with the worst for it: {slower}." if slower else ""
    missing = [f.label for f in found.fabrics.values() if not f.kinds]
    left = f" Of {', '.join(missing)} it is {NOT_MODELLED}." if missing else ""
    return f"Kept of the {goodput_of(found)} with the worst single failure: {told}.{times}{left}"


def _by(fabric: OfFabric, share: float) -> str:
    """Names the part that failed; empty if no part that was tried matters."""
    worst = fabric.least
    return "" if worst is None or share >= WHOLE else f" ({worst.part})"


def _slower(fabric: OfFabric, show: Shown) -> str:
    """States the longest 99th percentile, and its ratio to that of the fault-free network."""
    worst, sound = fabric.slowest, fabric.sound.p99
    if worst is None or worst.figures.p99 is None or sound is None:
        return ""
    longest = show.time(worst.figures.p99)
    if longest == show.time(sound):
        return f"{fabric.label} {longest}, as sound"
    return f"{fabric.label} {longest} instead of {show.time(sound)} ({worst.part})"


def heading(found: Resilience) -> str:
    """Describes the runs."""
    return (
        "If one part fails before the first flow and stays dead, with the same flows "
        f"(seed {found.seed})"
    )


def goodput_of(found: Resilience) -> str:
    """The name of the figure `goodput`."""
    return {
        "load_delivered": "load delivered",
        "window.accepted": "throughput",
    }.get(found.goodput, "goodput")


def p99_of(found: Resilience) -> str:
    """Names the flows of the 99th percentile."""
    return {
        "fct.short.p99_us": "FCT short p99",
        "window.short.p99_us": "FCT short p99",
        "fct.all.p99_us": "FCT p99",
    }.get(found.p99, "Latency p99")


def legend(found: Resilience) -> Iterator[str]:
    """Explains the rows and their assumptions."""
    kinds = [kind for fabric in found.fabrics.values() for kind in fabric.kinds]
    if kinds:
        yield (
            "Each row has the worst figures with one failed part of its kind; two figures may have "
            "different parts. Not arrived: bytes in flight or lost when the run ended."
        )
        yield from _sampled(found)
    if any(kind.takes_servers for kind in kinds):
        yield (
            "A failed node cuts off its servers in every network, so it does not count as the "
            "worst failure."
        )
    if any(kind.kind in ("transceiver", "optical port") for kind in kinds):
        yield (
            "A transceiver or port is that of one link. Where a bill has one for several links, "
            "its failure would cut them all; that case is not simulated."
        )
    if found.goodput == "window.accepted" and _more(found):
        yield (
            "A network can deliver more with a failed part than without: the bytes of earlier "
            "flows count if they arrive in the window, and a slower network has more of them left."
        )
    if any(_was_cut(run) for kind in kinds if not kind.takes_servers for run in kind.runs):
        yield (
            f"A run that waits for bytes that never arrive ends after {SLOWER} times the time of "
            "the fault-free network."
        )
    for fabric in found.fabrics.values():
        if fabric.switches:
            yield f"{fabric.label}: {'; '.join(fabric.switches)}."
    yield from _grouped((f.assumed, f.label) for f in found.fabrics.values() if f.assumed)
    yield from _grouped(
        (f"{NOT_MODELLED}: {f.why_none}", f.label) for f in found.fabrics.values() if not f.kinds
    )


def _sampled(found: Resilience) -> Iterator[str]:
    """States which parts were tried of kinds with many parts."""
    groups = _groups(
        (kind.chosen, f"{fabric.label} ({kind.kind})")
        for fabric in found.fabrics.values()
        for kind in fabric.kinds
        if kind.chosen != "all"
    )
    for chosen, names in groups.items():
        yield f"Tried, {chosen}: {', '.join(names)}."


def _grouped(said: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Combines equal texts about several fabrics."""
    for text, labels in _groups(said).items():
        yield f"{', '.join(labels)}: {text}."


def _groups(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for key, name in pairs:
        made.setdefault(key, []).append(name)
    return made


def _more(found: Resilience) -> bool:
    """Whether a network delivered more with a failed part than without."""
    return any(
        (run.figures.goodput or 0.0) > (fabric.sound.goodput or 0.0)
        for fabric in found.fabrics.values()
        for kind in fabric.kinds
        for run in kind.runs
    )


def _was_cut(run: Run) -> bool:
    """Whether a run ended only because of its time limit."""
    limited = any(text.startswith("run.limit=") for text in run.set)
    return limited and run.figures.missing > 0
