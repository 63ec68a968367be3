"""What is said of networks with one part dead, in tables of any form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from lightloom.resilience.outcome import OfFabric, Resilience, Run
from lightloom.resilience.search import SLOWER

NOT_MODELLED = "not modelled"
#: Whoever keeps as much reads as if it kept all.
WHOLE = 0.9995


def percent(share: float) -> str:
    """A share as terminals show it."""
    return f"{share:.1%}"


def answer(found: Resilience, show: Callable[[float], str] = percent) -> str:
    """How much of its goodput each fabric keeps with its worst single failure, that which keeps
    most first; empty where nothing can die."""
    kept = [(f.kept, f) for f in found.fabrics.values() if f.kept is not None]
    if not kept:
        return ""
    kept.sort(key=lambda pair: -pair[0])
    told = ", ".join(f"{f.label} {show(share)}{_by(f, share)}" for share, f in kept)
    missing = [f.label for f in found.fabrics.values() if not f.kinds]
    left = f"; of {', '.join(missing)} it is {NOT_MODELLED}" if missing else ""
    return f"Kept of the {goodput_of(found)} with the worst single failure: {told}{left}."


def _by(fabric: OfFabric, share: float) -> str:
    """The part that it is dead; nothing where none that was tried matters."""
    worst = fabric.least
    return "" if worst is None or share >= WHOLE else f" ({worst.part})"


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
        "window.accepted": "throughput",
    }.get(found.goodput, "goodput")


def p99_of(found: Resilience) -> str:
    """Whose 99th percentile it is."""
    return {
        "fct.short.p99_us": "FCT short p99",
        "fct.all.p99_us": "FCT p99",
    }.get(found.p99, "latency p99")


def legend(found: Resilience) -> Iterator[str]:
    """What the rows mean, and what they rest on."""
    kinds = [kind for fabric in found.fabrics.values() for kind in fabric.kinds]
    if kinds:
        yield (
            "A row: the worst figures with a part of that kind dead, one at a time, not always the "
            "same; not arrived: bytes under way or lost when the run ended."
        )
        yield from _sampled(found)
    if any(kind.takes_servers for kind in kinds):
        yield "A node takes its servers with it, in any network: it is not counted as the worst."
    if any(_was_cut(run) for kind in kinds if not kind.takes_servers for run in kind.runs):
        yield (
            f"Runs that wait for what never arrives end after {SLOWER} times what the sound "
            "network took."
        )
    for fabric in found.fabrics.values():
        if fabric.switches:
            yield f"{fabric.label}: {'; '.join(fabric.switches)}."
    yield from _grouped((f.assumed, f.label) for f in found.fabrics.values() if f.assumed)
    yield from _grouped(
        (f"{NOT_MODELLED}: {f.why_none}", f.label) for f in found.fabrics.values() if not f.kinds
    )


def _sampled(found: Resilience) -> Iterator[str]:
    """Which parts of kinds with many were tried."""
    groups = _groups(
        (kind.chosen, f"{fabric.label} ({kind.kind})")
        for fabric in found.fabrics.values()
        for kind in fabric.kinds
        if kind.chosen != "all"
    )
    for chosen, names in groups.items():
        yield f"Tried, {chosen}: {', '.join(names)}."


def _grouped(said: Iterable[tuple[str, str]]) -> Iterator[str]:
    """What is said of fabrics, those of which the same is said together."""
    for text, labels in _groups(said).items():
        yield f"{', '.join(labels)}: {text}."


def _groups(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {}
    for key, name in pairs:
        made.setdefault(key, []).append(name)
    return made


def _was_cut(run: Run) -> bool:
    """Whether a run ended only by its limit."""
    limited = any(text.startswith("run.limit=") for text in run.set)
    return limited and run.figures.missing > 0
