"""Who finishes short flows soonest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lightloom.unfinished import ranked

from .. import units
from ..model import Fabric
from ..ranking import LEVEL, Ranking, Score, names, percentile_interval, rank, slower
from .answer import Verdict, evidence

FEW_FLOWS = 1000  # fewer leave less than ten flows beyond a 99th percentile


def short_flows(fabrics: Sequence[Fabric]) -> Verdict:
    """Who finishes short flows soonest."""
    question = (
        "Which fabric finishes short flows soonest?"
        if len(fabrics) > 1
        else "How soon do short flows finish?"
    )
    shown = evidence(fabrics, short_p99, "time", short_detail)
    if all(f.short_fct.size == 0 for f in fabrics):
        return Verdict(question, "The workload has no flow under 100 KB, so this run cannot say.")
    scored = [s for f in fabrics if (s := short_score(f)) is not None]
    if not scored:
        return Verdict(question, "No short flow finished, so this run cannot say.", shown)
    fair = ranked([s.fabric.short_finished or 0.0 for s in scored])
    kept = [s for s, kept in zip(scored, fair, strict=True) if kept]
    ranking = rank(kept, "lower")
    answer = " ".join(
        p for p in (short_lead(ranking), slower(ranking), left_out(fabrics, kept)) if p
    )
    return Verdict(question, answer, shown, tuple(short_notes(fabrics, ranking)))


def short_p99(fabric: Fabric) -> float | None:
    """99th percentile of short flows' completion times [s]."""
    return fabric.us("fct.short.p99_us")


def short_score(fabric: Fabric) -> Score | None:
    """That percentile, with its interval."""
    value = short_p99(fabric)
    if value is None:
        return None
    return Score(fabric, value, *(percentile_interval(fabric.short_fct, 0.99) or (value, value)))


def short_detail(fabric: Fabric) -> str:
    """What stands behind a fabric's bar."""
    median = fabric.us("fct.short.p50_us")
    return "" if median is None else f"median {units.show(median, 'time')}"


def short_lead(ranking: Ranking) -> str:
    """The sentence on who is ahead."""
    first = ranking.leaders[0]
    if len(ranking.leaders) == 1:
        value = units.show(first.value, "time")
        return f"{first.fabric.label}: 99 % of its short flows finish within {value}."
    values = sorted(s.value for s in ranking.leaders)
    low, high = units.show(values[0], "time"), units.show(values[-1], "time")
    within = low if low == high else f"{low} to {high}"
    return f"{names(ranking.leaders)} are level: 99 % of their short flows finish within {within}."


def left_out(fabrics: Sequence[Fabric], kept: Sequence[Score]) -> str:
    """Says which fabrics were not ranked, and why."""
    dropped = [f for f in fabrics if f.short_fct.size and all(s.fabric is not f for s in kept)]
    if not dropped:
        return ""
    each = [f"{f.label} ({share_finished(f)})" for f in dropped]
    return f"Not ranked, for the short flows left unfinished: {units.listed(each)}."


def share_finished(fabric: Fabric) -> str:
    """How many of its short flows finished, where these are few."""
    done = fabric.short_finished
    return f"only {units.show(done, 'share')}" if done else "none finished"


def short_notes(fabrics: Sequence[Fabric], ranking: Ranking) -> list[str]:
    """What weakens the verdict."""
    notes = []
    counts = [int(np.isfinite(f.short_fct).sum()) for f in fabrics]
    fewest = min((n for n in counts if n), default=0)
    if 0 < fewest < FEW_FLOWS:
        notes.append(
            f"A 99th percentile of {units.counted(fewest, 'short flow')} rests on its few slowest."
        )
    if len(ranking.leaders) > 1:
        notes.append(
            f"Level: less than {LEVEL * 100:.0f} % apart, or with overlapping 95 % intervals "
            "(one seed)."
        )
    elif ranking.rest:
        first = ranking.leaders[0]
        low, high = units.show(first.low, "time"), units.show(first.high, "time")
        if low != high:
            notes.append(f"95 % interval of the best: {low} to {high}, from one seed.")
    unfinished = [f for f in fabrics if (f.short_finished or 1.0) < 0.99]
    if unfinished:
        parts = [f"{f.label} finished {units.show(f.short_finished, 'share')}" for f in unfinished]
        notes.append(
            f"{units.listed(parts)} of the short flows; the times are of finished flows, which "
            "flatters."
        )
    return notes
