"""Memory in the network, utilisation of links, and undelivered traffic."""

from __future__ import annotations

from collections.abc import Sequence

from lightloom.units import quantities

from ..factors import between
from ..fair import unfair
from ..findings.headline import cuts
from ..findings.sentences import Told
from ..model import Fabric
from ..ranking import Figure, Ranking, Score, labels, rank
from ..statement import Statement
from .answer import COMPLETE, Range, Share, Verdict, evidence
from .criteria import QUEUE

SAID = 4
"""Number of fabrics up to which the buffer, or the unfinished share, of each is named."""


def memory(fabrics: Sequence[Fabric]) -> Verdict | None:
    """Queues at the worst node, and reorder buffers of the worst flow; None if no fabric reports
    its queues."""
    question = "How much memory does it need in the network?"

    def detail(fabric: Fabric) -> str:
        value = fabric.get("reorder_peak_bytes")
        return "" if value is None else f"reorder {quantities.show(value, 'bytes')}"

    shown = evidence(fabrics, lambda f: f.get("queue_peak_bytes"), "bytes", detail)
    if not scores(fabrics, "queue_peak_bytes"):
        return None
    said = (*queue_answer(fabrics), *reorder_answer(fabrics))
    return Verdict(question, said, shown, memory_remarks(fabrics))


def memory_remarks(fabrics: Sequence[Fabric]) -> tuple[Statement, ...]:
    """The fabrics without a figure, and those whose figure is not comparable."""
    silent = tuple(f.label for f in fabrics if f.get("queue_peak_bytes") is None)
    memories = tuple(
        Statement("memories of a switch", label=f.label, memories=int(n))
        for f in fabrics
        if (n := f.get("parts.memories"))
    )
    return (
        *([Statement("no queue figure", labels=silent)] if silent else ()),
        *unfair(fabrics),
        *(
            Statement("queue kept short", label=f.label, setting=f.held_back)
            for f in fabrics
            if f.keeps_queue_short
        ),
        *([Statement("nodes are memories", each=memories)] if memories else ()),
    )


#: The name of a place in results → the buffer to which the peak of a queue refers.
PLACES = {
    "port": "one port of a switch",
    "router": "all buffers of a router",
    "loop-back": "one loop-back memory",
    "relay": "data that waits in a rack for its second hop or for a server",
    "rack-low-latency": "a rack's low-latency data, its own included",
}


def queue_answer(fabrics: Sequence[Fabric]) -> tuple[Statement, ...]:
    """The fabric with the shortest queues; or the place of each figure, if the places differ."""
    having = [s.fabric for s in scores(fabrics, "queue_peak_bytes")]
    if not QUEUE.are_alike(having):
        return (Statement("different queues", places=by_place(having)),)
    ranking = QUEUE.ranking(tuple(fabrics))
    lead = shortest_queue(ranking) if ranking.scores else ()
    return (*lead, *ranking.explain_unplaced("bytes"))


def by_place(fabrics: Sequence[Fabric]) -> tuple[Statement, ...]:
    """The places of the fabrics' queue peaks, grouped by place."""
    places = dict.fromkeys(f.summary["queue_place"] for f in fabrics)
    each = {p: tuple(f.label for f in fabrics if f.summary["queue_place"] == p) for p in places}
    return tuple(Statement("queue place", labels=each[p], place=PLACES[p]) for p in places)


def scores(fabrics: Sequence[Fabric], path: str) -> list[Score]:
    """A figure of the summary, for the fabrics that have it."""
    return [Score.exact(f, v) for f in fabrics if (v := f.get(path)) is not None]


def shortest_queue(ranking: Ranking) -> tuple[Statement, ...]:
    """The lowest and the highest peak at the worst node, of the fabrics that are ranked."""
    least, most = ranking.scores[0], ranking.scores[-1]
    low, high = Figure(least, "bytes"), Figure(most, "bytes")
    if len(ranking.scores) == 1:
        return (Statement("one queue", label=least.fabric.label, peak=low),)
    leaders = labels(ranking.leaders)
    if not ranking.rest:
        peak = Range(least.value, most.value, "bytes")
        return (Statement("level queues", leaders=leaders, peak=peak),)
    needs = Statement("shortest queue", leaders=leaders, peak=low)
    last, found = most.fabric.label, between(most, least)
    if found is None:
        return (needs, Statement("longest queue", label=last, peak=high))
    return (needs, Statement("longest queue, by factor", label=last, peak=high, factor=found))


def reorder_answer(fabrics: Sequence[Fabric]) -> tuple[Statement, ...]:
    """The fabrics that have to reorder data."""
    reordering = [s for s in scores(fabrics, "reorder_peak_bytes") if s.value > 0]
    if not reordering:
        return ()
    if len(reordering) > SAID:
        most = max(reordering, key=lambda s: s.value)
        return (Statement("largest reorder buffer", label=most.fabric.label, bytes=most.value),)
    each = tuple(
        Statement("reorder buffer", label=s.fabric.label, bytes=s.value) for s in reordering
    )
    return (Statement("reorder buffers", each=each),)


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
    busy, leaders = ranking.best, labels(ranking.leaders)
    if len(scored) == 1:
        return Verdict(question, (Statement("links of one", label=leaders[0], share=busy),), shown)
    if not ranking.rest:
        return Verdict(question, (Statement("links alike", leaders=leaders, share=busy),), shown)
    idle = ranking.scores[-1]
    answer = (
        Statement("busiest links", leaders=leaders, share=busy),
        Statement("idlest links", label=idle.fabric.label, share=idle.value),
    )
    hops = [h for f in fabrics if (h := f.get("hops_mean")) is not None]
    remarks = [Statement("shares of own links")]
    if hops and max(hops) > 1.2 * min(hops):
        remarks.append(Statement("hops occupy links"))
    return Verdict(question, answer, shown, tuple(remarks))


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
    losing = [s for s in scores(fabrics, "drops") if s.value > 0]
    said = (
        unfinished_answer(shares, arrived, places),
        *bytes_answer(arrived, places),
        *losses_answer(fabrics, losing),
    )
    whole = not losing and all(s == 1 for _, s in (*shares, *arrived))
    left = never_offered(fabrics)
    return Verdict("Does everything arrive?", said, () if whole else shown, left)


def losses_answer(fabrics: Sequence[Fabric], losing: Sequence[Score]) -> tuple[Statement, ...]:
    """The cells or packets that each fabric lost; empty if no fabric counts them."""
    if losing:
        each = tuple(Statement("lost", label=s.fabric.label, count=s.value) for s in losing)
        return (Statement("losses", each=each),)
    return (Statement("nothing lost"),) if scores(fabrics, "drops") else ()


def never_offered(fabrics: Sequence[Fabric]) -> tuple[Statement, ...]:
    """A note that shares of bytes refer to offered flows only, if some flows were never offered."""
    each = [
        Statement("flows left out", label=c.label, cut=Told(c))
        for c in cuts(fabrics)
        if c.never_offered
    ]
    each += [
        Statement("flows that wait", label=f.label, never_offered=f.never_offered)
        for f in fabrics
        if f.never_offered and not f.cut
    ]
    return (Statement("shares of offered flows", each=tuple(each)),) if each else ()


Shares = Sequence[tuple[Fabric, float]]


def bytes_answer(arrived: Shares, places: int) -> tuple[Statement, ...]:
    """The share of the bytes that was delivered, unless it was all."""
    if not arrived or min(s for _, s in arrived) == 1:
        return ()
    ordered = sorted(arrived, key=lambda pair: pair[1])
    (least, low), (most, high) = ((f.label, Share(s, places)) for f, s in (ordered[0], ordered[-1]))
    if f"{low}" == f"{high}":
        return (Statement("bytes arrived", share=low),)
    return (Statement("bytes arrived, range", least=least, low=low, most=most, high=high),)


def unfinished_answer(shares: Shares, arrived: Shares, places: int) -> Statement:
    """Number of flows that were unfinished at the end."""
    least, lowest = min(shares, key=lambda pair: pair[1])
    if lowest == 1:
        return Statement("every flow finished")
    share = Share(lowest, places)
    if lowest >= COMPLETE:
        whole = all(s >= COMPLETE for _, s in arrived)
        if len(shares) > 1:
            kind = "nearly all" if whole else "not all bytes"
            return Statement(kind, share=share)
        of_one = "nearly all, one fabric" if whole else "not all bytes, one fabric"
        return Statement(of_one, label=least.label, share=share)
    lagging = tuple(
        Statement("finished share", label=f.label, share=Share(s, places))
        for f, s in shares
        if s < COMPLETE
    )
    if len(lagging) > SAID:
        others = len(lagging) - 1
        return Statement("most unfinished", label=least.label, share=share, others=others)
    return Statement("unfinished flows", each=lagging)
