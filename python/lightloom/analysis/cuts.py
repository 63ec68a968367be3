"""Runs that `run.limit` ended before their flows finished: `cut` of summary.json, as notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lightloom.analysis.note import Note

if TYPE_CHECKING:
    from lightloom.results.result import Comparison

#: Largest number of runs that are named as ended early; further ones are only counted.
SHOWN = 3
#: The kind of the points of a comparison over loads, and the file that lists all of them.
LOADS = ("compare.loads", "loads.json has all")
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


def note(summaries: Iterable[Mapping[str, Any]]) -> Note | None:
    """The note on flows that were never offered or not finished, with its remedy.

    >>> cut = {"flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}
    >>> note([{"cut": cut}]).kind, note([{"cut": {**cut, "still_since_s": 0.5}}]).kind
    ('cut by limit', 'stood still')
    """
    every = list(summaries)
    left, since_s = left_out(every), still_since(every)
    if left is None:
        return None
    if since_s is None:
        return Note("cut by limit", left=left)
    return Note("stood still", since_s=since_s, left=left)


def left_out(summaries: Iterable[Mapping[str, Any]]) -> Note | None:
    """The number of flows that the runs of all seeds excluded; None if no run ended before its
    flows did.

    >>> cut = {"flows": 9, "flows_never_offered": 5, "flows_unfinished": 1}
    >>> print(left_out([{"cut": cut}, {}]))
    of 9 flows 5 were never offered and 1 unfinished
    """
    every = list(summaries)
    found = cut(every)
    if found is None:
        return None
    never, unfinished = found["flows_never_offered"], found["flows_unfinished"]
    flows, seeds = found["flows"], sum(1 for s in every if s.get("cut"))
    if never and unfinished:
        return Note(
            "flows cut", flows=flows, seeds=seeds, never_offered=never, unfinished=unfinished
        )
    if never:
        return Note("flows never offered", flows=flows, seeds=seeds, never_offered=never)
    if unfinished:
        return Note("flows left unfinished", flows=flows, seeds=seeds, unfinished=unfinished)
    return Note("no flows cut", flows=flows, seeds=seeds)


def of_places(places: Mapping[str, Sequence[Mapping[str, Any]]], of: str, rest: str) -> list[Note]:
    """Names the points at which runs ended before their flows finished, in one note for each
    cause; above `SHOWN` points the others are only counted.

    Args:
        places: name of a point, such as `load = 0.5, clos`, → its summaries, one for each seed.
        of: the key with all points; empty if they are all runs of a sweep.
        rest: the file that lists all of them.
    """
    left = {place: found for place, seeds in places.items() if (found := left_out(seeds))}
    still = {place for place in left if still_since(places[place]) is not None}
    limited = {place: found for place, found in left.items() if place not in still}
    stood = {place: found for place, found in left.items() if place in still}
    causes = (("points cut", limited), ("points stood still", stood))
    return [
        Note(kind, cut=len(found), points=len(places), of=of, each=_named(found, rest))
        for kind, found in causes
        if found
    ]


def of_loads(comparison: Comparison) -> list[Note]:
    """Names the runs at loads of `compare.loads` that ended before their flows finished."""
    asked = comparison.experiment.get("compare", {}).get("loads", [])
    each = comparison.seeds or [comparison]
    places = {
        f"{label} at load {load:g}": [one.loads[label][place] for one in each]
        for label, summaries in comparison.loads.items()
        for place, load in enumerate(asked[: len(summaries)])
    }
    return of_places(places, *LOADS)


def _named(left: Mapping[str, Note], rest: str) -> tuple[Note, ...]:
    """The first points with the flows that they left out, and the number of the others."""
    more = len(left) - SHOWN
    named = [Note("point cut", point=point, left=found) for point, found in left.items()]
    others = [Note("more points", more=more, rest=rest)] if more > 0 else []
    return (*named[:SHOWN], *others)
