"""Memory in the network, utilisation of links, and undelivered traffic."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.units import quantities

from ..factors import between, times_text
from ..fair import unfair
from ..findings.headline import cuts
from ..findings.sentences import left_out
from ..model import Fabric
from ..ranking import Ranking, Score, names, rank
from .answer import COMPLETE, Verdict, evidence
from .criteria import QUEUE


def memory(fabrics: Sequence[Fabric]) -> Verdict | None:
    """Queues at the worst node, and reorder buffers of the worst flow; None if no fabric reports
    its queues."""
    question = "How much memory does it need in the network?"

    def detail(fabric: Fabric) -> str:
        value = fabric.get("reorder_peak_bytes")
        return "" if value is None else f"reorder {quantities.show(value, 'bytes')}"

    shown = evidence(fabrics, lambda f: f.get("queue_peak_bytes"), "bytes", detail)
    queued = scores(fabrics, "queue_peak_bytes")
    if not queued:
        return None
    parts = (*queue_parts(fabrics), reorder_answer(fabrics))
    answer = " ".join(p for p in parts if p)
    silent = [f.label for f in fabrics if f.get("queue_peak_bytes") is None]
    notes = [f"No queue figure: {quantities.listed(silent)}."] if silent else []
    notes += [line] if (line := unfair(fabrics)) else []
    notes += [
        f"{f.label} has {f.held_back}, which keeps its queue short."
        for f in fabrics
        if f.keeps_queue_short
    ]
    shelved = [(f.label, int(n)) for f in fabrics if (n := f.get("parts.memories"))]
    if shelved:
        each = quantities.listed(f"{label} has {n}" for label, n in shelved)
        notes.append(f"A node of a switch is one of its memories: {each}.")
    return Verdict(question, answer, shown, tuple(notes))


#: The name of a place in results → the buffer to which the peak of a queue refers.
PLACES = {
    "port": "one port of a switch",
    "router": "all buffers of a router",
    "loop-back": "one loop-back memory",
    "relay": "data that waits in a rack for its second hop or for a server",
    "rack-low-latency": "a rack's low-latency data, its own included",
}


def queue_parts(fabrics: Sequence[Fabric]) -> tuple[str, ...]:
    """The fabric with the shortest queues; or the place of each figure, if the places differ."""
    having = [s.fabric for s in scores(fabrics, "queue_peak_bytes")]
    if not QUEUE.are_alike(having):
        return (f"The figures count different places and are not compared: {by_place(having)}.",)
    ranking = QUEUE.ranking(tuple(fabrics))
    wide = ranking.said_unplaced("bytes") if ranking.scores else ""
    return (queue_answer(ranking), wide)


def by_place(fabrics: Sequence[Fabric]) -> str:
    """The places of the fabrics' queue peaks, grouped by place."""
    places = dict.fromkeys(f.summary["queue_place"] for f in fabrics)
    each = {p: [f.label for f in fabrics if f.summary["queue_place"] == p] for p in places}
    return "; ".join(f"of {quantities.listed(labels)}, {PLACES[p]}" for p, labels in each.items())


def scores(fabrics: Sequence[Fabric], path: str) -> list[Score]:
    """A figure of the summary, for the fabrics that have it."""
    return [Score.exact(f, v) for f in fabrics if (v := f.get(path)) is not None]


def queue_answer(ranking: Ranking) -> str:
    """The lowest and the highest peak at the worst node, of the fabrics that are ranked."""
    if not ranking.scores:
        return ranking.said_unplaced("bytes")
    least, most = ranking.scores[0], ranking.scores[-1]
    value = least.with_interval("bytes")
    if len(ranking.scores) == 1:
        return f"The worst node of {least.fabric.label} queues {value} at its peak."
    if not ranking.rest:
        low, high = quantities.show(least.value, "bytes"), quantities.show(most.value, "bytes")
        range_ = low if low == high else f"{low} to {high}"
        return f"{names(ranking.leaders)} are level: {range_} at the peak of the worst node."
    found = between(most, least)
    factor = f", {times_text(found)} as much" if found else ""
    verb = "needs" if ranking.level == 1 else "need"
    return (
        f"{names(ranking.leaders)} {verb} least: {value} at the peak of the worst node. "
        f"{most.fabric.label} needs most: {most.with_interval('bytes')}{factor}."
    )


def reorder_answer(fabrics: Sequence[Fabric]) -> str:
    """The fabrics that have to reorder data."""
    reordering = [s for s in scores(fabrics, "reorder_peak_bytes") if s.value > 0]
    if not reordering:
        return ""
    parts = [f"{quantities.show(s.value, 'bytes')} in {s.fabric.label}" for s in reordering[:4]]
    if len(reordering) > len(parts):
        most = max(reordering, key=lambda s: s.value)
        parts = [f"at most {quantities.show(most.value, 'bytes')}, in {most.fabric.label}"]
    return f"Putting the worst flow back in order takes {quantities.listed(parts)} at its receiver."


def links(fabrics: Sequence[Fabric]) -> Verdict | None:
    """Mean utilisation of links over the run; None if it was not measured."""
    question = "How busy are the links?"

    def mean(fabric: Fabric) -> float | None:
        return fabric.mean_over_time("utilisation")

    def detail(fabric: Fabric) -> str:
        hops, lit = fabric.get("hops_mean"), fabric.duty_cycle
        parts = [] if hops is None else [f"{quantities.digits(hops)} hops a byte"]
        parts += [] if lit is None else [f"lit {quantities.show(lit, 'share')} of the time"]
        return ", ".join(parts)

    shown = evidence(fabrics, mean, "share", detail)
    scored = [Score.exact(f, v) for f in fabrics if (v := mean(f)) is not None]
    if not scored:
        return None
    ranking = rank(scored, "higher")
    busy = quantities.show(ranking.best, "share")
    if len(scored) == 1:
        return Verdict(
            question, f"On average {names(scored)} uses {busy} of its links' capacity.", shown
        )
    if not ranking.rest:
        return Verdict(
            question, f"About equally in {names(ranking.leaders)}: {busy} on average.", shown
        )
    idle = ranking.scores[-1]
    answer = f"Busiest in {names(ranking.leaders)}: {busy} on average. "
    answer += f"Least in {idle.fabric.label}: {quantities.show(idle.value, 'share')}."
    hops = [h for f in fabrics if (h := f.get("hops_mean")) is not None]
    detours = hops and max(hops) > 1.2 * min(hops)
    notes = [
        "In shares of a fabric's own links, over the whole run: with more links, or while the "
        "last flows drain, it is less busy."
    ]
    if detours:
        notes.append(
            "A byte that takes more hops occupies more links: a busy fabric need not deliver more."
        )
    return Verdict(question, answer, shown, tuple(notes))


def arrival(fabrics: Sequence[Fabric]) -> Verdict | None:
    """Unfinished flows and losses."""
    shares = [(f, s) for f in fabrics if (s := f.finished) is not None]
    if not shares:
        return None

    arrived = [(f, d) for f in fabrics if (d := f.delivered) is not None]
    places = quantities.percent_places(s for _, s in (*shares, *arrived))

    def detail(fabric: Fabric) -> str:
        share, lost = fabric.delivered, fabric.get("drops")
        parts = [] if share is None else [f"{quantities.show(share, 'share', places)} of the bytes"]
        parts += [] if lost is None else [f"{quantities.count(lost)} lost"]
        return ", ".join(parts)

    shown = evidence(fabrics, lambda f: f.finished, "share", detail, places)
    parts = [unfinished_answer(shares, arrived, places), *bytes_answer(arrived, places)]
    losing = [s for s in scores(fabrics, "drops") if s.value > 0]
    if losing:
        each = [f"{s.fabric.label} ({quantities.count(s.value)})" for s in losing]
        parts.append(f"Cells or packets were lost on the way in {quantities.listed(each)}.")
    elif scores(fabrics, "drops"):
        parts.append("Nothing was lost.")
    whole = not losing and all(s == 1 for _, s in (*shares, *arrived))
    left = never_offered(fabrics)
    return Verdict("Does everything arrive?", " ".join(parts), () if whole else shown, left)


def never_offered(fabrics: Sequence[Fabric]) -> tuple[str, ...]:
    """A note that shares of bytes refer to offered flows only, if some flows were never offered."""
    each = [f"{c.label} {left_out(c)}" for c in cuts(fabrics) if c.never_offered]
    each += [
        f"{f.label} {f.never_offered:,} were never offered, as they wait for others"
        for f in fabrics
        if f.never_offered and not f.cut
    ]
    if not each:
        return ()
    return (f"Shares of bytes are of the offered flows alone: {quantities.listed(each)}.",)


Shares = Sequence[tuple[Fabric, float]]


def bytes_answer(arrived: Shares, places: int) -> list[str]:
    """The share of the bytes that was delivered, unless it was all."""
    if not arrived or min(s for _, s in arrived) == 1:
        return []
    ordered = sorted(arrived, key=lambda pair: pair[1])
    (least, low), (most, high) = (
        (f.label, quantities.show(s, "share", places)) for f, s in (ordered[0], ordered[-1])
    )
    if low == high:
        return [f"{low} of the offered bytes arrived."]
    return [f"Of the offered bytes, {low} ({least}) to {high} ({most}) arrived."]


def unfinished_answer(shares: Shares, arrived: Shares, places: int) -> str:
    """Number of flows that were unfinished at the end."""
    least, share = min(shares, key=lambda pair: pair[1])
    if share == 1:
        return "Every flow finished."
    least_share = quantities.show(share, "share", places)
    if share >= COMPLETE:
        whose = least.label if len(shares) == 1 else "every fabric"
        almost = "Almost" if all(s >= COMPLETE for _, s in arrived) else "Not all"
        more = "" if len(shares) == 1 else " or more"
        return f"{almost}: {whose} finished {least_share} of the flows{more} by the end of the run."
    lagging = [
        f"{f.label} finished {quantities.show(s, 'share', places)}"
        for f, s in shares
        if s < COMPLETE
    ]
    if len(lagging) > 4:
        only = f"{least.label} finished only {least_share} of the flows"
        return f"Not by the end of the run: {only}, and {len(lagging) - 1} others are short of all."
    return f"Not by the end of the run: {quantities.listed(lagging)} of the flows."
