"""Runs that `run.limit` ended before their flows did: `cut` of summary.json, as a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lightloom.counts import counted

KEYS = ("flows", "flows_never_offered", "flows_unfinished")


def cut(summaries: Iterable[Mapping[str, Any]]) -> dict[str, int] | None:
    """The flows that a limit left out, of all summaries together; None if it ended none.

    >>> one = {"flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}
    >>> cut([{"cut": one}, {}])["flows_unfinished"]
    10
    """
    found = [made for summary in summaries if (made := summary.get("cut"))]
    return {key: sum(int(c[key]) for c in found) for key in KEYS} if found else None


def note(summaries: Iterable[Mapping[str, Any]]) -> str | None:
    """How many flows were never offered or not finished, and what removes that.

    >>> note([{"cut": {"flows": 1000, "flows_never_offered": 985, "flows_unfinished": 10}}])
    'run.limit ended the run: of 1,000 flows 985 were never offered and 10 unfinished; raise it'
    """
    found = cut(summaries)
    if found is None:
        return None
    return (
        f"run.limit ended the run: of {counted(found['flows'], 'flow')} "
        f"{found['flows_never_offered']:,} were never offered and "
        f"{found['flows_unfinished']:,} unfinished; raise it"
    )
