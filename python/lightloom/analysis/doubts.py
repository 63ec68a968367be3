"""Reasons not to compare the figures of fabrics: runs that ended early, unfinished flows, flows at
rates beside packets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lightloom.analysis import cuts
from lightloom.analysis.unfinished import ranked
from lightloom.results.summaries import Summary
from lightloom.units import formats

Seeds = Mapping[str, Sequence[Summary]] | None
LEGEND_BOUNDS = ">: lower bound; some of its flows were unfinished when the run ended."


def doubts(summaries: Mapping[str, Summary], seeds: Seeds = None) -> Iterator[str]:
    """Returns the reasons not to compare the figures of all fabrics, from their summaries (the
    means over several `seeds`) and the summaries of each seed."""
    yield from _cut(summaries, seeds)
    yield from fluid(summaries)
    yield from _lagging(summaries)


def left_unfinished(summaries: Mapping[str, Summary], seeds: Seeds = None) -> Iterator[str]:
    """The runs that ended early, and the fabrics that left flows unfinished which others
    finished."""
    yield from _cut(summaries, seeds)
    yield from _lagging(summaries)


def _cut(summaries: Mapping[str, Summary], seeds: Seeds) -> Iterator[str]:
    for label in summaries:
        if (left := cuts.note(seeds[label] if seeds else [summaries[label]])) is not None:
            yield f"{label}: {left}"


def _lagging(summaries: Mapping[str, Summary]) -> Iterator[str]:
    lagging = unranked(summaries)
    if lagging:
        each = ", ".join(f"{x} {formats.percent(finished(summaries[x]))}" for x in lagging)
        yield (
            f"some flows are unfinished that other fabrics, or a longer run, finish: {each}; "
            "queues and means are those of few flows and are not ranked"
        )


def fluid(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """Names the fabrics whose flows move at rates, if others model individual packets or cells."""
    hops = ("packet_hops", "cell_hops")
    by_rates = [x for x, s in summaries.items() if all(s.get(key) is None for key in hops)]
    if not by_rates or len(by_rates) == len(summaries):
        return
    yield (
        f"{', '.join(by_rates)}: flows move at rates, without packets that queue; the times of "
        "short flows and the queues are not comparable with those of fabrics of packets or cells"
    )


def finished(summary: Summary) -> float | None:
    """Share of the flows that finished."""
    offered, done = summary.get("flows_offered"), summary.get("flows_completed")
    # Flows that were not offered because of a limit count as unfinished.
    flows = (summary.get("cut") or {}).get("flows", offered)
    return done / flows if flows and done is not None else None


def unranked(summaries: Mapping[str, Summary]) -> list[str]:
    """Labels of the fabrics that left flows unfinished which others finished."""
    fair = ranked([finished(summary) for summary in summaries.values()])
    return [
        label
        for (label, summary), kept in zip(summaries.items(), fair, strict=True)
        if not kept or summary.get("cut")
    ]
