"""Runs that `run.limit` ended before their flows did: `cut` of summary.json, as a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lightloom.units import formats
from lightloom.units.counts import counted

#: What to look at where nothing moves any more.
STILL_REMEDY = "see which parts have failed and which circuits the policy sets"

KEYS = ("flows", "flows_never_offered", "flows_unfinished")


def cut(summaries: Iterable[Mapping[str, Any]]) -> dict[str, int] | None:
    """The flows that a limit left out, of all summaries together; None if it ended none.

    >>> one = {"flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}
    >>> cut([{"cut": one}, {}])["flows_unfinished"]
    10
    """
    found = [made for summary in summaries if (made := summary.get("cut"))]
    return {key: sum(int(c[key]) for c in found) for key in KEYS} if found else None


def still_since(summaries: Iterable[Mapping[str, Any]]) -> float | None:
    """The earliest time since when nothing moved any more, where that ended one of them [s].

    >>> still_since([{"cut": {"still_since_s": 0.5}}, {"cut": {"limit_s": 10.0}}, {}])
    0.5
    """
    cuts = (summary.get("cut") or {} for summary in summaries)
    return min((s for c in cuts if (s := c.get("still_since_s")) is not None), default=None)


def note(summaries: Iterable[Mapping[str, Any]]) -> str | None:
    """How many flows were never offered or not finished, and what removes that.

    >>> note([{"cut": {"flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}}])
    'run.limit ended the run: of 1,000 flows 985 were never offered and 10 unfinished; raise it'
    >>> note([{"cut": {"flows": 1, "flows_never_offered": 0, "flows_unfinished": 1}}])
    'run.limit ended the run: of 1 flow 1 was unfinished; raise it'
    """
    every = list(summaries)
    found = cut(every)
    if found is None:
        return None
    offered, unfinished = found["flows_never_offered"], found["flows_unfinished"]
    parts = (
        f"{offered:,} {_were(offered)} never offered" if offered else "",
        f"{unfinished:,} {'' if offered else f'{_were(unfinished)} '}unfinished"
        if unfinished
        else "",
    )
    seeds = sum(1 for s in every if s.get("cut"))
    of = counted(found["flows"], "flow") + (f" over {seeds} seeds" if seeds > 1 else "")
    left = f"of {of} {' and '.join(p for p in parts if p) or 'none was left'}"
    since = still_since(every)
    if since is None:
        return f"run.limit ended the run: {left}; raise it"
    return f"nothing was delivered after {formats.seconds(since)}: {left}; {STILL_REMEDY}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
