"""Runs that `run.limit` ended before their flows finished: `cut` of summary.json, as a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightloom.units import formats
from lightloom.units.counts import counted

if TYPE_CHECKING:
    from lightloom.results.result import Comparison

#: Remedy if no flow can make progress any more.
STILL_REMEDY = (
    "check whether parts have failed and, if circuits change, which circuits the policy sets and "
    "whether they stay lit longer than a change takes"
)

#: Largest number of runs that are named as ended early; further ones are only counted.
SHOWN = 3
#: The kind of the points of a comparison over loads, and the file that lists all of them.
LOADS = (" of compare.loads", "loads.json has all")
KEYS = ("flows", "flows_never_offered", "flows_unfinished")


def cut(summaries: Iterable[Mapping[str, Any]]) -> dict[str, int] | None:
    """The flows that a limit excluded, over all summaries; None if it ended no run.

    >>> one = {"flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}
    >>> cut([{"cut": one}, {}])["flows_unfinished"]
    10
    """
    found = [made for summary in summaries if (made := summary.get("cut"))]
    return {key: sum(int(c[key]) for c in found) for key in KEYS} if found else None


def still_since(summaries: Iterable[Mapping[str, Any]]) -> float | None:
    """The earliest time after which no flow made progress [s], if that ended one of the runs; else
    None.

    >>> still_since([{"cut": {"still_since_s": 0.5}}, {"cut": {"limit_s": 10.0}}, {}])
    0.5
    """
    cuts = (summary.get("cut") or {} for summary in summaries)
    return min((s for c in cuts if (s := c.get("still_since_s")) is not None), default=None)


def note(summaries: Iterable[Mapping[str, Any]]) -> str | None:
    """The note on flows that were never offered or not finished, with its remedy.

    >>> note([{"cut": {"flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}}])
    'run.limit ended the run: of 1,000 flows 985 were never offered and 10 unfinished; raise it'
    >>> note([{"cut": {"flows": 1, "flows_never_offered": 0, "flows_unfinished": 1}}])
    'run.limit ended the run: of 1 flow 1 was unfinished; raise it'
    """
    every = list(summaries)
    left = left_out(every)
    if not left:
        return None
    since = still_since(every)
    if since is None:
        return f"run.limit ended the run: {left}; raise it"
    return f"nothing was delivered after {formats.seconds(since)}: {left}; {STILL_REMEDY}"


def left_out(summaries: Iterable[Mapping[str, Any]]) -> str:
    """The number of flows that the runs of all seeds excluded; empty if no run ended before its
    flows did.

    >>> left_out([{"cut": {"flows": 9, "flows_never_offered": 5, "flows_unfinished": 1}}, {}])
    'of 9 flows 5 were never offered and 1 unfinished'
    """
    every = list(summaries)
    found = cut(every)
    if found is None:
        return ""
    offered, unfinished = found["flows_never_offered"], found["flows_unfinished"]
    parts = (
        f"{offered:,} {_were(offered)} never offered" if offered else "",
        f"{unfinished:,} {'' if offered else f'{_were(unfinished)} '}unfinished"
        if unfinished
        else "",
    )
    seeds = sum(1 for s in every if s.get("cut"))
    of = counted(found["flows"], "flow") + (f" over {seeds} seeds" if seeds > 1 else "")
    return f"of {of} {' and '.join(p for p in parts if p) or 'none was left'}"


def of_places(places: Mapping[str, Sequence[Mapping[str, Any]]], of: str, rest: str) -> list[str]:
    """Names the points at which runs ended before their flows finished, in one sentence for each
    cause; above `SHOWN` points the others are only counted.

    Args:
        places: name of a point, such as `load = 0.5, clos`, → its summaries, one for each seed.
        of: the kind of the points.
        rest: the file that lists all of them.
    """
    left = {place: said for place, seeds in places.items() if (said := left_out(seeds))}
    still = {place for place in left if still_since(places[place]) is not None}
    causes = (
        ("run.limit ended runs", "raise it", [p for p in left if p not in still]),
        ("nothing was delivered any more", STILL_REMEDY, [p for p in left if p in still]),
    )
    return [
        f"at {len(found):,} of {counted(len(places), 'point')}{of} {cause}: "
        f"{_shown([f'{p} ({left[p]})' for p in found], rest)}; {remedy}"
        for cause, remedy, found in causes
        if found
    ]


def of_loads(comparison: Comparison) -> list[str]:
    """Names the runs at loads of `compare.loads` that ended before their flows finished."""
    asked = comparison.experiment.get("compare", {}).get("loads", [])
    each = comparison.seeds or [comparison]
    places = {
        f"{label} at load {load:g}": [one.loads[label][place] for one in each]
        for label, summaries in comparison.loads.items()
        for place, load in enumerate(asked[: len(summaries)])
    }
    return of_places(places, *LOADS)


def _shown(items: Sequence[str], rest: str) -> str:
    """The first items, and the number of the others."""
    more = len(items) - SHOWN
    if more <= 0:
        return "; ".join(items)
    return "; ".join([*items[:SHOWN], f"{more:,} more ({rest})"])


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
